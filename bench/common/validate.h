// A batch beside CPU MuJoCo: open loop, and step by step from MuJoCo's own state.
#pragma once

#include <string>
#include <vector>

#include "batchsim/batch.h"
#include "common/field_table.h"
#include "common/host_rows.h"
#include "common/reference.h"

namespace batchsim::tools {

struct ValidateOptions {
  Situation situation = Situation::none;
  Controls controls = Controls::scene;
  double seconds = 0;  // 0: the situation's own window
  int nworld = 0;      // 0: as many as the promise needs
  Precision precision = Precision::f32;
  std::string device = "cpu";
  int nconmax = 0, njmax = 0, nthread = 0;
  uint64_t seed = 7;
  bool progress = false;
};

/// The two sides of a comparison, at the start of a scene. f64: both iterate to the last digit; f32: batchsim as the model says.
struct Sides {
  ModelPtr reference_model;
  Model model;
  Scene scene;
  Batch batch;
  HostRows rows;
  Reference reference;
  PoseMap pose;

  /// reference: another model for MuJoCo's side; null: the same
  Sides(const mjModel* m, const ValidateOptions& o, int default_nworld, const mjModel* reference = nullptr);
  Sides(const Sides&) = delete;

  /// a batch of one world, like batch otherwise
  Batch single() const;
};

/// One world of a state row into a batch of one.
void set_single_world(HostRows& rows, const mjModel* m, const StateLayout& at, const double* row);

/// The window that a situation is validated in, s.
double default_seconds(const mjModel* m, Situation s);

// ---- open loop

struct Crossing {
  double bound = 0;           // rad
  std::vector<double> first;  // (nworld) s, when the joint error passes it; infinite: never
};

struct OpenLoop {
  int nworld = 0, nstep = 0;
  double timestep = 0;
  bool hinges = true;               // joint errors are hinge angles; false: the root's pose
  std::vector<Crossing> crossings;  // the promise first, then 1e-6, 1e-3, 1e-1
  std::vector<double> joint_end;    // (nworld)
  double joint_worst = 0;           // of all worlds and steps
  std::vector<double> floor_end;    // f32: MuJoCo with its state rounded to float after each step
  std::vector<double> fell;         // (nworld) s, when MuJoCo's body no longer stands; empty: it never stood
  std::vector<int> left;            // f64: worlds that passed the promise
  std::vector<double> twin_left;    // f64: when MuJoCo started 1e-15 away passes it, for each of them
  struct Sample {
    double time, joint_median, joint, pos, rot, qvel;
  };
  std::vector<Sample> samples;  // errors over time: median and worst world
  FieldTable fields;            // f64: from MuJoCo's exact states; f32: along the run
  bool exact_states = false;
  Report report;

  bool touched = false;   // some world had a contact
  bool promised = false;  // there is a promise for this model and situation
  double promise = 0;     // rad
  double reached = 0;     // rad: what is compared with it
  bool joints_good = true;
  bool good = true;
  explicit OpenLoop(const Model& model) : fields(model) {}
};

OpenLoop validate_open_loop(Sides& s, const ValidateOptions& o);

// ---- each step from MuJoCo's exact state

struct Excess {
  int world = 0, step = 0;
  double error = 0, floor = 0;         // rad
  std::string differs, floor_differs;  // what a contact or the active set has otherwise than MuJoCo; empty: nothing
};

struct Resync {
  int nworld = 0, nstep = 0;
  double timestep = 0;
  bool hinges = true;
  std::vector<double> joint, floor;   // (nstep, nworld) rad; floor: MuJoCo from the float-rounded state, f32 only
  double pos = 0, rot = 0, qvel = 0;  // worst, m, rad, rad/s
  double bound = 0;                   // rad a step
  double share = 0, floor_share = 0, promised_share = 0;
  std::vector<Excess> excess;
  int explained = 0, bugs = 0, floor_too = 0;
  Report report;
  bool good = true;
};

Resync validate_resync(Sides& s, const ValidateOptions& o);

/// In what the contacts and active constraints of two results of one state differ; empty: in nothing.
std::string contact_difference(const mjModel* m, const mjData* a, const mjData* b);

}  // namespace batchsim::tools

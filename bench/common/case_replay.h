// A recorded case replayed: what MuJoCo did with a model, with the noise that a float engine cannot be asked to beat.
//
// DIR/cases.json has the runs: model edits, keyframe, qpos, qvel, controls, pushes. DIR/expected/ID.json has the states at some steps; the
// noise beside them is how far qpos strays when (f32) MuJoCo's state is rounded to float after every step, and when (eps) it starts 1e-7 away.
#pragma once

#include <string>
#include <vector>

#include "common/validate.h"

namespace batchsim::tools {

struct CaseRecord {
  int step = 0;
  double error = 0, allowed = 0, noise = 0;  // of qpos
  bool has_contacts = false;
  int missing = 0;   // contacts of either side without a partner
  double apart = 0;  // m, of matched contacts
  int ncon = 0, nefc = 0, ncon_recorded = 0, nefc_recorded = 0;
  bool judged = false, good = true;
};

struct CaseReplay {
  std::string device;
  std::vector<CaseRecord> records;
  int judged = 0;
  double worst = 0;  // of what is allowed
  Report report;
  bool good = false;
};

/// path: DIR/ID. Error: as Model, and kInput if there is no such case.
CaseReplay replay_case(const std::string& path, const ValidateOptions& o);

}  // namespace batchsim::tools

// Situations to validate and to time in: initial states and controls, made by MuJoCo in double from fixed seeds.
//
//   free   no gravity, tumbling: random rotation and hinges (+-0.3 rad, at most half the range), root turning at about 1 rad/s, jittered
//          targets. Equal to free fall in the falling frame, but coordinates stay small, as float wants them
//   stand  servos hold the reference pose: settled 0.25 s, root kicked by up to 0.05 m/s and 0.05 rad/s, targets jittered. Without
//          balance the bodies topple after some 4 s, torque-driven ones within 1 s
//   push   stand, with 120 N in a random horizontal direction on thorax, torso or the heaviest body for 0.2 s at 1 s and every 2.5 s after
//   heap   limp by zero gains (not by a disable flag, which would change the integrator's matrix too), dropped from 1.2 m in a random
//          pose and collapsed for 3 s
//   none   keyframe 0, or qpos0
//
// Jitter: each control adds N(0, 0.04 rad) (stand, push: 0.01) to 0.8 times the one before. A control is held for four steps. Motors get
// the torques of PD servos, computed along MuJoCo's own run and recorded as controls.
//
// A world has random numbers of its own: it is the same whatever the number of worlds and threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/mj_ptr.h"

namespace batchsim::tools {

enum class Situation { none, free, stand, push, heap };
enum class Controls { scene, sine, noise, zero };

Situation situation_named(const std::string& name);  // Error kInput if there is none
const char* name_of(Situation s);

struct SceneOptions {
  int nworld = 1;
  double seconds = 1;  // that controls are made for
  uint64_t seed = 0;
  bool settle = true;                   // heap: false starts at the drop
  Controls controls = Controls::scene;  // scene: sine where there is no situation
  double ctrl_scale = 1;                // sine: amplitude, in half control ranges
  int nthread = 0;                      // 0: one a logical processor; does not change the result
};

struct Scene {
  Situation situation = Situation::none;
  int nworld = 0, nstep = 0, nq = 0, nv = 0, na = 0, nu = 0;
  bool motors = false;                                  // PD torques
  double stand_height = 0;                              // of the root, m; 0: the scene does not stand
  std::vector<double> qpos, qvel, act, warmstart;       // (nworld, n)
  int hold = 1;                                         // steps that a control is held
  bool same_ctrl = false;                               // one row serves all worlds
  std::vector<double> ctrl;                             // (controls, nworld or 1, nu)
  int push_body = 0;                                    // 0: no pushes
  int push_first = 0, push_every = 1, push_length = 0;  // steps
  std::vector<double> push;                             // (pushes, nworld, 3), N in world axes

  const double* ctrl_at(int step, int world) const {
    return ctrl.data() + (size_t(step / hold) * (same_ctrl ? 1 : nworld) + (same_ctrl ? 0 : world)) * nu;
  }
  // the force on push_body in this step; null: none
  const double* push_at(int step, int world) const;
  // does this pose still stand?
  bool stands(const double* qpos) const;
};

/// A copy of the model as the situation wants it: free without gravity, heap without gains.
ModelPtr situation_model(const mjModel* m, Situation s);

/// m: as situation_model makes it. Error kInput if the situation wants a floating body and m is something else.
Scene make_scene(const mjModel* m, Situation s, const SceneOptions& o);

/// Its worlds again and again, up to nworld of them: distinct ones beyond some hundred would take long to settle.
Scene repeated(const Scene& s, int nworld);
/// The worlds of these numbers.
Scene selected(const Scene& s, const std::vector<int>& worlds);

/// The body that is pushed: thorax, torso, or the heaviest.
int push_body(const mjModel* m);

}  // namespace batchsim::tools

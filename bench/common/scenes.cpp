#include "common/scenes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "batchsim/error.h"
#include "common/parallel.h"
#include "common/random.h"

namespace batchsim::tools {
namespace {

constexpr int kHold = 4;
constexpr int kSettleStand = 50, kSettleHeap = 600;  // steps
constexpr double kJitterFree = 0.04, kJitterStand = 0.01, kJitterKeep = 0.8;
constexpr double kPushForce = 120, kPushFirst = 1, kPushEvery = 2.5, kPushSeconds = 0.2;
constexpr const char* kNames[] = {"none", "free", "stand", "push", "heap"};

bool is_motor(const mjModel* m, int a) { return m->actuator_biastype[a] == mjBIAS_NONE; }

// one free joint, which comes first, and hinges
void check_floating(const mjModel* m, Situation s) {
  std::string why;
  if (!m->njnt || m->jnt_type[0] != mjJNT_FREE) why = "its first joint is not a free one";
  for (int j = 1; j < m->njnt && why.empty(); j++)
    if (m->jnt_type[j] != mjJNT_HINGE) why = "joint " + std::to_string(j) + " is not a hinge";
  if (!why.empty())
    throw Error(Error::kInput, std::string("situation '") + name_of(s) +
                                   "' is for one floating body with hinges, and in this model " + why +
                                   "; leave the situation out");
}

struct Range {
  double lo, hi;
};
Range hinge_range(const mjModel* m, int j) {
  if (!m->jnt_limited[j]) return {-std::numbers::pi, std::numbers::pi};
  return {m->jnt_range[2 * j], m->jnt_range[2 * j + 1]};
}

void random_rotation(Random& r, double* quat) {
  for (int i = 0; i < 4; i++) quat[i] = r.normal();
  mju_normalize4(quat);
}

// the control that holds the reference pose
void hold_pose(const mjModel* m, double* ctrl) {
  for (int a = 0; a < m->nu; a++) {
    const int j = m->actuator_trnid[2 * a];
    const bool servo = m->actuator_trntype[a] == mjTRN_JOINT && m->actuator_biastype[a] == mjBIAS_AFFINE &&
                       m->actuator_biasprm[mjNBIAS * a + 1] != 0;
    ctrl[a] = servo ? m->actuator_gear[6 * a] * m->qpos0[m->jnt_qposadr[j]] : 0;
  }
}

// PD servos of motors: torques as controls, towards the reference pose plus noise
void servo_torques(const mjModel* m, const mjData* d, const double* noise, double* ctrl) {
  for (int a = 0; a < m->nu; a++) {
    if (!is_motor(m, a)) continue;
    const int j = m->actuator_trnid[2 * a], q = m->jnt_qposadr[j];
    const double error = m->qpos0[q] + noise[a] - d->qpos[q];
    ctrl[a] = 2 * error - 0.05 * d->qvel[m->jnt_dofadr[j]];
    if (m->actuator_ctrllimited[a]) ctrl[a] = std::clamp(ctrl[a], m->actuator_ctrlrange[2 * a], m->actuator_ctrlrange[2 * a + 1]);
  }
}

void step_pushed(const mjModel* m, mjData* d, const Scene& s, int step, int world) {
  if (s.push_body) {
    const double* f = s.push_at(step, world);
    mju_zero(d->xfrc_applied + 6 * s.push_body, 6);
    if (f) mju_copy3(d->xfrc_applied + 6 * s.push_body, f);
  }
  mj_step(m, d);
}

// the state that standing worlds start from, before their kicks
std::vector<double> settled_pose(const mjModel* m, const Scene& s) {
  const DataPtr d = make_data(m);
  // the one torque-driven body whose feet do not start on the floor
  if (s.motors && m->names && std::string(m->names) == "Humanoid") d->qpos[2] = 1.2825;
  const std::vector<double> still(m->nu, 0.0);
  hold_pose(m, d->ctrl);
  for (int i = 0; i < kSettleStand; i++) {
    if (s.motors) servo_torques(m, d.get(), still.data(), d->ctrl);
    mj_step(m, d.get());
  }
  return {d->qpos, d->qpos + m->nq};
}

// the world's state at the start of its window, in d
void start_world(const mjModel* m, const Scene& s, const SceneOptions& o, const std::vector<double>& base, Random& random,
                 mjData* d) {
  mj_resetData(m, d);
  mju_copy(d->qpos, base.data(), m->nq);
  if (s.situation == Situation::stand || s.situation == Situation::push) {
    for (int i = 0; i < 6; i++) d->qvel[i] = i == 2 ? 0 : random.uniform(-0.05, 0.05);
    return;
  }
  const bool heap = s.situation == Situation::heap;
  d->qpos[2] = heap ? 1.2 : 3;
  for (int j = 1; j < m->njnt; j++) {
    const Range r = hinge_range(m, j);
    double& q = d->qpos[m->jnt_qposadr[j]];
    q = heap ? random.uniform(0.3 * r.lo, 0.3 * r.hi)
             : std::clamp(random.uniform(-0.3, 0.3), std::min(0.5 * r.lo, 0.5 * r.hi), std::max(0.5 * r.lo, 0.5 * r.hi));
  }
  random_rotation(random, d->qpos + 3);
  if (heap) {
    for (int i = 0; o.settle && i < kSettleHeap; i++) mj_step(m, d);
  } else {
    for (int i = 0; i < 6; i++) d->qvel[i] = random.normal() * (i < 3 ? 0.1 : 1);
  }
  d->time = 0;
}

// sine, noise or zero, whatever the situation
void fill_controls(const mjModel* m, Controls kind, double scale, uint64_t seed, Scene& s) {
  std::vector<double> middle(m->nu, 0.0), half(m->nu, scale);
  for (int a = 0; a < m->nu; a++)
    if (m->actuator_ctrllimited[a]) {
      const double* r = &m->actuator_ctrlrange[2 * a];
      middle[a] = (r[0] + r[1]) / 2;
      half[a] = (r[1] - r[0]) / 2 * scale;
    }
  s.same_ctrl = kind != Controls::noise;
  s.hold = kind == Controls::sine ? 1 : kind == Controls::noise ? kHold : std::max(1, s.nstep);
  const int ncontrol = std::max(1, (s.nstep + s.hold - 1) / s.hold), nrow = s.same_ctrl ? 1 : s.nworld;
  s.ctrl.assign(size_t(ncontrol) * nrow * m->nu, 0.0);
  if (kind == Controls::sine)
    for (int k = 0; k < ncontrol; k++)
      for (int a = 0; a < m->nu; a++)
        s.ctrl[size_t(k) * m->nu + a] =
            middle[a] + half[a] * std::sin(2 * std::numbers::pi * (0.7 + 0.3 * (a % 5)) * k * m->opt.timestep + 0.5 * a);
  if (kind == Controls::noise)
    for (int w = 0; w < s.nworld; w++) {
      Random random(seed ^ 0x6e6f697365, w);
      std::vector<double> x(m->nu, 0.0);
      for (int k = 0; k < ncontrol; k++)
        for (int a = 0; a < m->nu; a++) {
          x[a] = kJitterKeep * x[a] + 0.2 * random.normal();
          s.ctrl[(size_t(k) * nrow + w) * m->nu + a] = middle[a] + half[a] * std::clamp(x[a], -1.0, 1.0);
        }
    }
}

// keyframe 0 or qpos0 in every world
void start_plain(const mjModel* m, Scene& s) {
  const DataPtr d = make_data(m);
  if (m->nkey) mj_resetDataKeyframe(m, d.get(), 0);
  for (int w = 0; w < s.nworld; w++) {
    std::copy_n(d->qpos, m->nq, &s.qpos[size_t(w) * m->nq]);
    std::copy_n(d->qvel, m->nv, s.qvel.data() + size_t(w) * m->nv);
    std::copy_n(d->act, m->na, s.act.data() + size_t(w) * m->na);
  }
}

void plan_pushes(const mjModel* m, uint64_t seed, Scene& s) {
  const auto steps = [&](double t) { return std::max(1, int(std::lround(t / m->opt.timestep))); };
  s.push_body = push_body(m);
  s.push_first = steps(kPushFirst);
  s.push_every = steps(kPushEvery);
  s.push_length = steps(kPushSeconds);
  const int n = s.nstep > s.push_first ? (s.nstep - s.push_first - 1) / s.push_every + 1 : 0;
  s.push.resize(size_t(n) * s.nworld * 3);
  for (int w = 0; w < s.nworld; w++) {
    Random random(seed ^ 0x70757368, w);
    for (int p = 0; p < n; p++) {
      const double angle = random.uniform(0, 2 * std::numbers::pi);
      double* f = &s.push[(size_t(p) * s.nworld + w) * 3];
      f[0] = kPushForce * std::cos(angle), f[1] = kPushForce * std::sin(angle), f[2] = 0;
    }
  }
}

}  // namespace

Situation situation_named(const std::string& name) {
  for (int i = 0; i < 5; i++)
    if (name == kNames[i]) return static_cast<Situation>(i);
  throw Error(Error::kInput, "situation is '" + name + "'; allowed are free, stand, push, heap and none");
}
const char* name_of(Situation s) { return kNames[static_cast<int>(s)]; }

const double* Scene::push_at(int step, int world) const {
  if (!push_body || step < push_first) return nullptr;
  const int p = (step - push_first) / push_every;
  if ((step - push_first) % push_every >= push_length) return nullptr;
  return &push[(size_t(p) * nworld + world) * 3];
}

bool Scene::stands(const double* q) const { return q[2] > 0.9 * stand_height && 1 - 2 * (q[4] * q[4] + q[5] * q[5]) > 0.9; }

Scene selected(const Scene& from, const std::vector<int>& worlds) {
  Scene s = from;
  s.nworld = int(worlds.size());
  // blocks of (nworld, n)
  const auto pick = [&](std::vector<double>& v, const std::vector<double>& all, size_t n) {
    const size_t blocks = n ? all.size() / (n * from.nworld) : 0;
    v.clear();
    v.reserve(blocks * worlds.size() * n);
    for (size_t b = 0; b < blocks; b++)
      for (int w : worlds) {
        const double* p = all.data() + (b * from.nworld + w) * n;
        v.insert(v.end(), p, p + n);
      }
  };
  pick(s.qpos, from.qpos, s.nq), pick(s.qvel, from.qvel, s.nv), pick(s.act, from.act, s.na),
      pick(s.warmstart, from.warmstart, s.nv);
  if (!s.same_ctrl) pick(s.ctrl, from.ctrl, s.nu);
  pick(s.push, from.push, 3);
  return s;
}

Scene repeated(const Scene& s, int nworld) {
  std::vector<int> worlds(nworld);
  for (int w = 0; w < nworld; w++) worlds[w] = w % s.nworld;
  return selected(s, worlds);
}

int push_body(const mjModel* m) {
  for (const char* name : {"thorax", "torso"})
    if (const int b = mj_name2id(m, mjOBJ_BODY, name); b > 0) return b;
  return std::max<int>(1, std::max_element(m->body_mass, m->body_mass + m->nbody) - m->body_mass);
}

ModelPtr situation_model(const mjModel* m, Situation s) {
  ModelPtr c = copy_model(m);
  if (s == Situation::free) mju_zero3(c->opt.gravity);
  if (s == Situation::heap) {
    mju_zero(c->actuator_gainprm, c->nu * mjNGAIN);
    mju_zero(c->actuator_biasprm, c->nu * mjNBIAS);
  }
  return c;
}

Scene make_scene(const mjModel* m, Situation situation, const SceneOptions& o) {
  Scene s;
  s.situation = situation;
  s.nworld = o.nworld;
  s.nstep = std::max(1, int(std::lround(o.seconds / m->opt.timestep)));
  s.nq = m->nq, s.nv = m->nv, s.na = m->na, s.nu = m->nu;
  s.qpos.resize(size_t(o.nworld) * m->nq);
  s.qvel.resize(size_t(o.nworld) * m->nv);
  s.act.resize(size_t(o.nworld) * m->na);
  s.warmstart.resize(size_t(o.nworld) * m->nv);
  if (situation == Situation::none) {
    start_plain(m, s);
    fill_controls(m, o.controls == Controls::scene ? Controls::sine : o.controls, o.ctrl_scale, o.seed, s);
    return s;
  }

  check_floating(m, situation);
  for (int a = 0; a < m->nu; a++) s.motors = s.motors || (is_motor(m, a) && situation != Situation::heap);
  std::vector<double> base(m->qpos0, m->qpos0 + m->nq);
  const bool stand = situation == Situation::stand || situation == Situation::push;
  if (stand) {
    base = settled_pose(m, s);
    s.stand_height = base[2];
  }
  if (situation == Situation::push) plan_pushes(m, o.seed, s);
  s.hold = kHold;
  const int ncontrol = (s.nstep + kHold - 1) / kHold;
  s.ctrl.resize(size_t(ncontrol) * o.nworld * m->nu);
  std::vector<double> rest(m->nu);
  hold_pose(m, rest.data());

  MjWorkers workers(m, o.nthread);
  workers.run(o.nworld, [&](int w, mjData* d) {
    Random random(o.seed, w);
    start_world(m, s, o, base, random, d);
    std::copy_n(d->qpos, m->nq, &s.qpos[size_t(w) * m->nq]);
    std::copy_n(d->qvel, m->nv, &s.qvel[size_t(w) * m->nv]);
    std::copy_n(d->qacc_warmstart, m->nv, &s.warmstart[size_t(w) * m->nv]);
    const double size = situation == Situation::free ? kJitterFree : stand ? kJitterStand : 0;
    std::vector<double> noise(m->nu, 0.0);
    for (int k = 0; k < ncontrol; k++) {
      double* u = s.ctrl.data() + (size_t(k) * o.nworld + w) * m->nu;
      for (int a = 0; a < m->nu; a++) {
        noise[a] = kJitterKeep * noise[a] + size * random.normal();
        u[a] = situation == Situation::heap ? 0 : rest[a] + noise[a] * (is_motor(m, a) ? 2 : 1);
      }
      if (!s.motors || !stand) continue;
      servo_torques(m, d, noise.data(), u);
      mju_copy(d->ctrl, u, m->nu);
      for (int i = 0; i < kHold; i++) step_pushed(m, d, s, kHold * k + i, w);
    }
    for (int i = 0; i < mjNWARNING; i++)
      if (d->warning[i].number)
        throw Error(Error::kInput, std::string("situation '") + name_of(situation) +
                                       "': MuJoCo itself warns on this model: " + mju_warningText(i, d->warning[i].lastinfo));
  });
  if (o.controls != Controls::scene) fill_controls(m, o.controls, o.ctrl_scale, o.seed, s);
  return s;
}

}  // namespace batchsim::tools

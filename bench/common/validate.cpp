#include "common/validate.h"

#include <cmath>

namespace batchsim::tools {
namespace {

// what runs as the user's model says; against MuJoCo to the last digit, it needs the iterations for it too
Model our_model(const mjModel* m, const ValidateOptions& o) {
  const ModelPtr c = situation_model(m, o.situation);
  if (o.precision == Precision::f64) tighten(c.get());
  return Model::from_mjmodel(c.get());
}

ModelPtr their_model(const mjModel* m, Situation s) {
  ModelPtr c = situation_model(m, s);
  tighten(c.get());
  return c;
}

SceneOptions scene_options(const mjModel* m, const ValidateOptions& o, int default_nworld) {
  SceneOptions s;
  s.nworld = o.nworld ? o.nworld : default_nworld;
  s.seconds = o.seconds > 0 ? o.seconds : default_seconds(m, o.situation);
  s.seed = o.seed;
  s.controls = o.controls;
  s.nthread = o.nthread;
  return s;
}

BatchOptions batch_options(const ValidateOptions& o, int nworld) {
  BatchOptions b;
  b.nworld = nworld, b.device = o.device, b.precision = o.precision, b.nconmax = o.nconmax, b.njmax = o.njmax,
  b.nthread = o.nthread;
  return b;
}

}  // namespace

double default_seconds(const mjModel* m, Situation s) {
  if (s == Situation::none) return 2;
  if (s != Situation::stand) return 10;
  for (int a = 0; a < m->nu; a++)
    if (m->actuator_biastype[a] == mjBIAS_NONE) return 0.4;  // torque-driven bodies tip over sooner
  return 1.6;
}

Sides::Sides(const mjModel* m, const ValidateOptions& o, int default_nworld, const mjModel* other)
    : reference_model(their_model(other ? other : m, o.situation)),
      model(our_model(m, o)),
      scene(make_scene(situation_model(m, o.situation).get(), o.situation, scene_options(m, o, default_nworld))),
      batch(model, batch_options(o, scene.nworld)),
      rows(batch),
      reference(reference_model.get(), scene, o.nthread),
      pose(m) {
  rows.start(scene);
}

void set_single_world(HostRows& rows, const mjModel* m, const StateLayout& at, const double* row) {
  const auto part = [&](int adr, int n) { return std::vector<double>(row + adr, row + adr + n); };
  rows.set("time", part(0, 1));
  rows.set("qpos", part(at.qpos, m->nq));
  rows.set("qvel", part(at.qvel, m->nv));
  rows.set("act", part(at.act, m->na));
  rows.set("qacc_warmstart", part(at.warmstart, m->nv));
  rows.set("ctrl", part(at.ctrl, m->nu));
  rows.set("xfrc_applied", part(at.xfrc, 6 * m->nbody));
}

Batch Sides::single() const {
  BatchOptions b = batch.options();
  b.nworld = b.nthread = 1;
  return Batch(model, b);
}

}  // namespace batchsim::tools

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "../tests/tolerances.h"
#include "common/progress.h"
#include "common/stats.h"
#include "common/table.h"
#include "common/validate.h"

namespace batchsim::tools {
namespace {

constexpr int kChunk = 4;

// the share of steps that is promised
double promised_share(Situation s, bool motors) {
  using namespace tolerances;
  switch (s) {
    case Situation::free: return motors ? kShareFreeMotors : kShareFree;
    case Situation::stand: return motors ? kShareStandMotors : kShareStand;
    default:  // push ends on the floor; without a situation contacts may switch at any time
      return motors ? kShareHeapMotors : kShareHeap;
  }
}

// what a row does: nothing, a force that grows with its violation, or friction at its limit to either side. From the forces: MuJoCo leaves
// efc_state as it was before its last iteration
int row_state(const mjData* d, int r) {
  const double f = d->efc_force[r], limit = d->efc_frictionloss[r];
  if (d->efc_type[r] != mjCNSTR_FRICTION_DOF) return f > 0 ? mjCNSTRSTATE_QUADRATIC : mjCNSTRSTATE_SATISFIED;
  return std::abs(f) < limit * (1 - 1e-6) ? mjCNSTRSTATE_QUADRATIC : f > 0 ? mjCNSTRSTATE_LINEARNEG : mjCNSTRSTATE_LINEARPOS;
}

struct Row {
  int state = 0;
  double force = 0;
};
// constraint rows by type, what they belong to, and which of its rows
std::map<std::array<int, 4>, Row> rows_by_source(const mjModel* m, const mjData* d) {
  std::map<std::array<int, 4>, Row> rows;
  std::map<std::array<int, 3>, int> count;
  const std::vector<mjtNum> J = dense_jacobian(m, d);
  for (int r = 0; r < d->nefc; r++) {
    const int type = d->efc_type[r], id = d->efc_id[r];
    std::array<int, 3> key = {type, id, 0};
    if (type == mjCNSTR_CONTACT_FRICTIONLESS || type == mjCNSTR_CONTACT_PYRAMIDAL)
      key = {type, d->contact[id].geom[0], d->contact[id].geom[1]};
    // the two sides of a limit are told apart by their sign
    if (type == mjCNSTR_LIMIT_JOINT) key[2] = J[size_t(r) * m->nv + m->jnt_dofadr[id]] > 0;
    rows[{key[0], key[1], key[2], count[key]++}] = {row_state(d, r), d->efc_force[r]};
  }
  return rows;
}

}  // namespace

std::string contact_difference(const mjModel* m, const mjData* a, const mjData* b) {
  if (a->ncon != b->ncon) return "ncon " + std::to_string(a->ncon) + ", MuJoCo " + std::to_string(b->ncon);
  for (int c = 0; c < a->ncon; c++)
    if (a->contact[c].geom[0] != b->contact[c].geom[0] || a->contact[c].geom[1] != b->contact[c].geom[1])
      return "contact " + std::to_string(c) + " has other geoms";
  if (a->nefc != b->nefc) return "rows " + std::to_string(a->nefc) + ", MuJoCo " + std::to_string(b->nefc);
  const auto x = rows_by_source(m, a), y = rows_by_source(m, b);
  int n = 0;
  double force = 0;
  for (const auto& [key, row] : x) {
    const auto other = y.find(key);
    if (other == y.end()) return "rows of other joints or contacts";
    if (other->second.state == row.state) continue;
    n++;
    force = std::max({force, std::abs(row.force), std::abs(other->second.force)});
  }
  return n ? "active set: " + std::to_string(n) + format(" rows, up to %.2g N", force) : "";
}

Resync validate_resync(Sides& s, const ValidateOptions& o) {
  const mjModel* m = s.reference_model.get();
  const Scene& scene = s.scene;
  const StateLayout& at = s.reference.layout();
  const bool f32 = o.precision == Precision::f32;
  const int nworld = scene.nworld;
  Resync r;
  r.nworld = nworld, r.nstep = scene.nstep, r.timestep = m->opt.timestep, r.hinges = s.pose.hinges();
  r.bound = f32 ? tolerances::kJointF32 : tolerances::kJointF64;
  r.promised_share = f32 ? promised_share(scene.situation, scene.motors) : 1;
  r.joint.reserve(size_t(scene.nstep) * nworld);

  Batch one = s.single();
  HostRows one_rows(one);
  const DataPtr ours = make_data(m), theirs = make_data(m);
  std::vector<double> floor(nworld);
  std::vector<std::vector<double>> rounded(nworld, std::vector<double>(at.size));
  Progress progress("each step from MuJoCo's state", scene.nstep, o.progress);

  // the parts of all worlds' states that go to the batch
  const auto gather = [&](int i, int adr, int n) {
    std::vector<double> v(size_t(nworld) * n);
    for (int w = 0; w < nworld; w++) std::copy_n(s.reference.state(i, w) + adr, n, v.data() + size_t(w) * n);
    return v;
  };
  for (int step = 0; step < scene.nstep; step += kChunk) {
    const int n = std::min(kChunk, scene.nstep - step);
    s.reference.advance(n);
    for (int i = 0; i < n; i++) {
      s.rows.apply(scene, step + i);
      s.rows.set("qpos", gather(i, at.qpos, m->nq));
      s.rows.set("qvel", gather(i, at.qvel, m->nv));
      s.rows.set("act", gather(i, at.act, m->na));
      s.rows.set("qacc_warmstart", gather(i, at.warmstart, m->nv));
      s.batch.step();
      if (f32)
        s.reference.workers().run(nworld, [&](int w, mjData* d) {
          std::copy_n(s.reference.state(i, w), at.size, rounded[w].data());
          round_state(m, at, rounded[w].data());
          set_state_row(m, d, rounded[w].data());
          mj_step(m, d);
          floor[w] = s.pose.error(d->qpos, s.reference.state(i + 1, w) + at.qpos).joint;
        });
      const std::vector<double> qpos = s.rows.get("qpos"), qvel = s.rows.get("qvel");
      for (int w = 0; w < nworld; w++) {
        const double* next = s.reference.state(i + 1, w);
        const PoseError e = s.pose.error(&qpos[size_t(w) * m->nq], next + at.qpos);
        r.joint.push_back(e.joint);
        if (f32) r.floor.push_back(floor[w]);
        r.pos = std::max(r.pos, e.pos), r.rot = std::max(r.rot, e.rot);
        for (int k = 0; k < m->nv; k++) r.qvel = std::max(r.qvel, std::abs(qvel[size_t(w) * m->nv + k] - next[at.qvel + k]));
        if (e.joint <= r.bound) continue;
        Excess x;
        x.world = w, x.step = step + i, x.error = e.joint, x.floor = floor[w];
        const double* row = s.reference.state(i, w);
        set_state_row(m, theirs.get(), row);
        mj_forward(m, theirs.get());
        set_single_world(one_rows, m, at, row);
        one.export_mjdata(0, ours.get());
        x.differs = contact_difference(m, ours.get(), theirs.get());
        if (f32) {
          set_state_row(m, ours.get(), rounded[w].data());
          mj_forward(m, ours.get());
          x.floor_differs = contact_difference(m, ours.get(), theirs.get());
        }
        r.excess.push_back(x);
      }
    }
    progress.at(step + n);
  }
  progress.clear();

  const double all = double(r.joint.size());
  r.share = std::count_if(r.joint.begin(), r.joint.end(), [&](double e) { return e <= r.bound; }) / all;
  if (f32) r.floor_share = std::count_if(r.floor.begin(), r.floor.end(), [&](double e) { return e <= r.bound; }) / all;
  for (const Excess& x : r.excess) {
    (x.differs.empty() ? r.bugs : r.explained)++;
    r.floor_too += x.floor > r.bound;
  }
  r.report = s.batch.report();
  r.good = r.share >= r.promised_share && r.bugs == 0 && !r.report.overflow();
  return r;
}

}  // namespace batchsim::tools

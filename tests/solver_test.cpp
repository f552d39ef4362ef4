// Constraint rows and solver against MuJoCo's, from MuJoCo's own inputs; and that a world's bits depend on nothing but that world.
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

#include "backend/check/team.h"
#include "catch.h"
#include "common/solver_tile_impl.h"
#include "kernels/solver_export.h"
#include "model/compile.h"
#include "scratch.h"
#include "tolerances.h"

using namespace batchsim;

namespace {

struct Deleter {
  void operator()(mjModel* m) const { mj_deleteModel(m); }
  void operator()(mjData* d) const { mj_deleteData(d); }
};

// a model and MuJoCo's answer, converged, in some states
struct Bench {
  std::unique_ptr<mjModel, Deleter> m;
  std::unique_ptr<mjData, Deleter> d;
  FlatModel flat;
  std::vector<SolverState> states;
  std::vector<SolverInput> inputs;

  explicit Bench(mjModel* model) : m(model), d(mj_makeData(model)), flat(compile(model)) {
    m->opt.tolerance = 1e-15, m->opt.iterations = 200, m->opt.ls_iterations = 200;
    flat.iterations = 200;
  }
  // before the solver in state i
  void set(size_t i) {
    load_state(m.get(), d.get(), states[i]);
    before_solver(m.get(), d.get());
  }
  void take(std::vector<SolverState> s) {
    states = std::move(s);
    for (size_t i = 0; i < states.size(); i++) set(i), inputs.push_back(solver_input(m.get(), flat, d.get()));
  }
};

Bench body(const std::string& name, const std::string& situation, int n) {
  char error[1000] = "";
  mjModel* m = mj_loadXML((std::string(BATCHSIM_MODELS) + "/" + name + ".xml").c_str(), nullptr, error, sizeof error);
  INFO(error);
  REQUIRE(m);
  std::vector<SolverState> states = solver_states(m, situation, n);
  Bench b(m);
  b.take(std::move(states));
  return b;
}

Bench from_text(const std::string& xml, int n, int steps) {
  char error[1000] = "";
  mjSpec* spec = mj_parseXMLString(xml.c_str(), nullptr, error, sizeof error);
  INFO(error);
  REQUIRE(spec);
  mjModel* m = mj_compile(spec, nullptr);
  mj_deleteSpec(spec);
  REQUIRE(m);
  Bench b(m);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<SolverState> states;
  for (int w = 0; w < n; w++) {
    mj_resetData(m, b.d.get());
    for (int i = 0; i < m->nq; i++) b.d->qpos[i] += 0.3 * uniform(random);
    for (int i = 0; i < m->nv; i++) b.d->qvel[i] = uniform(random);
    for (int i = 0; i < steps; i++) mj_step(m, b.d.get());
    states.push_back(save_state(m, b.d.get()));
  }
  b.take(std::move(states));
  return b;
}

constexpr int kContacts = 64, kRows = 512;

template <class B>
void clear_lane(Scratch<B>& s, int l) {
  for (int i = 0; i < s.z.nv; i++)
    for (auto row : {s.d.qvel, s.d.qacc_smooth, s.d.qfrc_smooth, s.d.qacc_warmstart}) B::set(row, i, l, 0);
  for (int i = 0; i < s.z.nq; i++) B::set(s.d.qpos, i, l, 0);
  for (int i = 0; i < s.z.nM; i++) B::set(s.d.M, i, l, 0);
  for (int i = 0; i < s.z.nv; i++) B::set(s.d.M, s.m.M_rowadr[i] + kQuad * s.m.dof_depth[i], l, 1);
  for (int i = 0; i < 6 * s.z.nv; i++) B::set(s.d.cdof, i, l, 0);
  for (int i = 0; i < 6 * s.z.nbody; i++) B::set(s.d.cvel, i, l, 0);
  for (int i = 0; i < 10 * s.z.nbody; i++) B::set(s.d.cinert, i, l, 0);
  for (int i = 0; i < 3 * s.z.nbody; i++) B::set(s.d.subtree_com, i, l, 0);
  B::at(s.d.ncon, 0, l) = 0, B::at(s.d.status, 0, l) = 0;
}

template <class B>
void solve(Scratch<B>& s) {
  make_constraint(Team<B>{}, s.m, s.d);
  Team<B>{}.sync();  // in a step, reductions of the stages between order the two
  solver(Team<B>{}, s.m, s.d);
}

// which[l]: input of lane l, -1: a world in the air
template <class B>
void fill(Scratch<B>& s, const Bench& b, const std::vector<int>& which) {
  s.poison();
  for (int l = 0; l < B::width; l++) {
    if (which[l] < 0)
      clear_lane(s, l);
    else
      load_lane<B>(s.d, l, b.inputs[which[l]]);
  }
}

// one input a lane, from `first` on
template <class B>
std::vector<int> in_turn(int first) {
  std::vector<int> which(B::width);
  std::iota(which.begin(), which.end(), first);
  return which;
}

template <class B>
std::vector<double> result(const Scratch<B>& s, int l) {
  std::vector<double> r = get_row<B>(s.d.qacc, l, s.z.nv);
  const std::vector<double> f = get_row<B>(s.d.qfrc_constraint, l, s.z.nv);
  r.insert(r.end(), f.begin(), f.end());
  r.push_back(int(s.d.solver_niter(0, l)));
  return r;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && !std::memcmp(a.data(), b.data(), a.size() * sizeof(double));
}

// largest |a - b| over the largest |b|, at least 1
double off(const std::vector<double>& a, const mjtNum* b) {
  double scale = 1, worst = 0;
  for (size_t i = 0; i < a.size(); i++) scale = std::max(scale, std::abs(b[i]));
  for (size_t i = 0; i < a.size(); i++) worst = std::max(worst, a[i] == a[i] ? std::abs(a[i] - b[i]) : 1e300);
  return worst / scale;
}

std::vector<double> dense_jacobian(const mjModel* m, const mjData* d) {
  if (!mj_isSparse(m)) return {d->efc_J, d->efc_J + size_t(d->nefc) * m->nv};
  std::vector<double> J(size_t(d->nefc) * m->nv, 0.0);
  for (int r = 0; r < d->nefc; r++)
    for (int a = 0; a < d->efc_J_rownnz[r]; a++)
      J[size_t(r) * m->nv + d->efc_J_colind[d->efc_J_rowadr[r] + a]] = d->efc_J[d->efc_J_rowadr[r] + a];
  return J;
}

template <class B>
void compare_rows(Bench& b) {
  Scratch<B> s(b.flat, kContacts, kRows);
  for (size_t i = 0; i < b.inputs.size(); i++) {
    INFO("state " << i);
    fill(s, b, std::vector<int>(B::width, int(i)));
    solve(s);
    WorldExport e;
    export_constraint(s.m, s.d, B::width - 1, e);
    b.set(i);
    mj_fwdConstraint(b.m.get(), b.d.get());
    const mjData* d = b.d.get();
    if (d->nefc) {
      // with islands MuJoCo leaves the state of the start in efc_state
      std::vector<mjtNum> x(d->nefc);
      mj_mulJacVec(b.m.get(), d, x.data(), d->qacc);
      mju_subFrom(x.data(), d->efc_aref, d->nefc);
      mj_constraintUpdate(b.m.get(), b.d.get(), x.data(), nullptr, 0);
    }
    REQUIRE(e.nefc == d->nefc);
    CHECK(e.nf == d->nf);
    CHECK(e.nl == d->nl);
    CHECK(std::equal(e.efc_type.begin(), e.efc_type.end(), d->efc_type));
    CHECK(std::equal(e.efc_id.begin(), e.efc_id.end(), d->efc_id));
    CHECK(std::equal(e.efc_state.begin(), e.efc_state.end(), d->efc_state));
    for (int c = 0; c < d->ncon; c++) CHECK(e.con_efc_address[c] == d->contact[c].efc_address);
    CHECK(off(e.efc_J, dense_jacobian(b.m.get(), d).data()) < tolerances::kSmooth);
    CHECK(off(e.efc_pos, d->efc_pos) < tolerances::kSmooth);
    CHECK(off(e.efc_margin, d->efc_margin) < tolerances::kSmooth);
    CHECK(off(e.efc_frictionloss, d->efc_frictionloss) < tolerances::kSmooth);
    CHECK(off(e.efc_diagA, d->efc_diagA) < tolerances::kSmooth);
    CHECK(off(e.efc_KBIP, d->efc_KBIP) < tolerances::kSmooth);
    CHECK(off(e.efc_D, d->efc_D) < tolerances::kSmooth);
    CHECK(off(e.efc_R, d->efc_R) < tolerances::kSmooth);
    CHECK(off(e.efc_vel, d->efc_vel) < tolerances::kSmooth);
    CHECK(off(e.efc_aref, d->efc_aref) < tolerances::kSmooth);
    CHECK(off(e.efc_force, d->efc_force) < tolerances::kIterative);
    CHECK(off(get_row<B>(s.d.qacc, 0, b.m->nv), d->qacc) < tolerances::kIterative);
    CHECK(off(get_row<B>(s.d.qfrc_constraint, 0, b.m->nv), d->qfrc_constraint) < tolerances::kIterative);
    CHECK(s.d.status(0, 0) == 0);
    if (!d->nefc) CHECK(off(get_row<B>(s.d.qacc, 0, b.m->nv), d->qacc_smooth) == 0);
  }
  CHECK(s.damaged() == "");
}

// two hands that reach each other, every form of solref and solimp, rows of condim 1, 3, 4, a gap, both limits of a joint, two trees
const char* const kForms = R"(<mujoco><option timestep="0.004" cone="pyramidal"/>
  <default><geom condim="3" friction=".8 .02 .001"/></default>
  <worldbody><geom name="floor" type="plane" size="5 5 .1" condim="1" margin=".01"/>
  <body pos="0 0 .2"><freejoint/><geom type="sphere" size=".1" condim="4" solref="-3000 -40" solimp=".8 .9 .01 .3 3"/>
    <body pos=".1 0 0"><joint axis="0 1 0" range="-1 1" limited="true" margin="1.5" frictionloss=".3" solreflimit="-200 -5" solimplimit=".7 .9 0"/>
      <geom type="capsule" fromto="0 0 0 .2 0 0" size=".04" condim="1" solimp=".9 .9 .001"/>
      <body pos=".2 0 0"><joint axis="0 0 1" range="-.4 .4" limited="true" frictionloss=".1" solreffriction="-20 -9" solimpfriction=".5 .6 .02"/>
        <joint axis="1 0 0" frictionloss=".2"/><geom type="sphere" size=".06" pos=".05 0 0" condim="4" solimp=".85 .95 .02 .5 1"/></body></body>
    <body pos="-.1 0 0"><joint axis="0 0 1"/><geom type="capsule" fromto="0 0 0 -.1 .15 0" size=".05" gap=".02"/>
      <body pos="-.1 .15 0"><joint axis="0 0 1" range="-.1 .1" limited="true"/><geom type="capsule" fromto="0 0 0 .3 .1 0" size=".05" solref=".001 .7"/></body></body></body>
  <body pos=".1 .1 .5"><freejoint/><geom type="capsule" size=".06 .1" friction="1.2 .1 .01"/>
    <body pos="0 0 .15"><joint axis="1 0 0"/><geom type="sphere" size=".08"/></body></body>
  </worldbody></mujoco>)";

}  // namespace

TEST_CASE("rows, forces and acceleration equal MuJoCo's") {
  for (const char* name : {"stick", "simple", "muscular"})
    for (const char* situation : {"stand", "heap"}) {
      INFO(name << " " << situation);
      Bench b = body(name, situation, 12);
      compare_rows<Exact<double>>(b);
      compare_rows<Packs<double, 2>>(b);
    }
}

TEST_CASE("every form of parameters") {
  for (int steps : {0, 60, 200}) {
    Bench b = from_text(kForms, 40, steps);
    compare_rows<Exact<double>>(b);
  }
}

TEST_CASE("the solver has no races") {
  take_races();
  for (const char* situation : {"stand", "heap"}) {
    Bench b = body("simple", situation, 4);
    compare_rows<Check>(b);
  }
  Bench b = from_text(kForms, 10, 60);
  compare_rows<Check>(b);
  const RaceReport r = take_races();
  INFO((r.first.empty() ? "" : r.first[0]));
  CHECK(r.count == 0);
}

TEST_CASE("float hinge angles after a step") {
  using B = Packs<float, 8>;
  for (const char* name : {"stick", "simple", "muscular"})
    for (const char* situation : {"stand", "heap"}) {
      INFO(name << " " << situation);
      Bench b = body(name, situation, 16);
      Scratch<B> s(b.flat, kContacts, kRows);
      double worst = 0;
      for (int first = 0; first < 16; first += B::width) {
        fill(s, b, in_turn<B>(first));
        solve(s);
        for (int l = 0; l < B::width; l++) {
          const auto step = [&](bool ours) {
            b.set(first + l);
            mj_fwdConstraint(b.m.get(), b.d.get());
            if (ours) {
              mju_copy(b.d->qacc, get_row<B>(s.d.qacc, l, b.m->nv).data(), b.m->nv);
              mju_copy(b.d->qfrc_constraint, get_row<B>(s.d.qfrc_constraint, l, b.m->nv).data(), b.m->nv);
            }
            b.m->opt.integrator == mjINT_EULER ? mj_Euler(b.m.get(), b.d.get()) : mj_implicit(b.m.get(), b.d.get());
            return std::vector<double>(b.d->qpos + 7, b.d->qpos + b.m->nq);
          };
          const std::vector<double> ours = step(true), theirs = step(false);
          for (size_t i = 0; i < ours.size(); i++) worst = std::max(worst, std::abs(ours[i] - theirs[i]));
        }
      }
      CHECK(worst < tolerances::kJointF32);
    }
}

TEMPLATE_TEST_CASE("a world's bits do not depend on its tile", "", (Packs<float, 8>), (Packs<double, 2>)) {
  using B = TestType;
  std::mt19937 random(7);
  for (const char* name : {"simple", "muscular"}) {
    Bench b = body(name, "heap", 12);
    // half of them stand: rows of few leaves beside rows of many
    Bench stand = body(name, "stand", 12);
    b.inputs.insert(b.inputs.end(), stand.inputs.begin(), stand.inputs.end());
    const int n = int(b.inputs.size());
    Scratch<B> s(b.flat, kContacts, kRows);
    std::vector<std::vector<double>> alone(n);
    for (int w = 0; w < n; w++) {
      std::vector<int> which(B::width, -1);
      which[w % B::width] = w;
      fill(s, b, which);
      solve(s);
      alone[w] = result(s, w % B::width);
    }
    int differ = 0;
    for (int round = 0; round < 60; round++) {
      std::vector<int> which(B::width);
      for (int& w : which) w = int(random() % (n + 2)) - 2;
      for (int& w : which) w = std::max(w, -1);
      fill(s, b, which);
      solve(s);
      for (int l = 0; l < B::width; l++)
        if (which[l] >= 0) differ += !same_bits(result(s, l), alone[which[l]]);
    }
    INFO(name);
    CHECK(differ == 0);
    CHECK(s.damaged() == "");
  }
}

TEST_CASE("a bad number stays in its lane") {
  using B = Packs<float, 8>;
  Bench b = body("simple", "heap", 8);
  Scratch<B> s(b.flat, kContacts, kRows);
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  fill(s, b, in_turn<B>(0));
  solve(s);
  std::vector<std::vector<double>> good;
  for (int l = 0; l < B::width; l++) good.push_back(result(s, l));
  for (float bad : {nan, inf, -inf, 1e38f})
    for (auto field : {&StateView<B>::qacc_smooth, &StateView<B>::qacc_warmstart, &StateView<B>::M, &StateView<B>::cdof,
                       &StateView<B>::cvel, &StateView<B>::con_dist, &StateView<B>::con_frame, &StateView<B>::qpos}) {
      fill(s, b, in_turn<B>(0));
      for (int i = 0; i < 5; i++) B::set(s.d.*field, i, 1, bad);
      solve(s);
      for (int l = 0; l < B::width; l++)
        if (l != 1) CHECK(same_bits(result(s, l), good[l]));
    }
  CHECK(s.damaged() == "");
}

TEST_CASE("rows that do not fit are dropped from the end") {
  using B = Packs<float, 8>;
  Bench b = body("muscular", "heap", 8);
  Scratch<B> ample(b.flat, kContacts, kRows);
  for (int njmax : {0, 1, 60, 100, 130, 160}) {
    Scratch<B> s(b.flat, kContacts, njmax);
    for (int first = 0; first < 8; first += B::width) {
      fill(ample, b, in_turn<B>(first)), solve(ample);
      fill(s, b, in_turn<B>(first)), solve(s);
      for (int l = 0; l < B::width; l++) {
        const int need = ample.d.nefc(0, l);
        INFO("njmax " << njmax << " need " << need);
        CHECK(s.d.nefc_need(0, l) == need);
        CHECK(s.d.nefc(0, l) <= njmax);
        CHECK(((s.d.status(0, l) & kRowsDropped) != 0) == (need > njmax));
        if (need <= njmax) CHECK(same_bits(result(s, l), result(ample, l)));
        if (need > njmax) CHECK(s.d.nefc(0, l) > njmax - kContactRows);
        WorldExport all, kept;
        export_constraint(ample.m, ample.d, l, all);
        export_constraint(s.m, s.d, l, kept);
        REQUIRE(kept.nefc == s.d.nefc(0, l));
        CHECK(std::equal(kept.efc_id.begin(), kept.efc_id.end(), all.efc_id.begin()));
        CHECK(std::equal(kept.efc_aref.begin(), kept.efc_aref.end(), all.efc_aref.begin()));
        for (double a : result(s, l)) CHECK(a == a);
      }
    }
    CHECK(s.damaged() == "");
  }
}

TEST_CASE("the iteration limit is honoured and flagged") {
  Bench b = body("muscular", "stand", 4);
  b.flat.iterations = 1;
  Scratch<Exact<double>> s(b.flat, kContacts, kRows);
  fill(s, b, {0});
  solve(s);
  CHECK(s.d.solver_niter(0, 0) == 1);
  CHECK(s.d.status(0, 0) == int(kIterationLimit));
}

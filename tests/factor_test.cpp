// The tree factorisation: L' D L is M and solves are exact to rounding on every kind of team, on bodies, forests, chains, stars and
// random trees, with mass ratios of 1e5; what a pivot that is too small does.
#include "kernels/factor_m.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <random>

#include "backend/check/team.h"
#include "catch.h"
#include "scratch.h"
#include "worlds.h"

using namespace batchsim;

namespace {

// a tree of hinges: parent of each, -1: the world. Links weigh from 1e-3 to 100 kg where light is set
std::string tree_of(const std::vector<int>& parent, bool light) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> u(-1, 1);
  const int n = static_cast<int>(parent.size());
  std::vector<std::string> inside(n);
  const auto number = [](double x) { return std::to_string(x) + " "; };
  std::string world;
  for (int k = n - 1; k >= 0; k--) {
    const double r = light ? 0.05 * std::pow(10, 1.66 * (u(random) - 1) / 2) : 0.05;
    const std::string body = "<body pos=\"" + number(0.2 * u(random)) + number(0.2 * u(random)) + "-.2\"><joint axis=\"" +
                             number(u(random)) + number(u(random)) + number(1) + "\" armature=\"" + (light ? "1e-5" : "1e-2") +
                             "\"/><geom size=\"" + number(r) + "\" density=\"1000\"/>" + inside[k] + "</body>";
    (parent[k] < 0 ? world : inside[parent[k]]).insert(0, body);
  }
  return "<mujoco><option><flag contact=\"disable\"/></option><worldbody>" + world + "</worldbody></mujoco>";
}
std::vector<int> chain(int n) {
  std::vector<int> p(n);
  for (int k = 0; k < n; k++) p[k] = k - 1;
  return p;
}
std::vector<int> random_tree(int n, int seed) {
  std::mt19937 random(seed);
  std::vector<int> p(n, -1);
  for (int k = 1; k < n; k++) p[k] = random() % 5 ? k - 1 - int(random() % std::min(k, 3)) : int(random() % (k + 1)) - 1;
  return p;
}

std::vector<Model> models() {
  std::vector<Model> all;
  for (const char* name : {"stick", "simple", "muscular"}) all.push_back(model_of(name));
  // a light chain of 130 has pivots below 1e-7 of its diagonal, too small for float
  for (const int n : {1, 2, 3, 4, 5, 8, 64, 65, 130}) all.push_back(Model::from_xml(tree_of(chain(n), n == 64 || n == 65)));
  for (const int n : {9, 40, 90, 200}) all.push_back(Model::from_xml(tree_of(random_tree(n, n), true)));
  all.push_back(Model::from_xml(tree_of({-1, -1, -1, 2, 3, 4, 5, -1, 7, 7, 7, 0}, true)));  // a forest
  return all;
}

// dense M of a world in a random pose, by MuJoCo
std::vector<double> inertia(const Model& model, int world) {
  const mjModel* m = model.mjmodel();
  const std::unique_ptr<mjData, void (*)(mjData*)> d(mj_makeData(m), mj_deleteData);
  for (int i = 0; i < m->nq; i++) d->qpos[i] += 0.5 * noise(world, i);
  mj_forward(m, d.get());
  std::vector<double> M(size_t(m->nv) * m->nv);
  mj_fullM(m, d.get(), M.data());
  return M;
}

template <class B>
void put(Scratch<B>& s, int l, const std::vector<double>& M) {
  using T = typename B::Scalar;
  const int nv = s.z.nv;
  for (int i = 0; i < s.z.nM; i++) B::set(s.d.M, i, l, T(0));
  for (int k = 0; k < nv; k++) {
    for (int a = 0; a <= s.m.dof_depth[k]; a++)
      B::set(s.d.M, s.m.M_rowadr[k] + kQuad * a, l, T(M[size_t(k) * nv + s.m.M_colind[s.m.M_coladr[k] + a]]));
    B::set(s.d.qtmp, k, l, T(noise(k, l)));
  }
}

struct Residual {
  double factor = 0, solve = 0;
};

// of lane l, against the matrix that the backend got
template <class B>
Residual residual_of(const Scratch<B>& s, int l) {
  const int nv = s.z.nv;
  std::vector<double> M(size_t(nv) * nv), L(M.size()), D(nv), x(nv);
  for (int k = 0; k < nv; k++) {
    const int n = s.m.dof_depth[k];
    const auto at = [&](const typename B::RealRow& row, int a) { return double(B::get(row, s.m.M_rowadr[k] + kQuad * a, l)); };
    D[k] = 1 / at(s.d.qLD, n);
    x[k] = B::get(s.d.qtmp, k, l);
    for (int a = 0; a <= n; a++) {
      const int j = s.m.M_colind[s.m.M_coladr[k] + a];
      M[size_t(k) * nv + j] = M[size_t(j) * nv + k] = at(s.d.M, a);
      L[size_t(k) * nv + j] = a == n ? 1 : at(s.d.qLD, a) / D[k];
    }
  }
  Residual r;
  for (int i = 0; i < nv; i++) {
    for (int j = 0; j <= i; j++) {
      double y = -M[size_t(i) * nv + j];
      for (int k = i; k < nv; k++) y += L[size_t(k) * nv + i] * L[size_t(k) * nv + j] * D[k];
      r.factor = std::max(r.factor, std::abs(y) / std::sqrt(M[size_t(i) * nv + i] * M[size_t(j) * nv + j]));
    }
    const double b = typename B::Scalar(noise(i, l));
    double y = -b, size = std::abs(b);
    for (int j = 0; j < nv; j++) y += M[size_t(i) * nv + j] * x[j], size += std::abs(M[size_t(i) * nv + j] * x[j]);
    r.solve = std::max(r.solve, std::abs(y) / size);
  }
  return r;
}

template <class B>
void factor_and_solve(Scratch<B>& s) {
  factor_m(Team<B>{}, s.m, s.d);
  Team<B>{}.sync();
  solve_tree(Team<B>{}, s.m, s.d, s.d.qLD, s.d.qtmp);
}

}  // namespace

TEMPLATE_TEST_CASE("L'DL is M, and solves solve", "", Exact<double>, Check, (Packs<float, 8>), (Packs<double, 4>)) {
  using B = TestType;
  const double enough = sizeof(typename B::Scalar) == 4 ? 1e-5 : 1e-12;
  for (const Model& model : models()) {
    Scratch<B> s(model.flat(), 1, 1);
    CAPTURE(model.nv(), model.flat().nseg, model.flat().nheight);
    s.poison();
    for (int l = 0; l < B::width; l++) put(s, l, inertia(model, l));
    factor_and_solve(s);
    CHECK(s.damaged() == "");
    CHECK(B::at(s.d.status, 0, 0) == 0);
    for (int l = 0; l < B::width; l++) {
      const Residual r = residual_of(s, l);
      CAPTURE(l);
      CHECK(r.factor < enough);
      CHECK(r.solve < enough);
    }
  }
}

TEST_CASE("a team's solution on the way of factoring is the one after it") {
  for (const Model& model : models()) {
    Scratch<Check> s(model.flat(), 1, 1);
    CAPTURE(model.nv());
    put(s, 0, inertia(model, 3));
    const auto row = [&](const WatchedRow<double>& r) { return get_row<Check>(r, 0, s.z.nv); };
    factor_and_solve(s);
    const std::vector<double> expected = row(s.d.qtmp), factor = get_row<Check>(s.d.qLD, 0, s.z.nM);
    put(s, 0, inertia(model, 3));
    Team<Check>{}.sync();
    factor_team<true>(Team<Check>{}, ModelTree<Check>(s.m), s.d.M, s.d.qLD, team_scratch(s.m, s.d.factor_work), s.d.qtmp,
                      s.d.qacc_smooth);
    const std::vector<double> x = row(s.d.qacc_smooth), again = get_row<Check>(s.d.qLD, 0, s.z.nM);
    for (int k = 0; k < s.z.nv; k++) CHECK(x[k] == Approx(expected[k]).epsilon(1e-6).margin(1e-9));
    for (int k = 0; k < s.z.nv; k++)
      for (int a = 0; a <= s.m.dof_depth[k]; a++)
        REQUIRE(factor[s.m.M_rowadr[k] + kQuad * a] == again[s.m.M_rowadr[k] + kQuad * a]);
  }
}

TEMPLATE_TEST_CASE("a pivot that is too small is clamped and flagged in its lane alone", "", Exact<double>, Check,
                   (Packs<float, 8>)) {
  using B = TestType;
  const Model model = model_of("stick");
  for (const int k : {0, 5, 9, model.nv() - 1}) {
    Scratch<B> s(model.flat(), 1, 1);
    CAPTURE(k);
    const int bad = B::width - 1;
    for (int l = 0; l < B::width; l++) put(s, l, inertia(model, l));
    const int diagonal = s.m.M_rowadr[k] + kQuad * s.m.dof_depth[k];
    B::set(s.d.M, diagonal, bad, -1);
    factor_and_solve(s);
    for (int l = 0; l < B::width; l++) CHECK(B::at(s.d.status, 0, l) == (l == bad ? int(kBadInertia) : 0));
    CHECK(B::get(s.d.qLD, diagonal, bad) == Approx(1e15).epsilon(1e-5));
  }
}

TEST_CASE("a world's factor has the same bits in every lane") {
  using B = Packs<float, 8>;
  const Model model = model_of("muscular");
  Scratch<B> s(model.flat(), 1, 1);
  std::vector<float> first;
  for (int shift = 0; shift < B::width; shift++) {
    for (int l = 0; l < B::width; l++) put(s, (l + shift) % B::width, inertia(model, l));
    for (int k = 0; k < s.z.nv; k++) B::set(s.d.qtmp, k, shift, float(noise(k, 0)));
    factor_and_solve(s);
    std::vector<float> bits;
    for (int k = 0; k < s.z.nv; k++) {
      bits.push_back(B::get(s.d.qtmp, k, shift));
      for (int a = 0; a <= s.m.dof_depth[k]; a++) bits.push_back(B::get(s.d.qLD, s.m.M_rowadr[k] + kQuad * a, shift));
    }
    if (shift == 0) first = bits;
    CHECK(same_bits(bits, first));
  }
}

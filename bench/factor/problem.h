// What all methods of bench_factor solve: M x = b, in each world from other joint angles.
#pragma once

#include <string>
#include <vector>

#include "batchsim/model.h"

namespace batchsim::tools {

struct Problem {
  Model model;
  std::string name;
  int nv, nworld;
  int ndistinct;            // world w is w % ndistinct of those below
  std::vector<int> rowadr;  // (nv + 1) row k of M: its ancestors from the root, then k
  std::vector<int> dof;     // (rowadr[nv])
  std::vector<double> M;    // (ndistinct, rowadr[nv]) from mj_fullM
  std::vector<double> mjM;  // (ndistinct, nC) MuJoCo's own rows
  std::vector<double> b;    // (ndistinct, nv)

  Problem(Model model, std::string name, int nworld, int most_distinct);

  const double* M_of(int world) const { return &M[size_t(world % ndistinct) * rowadr[nv]]; }
  const double* b_of(int world) const { return &b[size_t(world % ndistinct) * nv]; }
  // fn(k, j, M(k, j)) for the lower triangle; what is not on the tree is zero
  template <class F>
  void for_entries(int world, F fn) const {
    const double* m = M_of(world);
    for (int k = 0; k < nv; k++)
      for (int a = rowadr[k]; a < rowadr[k + 1]; a++) fn(k, dof[a], m[a]);
  }

  // floating point operations a world, a multiply-add is two: factor and solve on the tree, and dense
  double tree_flops() const;
  double dense_flops() const { return double(nv) * nv * nv / 3 + 2.0 * nv * nv; }
};

}  // namespace batchsim::tools

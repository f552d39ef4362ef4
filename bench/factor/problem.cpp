#include "factor/problem.h"

#include <algorithm>

#include "common/mj_ptr.h"
#include "common/random.h"

namespace batchsim::tools {
namespace {

// angles within the hinges' ranges, or up to 1 rad
void random_pose(const mjModel* m, mjData* d, Random& random) {
  for (int j = 0; j < m->njnt; j++) {
    double* q = d->qpos + m->jnt_qposadr[j];
    if (m->jnt_type[j] == mjJNT_FREE) {
      for (int i = 3; i < 7; i++) q[i] = random.normal();
      mju_normalize4(q + 3);
    } else {
      const bool limited = m->jnt_limited[j];
      *q = random.uniform(limited ? m->jnt_range[2 * j] : -1, limited ? m->jnt_range[2 * j + 1] : 1);
    }
  }
}

}  // namespace

Problem::Problem(Model loaded, std::string name, int nworld, int most_distinct)
    : model(loaded), name(std::move(name)), nv(model.nv()), nworld(nworld), ndistinct(std::min(nworld, most_distinct)) {
  const mjModel* m = model.mjmodel();
  rowadr = {0};
  for (int k = 0; k < nv; k++) {
    for (int j = k; j >= 0; j = m->dof_parentid[j]) dof.push_back(j);
    std::reverse(dof.begin() + rowadr[k], dof.end());
    rowadr.push_back(int(dof.size()));
  }
  const DataPtr d = make_data(m);
  std::vector<double> full(size_t(nv) * nv);
  for (int w = 0; w < ndistinct; w++) {
    Random random(1, uint64_t(w));
    random_pose(m, d.get(), random);
    mj_kinematics(m, d.get());
    mj_comPos(m, d.get());
    mj_tendon(m, d.get());
    mj_makeM(m, d.get());
    mj_fullM(m, d.get(), full.data());
    for (int k = 0; k < nv; k++)
      for (int a = rowadr[k]; a < rowadr[k + 1]; a++) M.push_back(full[size_t(k) * nv + dof[a]]);
    mjM.insert(mjM.end(), d->M, d->M + m->nC);
    for (int k = 0; k < nv; k++) b.push_back(random.normal());
  }
}

double Problem::tree_flops() const {
  double n = 0;
  for (int k = 0; k < nv; k++) {
    const double depth = rowadr[k + 1] - rowadr[k] - 1;
    n += depth + depth * (depth + 1) + 4 * depth + 1;
  }
  return n;
}

}  // namespace batchsim::tools

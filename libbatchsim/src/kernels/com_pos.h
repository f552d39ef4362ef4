// Centres of mass, and inertias and motion axes about the centre of mass of each tree.
//
//   in     xipos ximat xmat xanchor xaxis
//   out    subtree_com   com of each subtree
//          cinert        inertia of each body about the com of its tree, world axes
//          cdof          motion axis of each DoF there
//   after  kinematics
//   source engine_core_smooth.c mj_comPos, engine_util_spatial.c mju_inertCom, mju_dofCom
#pragma once

#include "math/wide.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

// inertia of a body with principal moments along the columns of A, seen from a point at -offset
template <class Real, class T>
BS_FN Inertia<Real> inertia_about(const T* diag, const Mat3<Real>& A, Vec3<Real> offset, Real mass) {
  const Vec3<Real> r0 = A.row(0), r1 = A.row(1), r2 = A.row(2);
  const Vec3<Real> s0{r0.x * Real(diag[0]), r0.y * Real(diag[1]), r0.z * Real(diag[2])};
  const Vec3<Real> s1{r1.x * Real(diag[0]), r1.y * Real(diag[1]), r1.z * Real(diag[2])};
  const Vec3<Real> s2{r2.x * Real(diag[0]), r2.y * Real(diag[1]), r2.z * Real(diag[2])};
  const Vec3<Real> mo = offset * mass;
  Inertia<Real> I;
  I.xx = dot(r0, s0) + (mo.y * offset.y + mo.z * offset.z);
  I.yy = dot(r1, s1) + (mo.x * offset.x + mo.z * offset.z);
  I.zz = dot(r2, s2) + (mo.x * offset.x + mo.y * offset.y);
  I.xy = dot(r0, s1) - mo.x * offset.y;
  I.xz = dot(r0, s2) - mo.x * offset.z;
  I.yz = dot(r1, s2) - mo.y * offset.z;
  I.mc = mo;
  I.mass = mass;
  return I;
}

template <class B>
BS_FN void com_pos(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;

  // first moments, summed from the leaves to the root
  for (int i : t.range(0, m.nbody)) store(d.subtree_com, 3 * i, load3<Real>(d.xipos, 3 * i) * Real(m.body_mass[i]));
  t.sync();
  for (int level = m.nbodylevel - 2; level >= 0; level--) {
    for (int q : t.range(m.body_leveladr[level], m.body_leveladr[level + 1])) {
      const int i = m.body_order[q];
      Vec3<Real> sum = load3<Real>(d.subtree_com, 3 * i);
      for (int c = m.body_childadr[i]; c < m.body_childadr[i + 1]; c++) sum = sum + load3<Real>(d.subtree_com, 3 * m.body_child[c]);
      store(d.subtree_com, 3 * i, sum);
    }
    t.sync();
  }
  for (int i : t.range(0, m.nbody)) {
    const bool massless = m.body_subtreemass[i] < 1e-15;
    const Vec3<Real> com =
        massless ? load3<Real>(d.xipos, 3 * i) : load3<Real>(d.subtree_com, 3 * i) * (Real(1) / Real(m.body_subtreemass[i]));
    store(d.subtree_com, 3 * i, com);
  }
  t.sync();

  for (int i : t.range(0, m.nbody)) {
    Inertia<Real> I{0, 0, 0, 0, 0, 0, {0, 0, 0}, 0};
    if (i > 0) {
      const Vec3<Real> offset = load3<Real>(d.xipos, 3 * i) - load3<Real>(d.subtree_com, 3 * m.body_rootid[i]);
      I = inertia_about(m.body_inertia + 3 * i, load9<Real>(d.ximat, 9 * i), offset, Real(m.body_mass[i]));
    }
    store(d.cinert, 10 * i, I);
  }

  for (int k : t.range(0, m.nv)) {
    const int j = m.dof_jntid[k], body = m.dof_bodyid[k];
    Vec3<Real> axis{0, 0, 0};
    bool translation = false;
    if (m.jnt_type[j] == kJointFree) {
      const int n = k - m.jnt_dofadr[j];  // world x y z, then the body's axes
      translation = n < 3;
      axis = translation ? Vec3<Real>{Real(n == 0), Real(n == 1), Real(n == 2)} : load9<Real>(d.xmat, 9 * body).col(n - 3);
    } else {
      axis = load3<Real>(d.xaxis, 3 * j);
    }
    const Vec3<Real> offset = offset_from(load3<Real>(d.subtree_com, 3 * m.body_rootid[body]), d.xanchor, d.xanchor_lo, 3 * j);
    store(d.cdof, 6 * k, translation ? Spatial<Real>{{0, 0, 0}, axis} : Spatial<Real>{axis, cross(offset, axis)});
  }
  t.sync();
}

}  // namespace BS_ISA
}  // namespace batchsim

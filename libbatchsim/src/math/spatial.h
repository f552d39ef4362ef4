// Vectors, quaternions, rotation matrices and spatial (rotation; translation) vectors over Real.
//
// Conventions are MuJoCo's: quaternions w x y z, matrices row-major, motion and force vectors rotation first, com-based inertia as
// xx yy zz xy xz yz, mass times offset, mass. Sources are named where a formula is not the textbook's.
#pragma once

// short functions on one line under their template
// clang-format off

#include "math/real.h"
#ifndef __CUDACC__
#include "math/pack.h"
#endif

namespace batchsim {
inline namespace BS_ISA {

template <class R>
struct Vec3 {
  R x, y, z;
  BS_FN friend Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  BS_FN friend Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  BS_FN friend Vec3 operator-(Vec3 a) { return {-a.x, -a.y, -a.z}; }
  BS_FN friend Vec3 operator*(Vec3 a, R s) { return {a.x * s, a.y * s, a.z * s}; }
};
template <class R>
struct Quat {
  R w, x, y, z;
};
template <class R>
struct Mat3 {
  R m[9];
  BS_FN Vec3<R> row(int i) const { return {m[3 * i], m[3 * i + 1], m[3 * i + 2]}; }
  BS_FN Vec3<R> col(int i) const { return {m[i], m[3 + i], m[6 + i]}; }
};
template <class R>
struct Spatial {  // rotation, translation (motion) or torque, force
  Vec3<R> rot, lin;
  BS_FN friend Spatial operator+(Spatial a, Spatial b) { return {a.rot + b.rot, a.lin + b.lin}; }
  BS_FN friend Spatial operator-(Spatial a, Spatial b) { return {a.rot - b.rot, a.lin - b.lin}; }
  BS_FN friend Spatial operator*(Spatial a, R s) { return {a.rot * s, a.lin * s}; }
};

template <class R>
BS_FN R dot(Vec3<R> a, Vec3<R> b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
template <class R>
BS_FN Vec3<R> cross(Vec3<R> a, Vec3<R> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class R>
BS_FN R norm(Vec3<R> a) { return sqrt(dot(a, a)); }
template <class M, class R>
BS_FN Vec3<R> select3(M m, Vec3<R> a, Vec3<R> b) { return {select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z)}; }
template <class R>
BS_FN R dot(Spatial<R> a, Spatial<R> b) { return dot(a.rot, b.rot) + dot(a.lin, b.lin); }

template <class R>
BS_FN Quat<R> operator*(Quat<R> a, Quat<R> b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
// mju_normalize4: the identity where the length is nil, untouched where it is one already
template <class R>
BS_FN Quat<R> normalize(Quat<R> q) {
  const R n = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  const auto nil = n < R(1e-15);
  const auto off = abs(n - R(1)) > R(1e-15);
  const R s = select(off, R(1) / select(nil, R(1), n), R(1));
  return {select(nil, R(1), q.w * s), select(nil, R(0), q.x * s), select(nil, R(0), q.y * s), select(nil, R(0), q.z * s)};
}
template <class R>
BS_FN Mat3<R> to_mat(Quat<R> q) {
  const R ww = q.w * q.w, xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  const R wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z, xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  return {{ww + xx - yy - zz, R(2) * (xy - wz), R(2) * (xz + wy),  //
           R(2) * (xy + wz), ww - xx + yy - zz, R(2) * (yz - wx),  //
           R(2) * (xz - wy), R(2) * (yz + wx), ww - xx - yy + zz}};
}
template <class R>
BS_FN Vec3<R> operator*(const Mat3<R>& A, Vec3<R> v) { return {dot(A.row(0), v), dot(A.row(1), v), dot(A.row(2), v)}; }
template <class R>
BS_FN Vec3<R> mul_transposed(const Mat3<R>& A, Vec3<R> v) { return {dot(A.col(0), v), dot(A.col(1), v), dot(A.col(2), v)}; }
template <class R>
BS_FN Mat3<R> operator*(const Mat3<R>& A, const Mat3<R>& C) {
  Mat3<R> r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) r.m[3 * i + j] = A.m[3 * i] * C.m[j] + A.m[3 * i + 1] * C.m[3 + j] + A.m[3 * i + 2] * C.m[6 + j];
  return r;
}
// mju_rotVecQuat
template <class R>
BS_FN Vec3<R> rotate(Quat<R> q, Vec3<R> v) {
  const Vec3<R> u{q.x, q.y, q.z};
  const Vec3<R> t = v * q.w + cross(u, v);
  return v + cross(u, t) * R(2);
}

// v x w for motion vectors (mju_crossMotion), v x* f for forces (mju_crossForce)
template <class R>
BS_FN Spatial<R> cross_motion(Spatial<R> v, Spatial<R> w) { return {cross(v.rot, w.rot), cross(v.rot, w.lin) + cross(v.lin, w.rot)}; }
template <class R>
BS_FN Spatial<R> cross_force(Spatial<R> v, Spatial<R> f) { return {cross(v.rot, f.rot) + cross(v.lin, f.lin), cross(v.rot, f.lin)}; }

// com-based inertia of a body or a subtree
template <class R>
struct Inertia {
  R xx, yy, zz, xy, xz, yz;
  Vec3<R> mc;  // mass times offset
  R mass;
};
// mju_mulInertVec
template <class R>
BS_FN Spatial<R> operator*(const Inertia<R>& I, Spatial<R> v) {
  const Vec3<R> w = v.rot, u = v.lin;
  const Vec3<R> Iw{I.xx * w.x + I.xy * w.y + I.xz * w.z, I.xy * w.x + I.yy * w.y + I.yz * w.z, I.xz * w.x + I.yz * w.y + I.zz * w.z};
  return {Iw + cross(I.mc, u), u * I.mass - cross(I.mc, w)};
}

// ---- rows of memory
template <class R, class Row>
BS_FN Vec3<R> load3(const Row& a, int i) { return {R(a[i]), R(a[i + 1]), R(a[i + 2])}; }
template <class R, class Row>
BS_FN Quat<R> load4(const Row& a, int i) { return {R(a[i]), R(a[i + 1]), R(a[i + 2]), R(a[i + 3])}; }
template <class R, class Row>
BS_FN Mat3<R> load9(const Row& a, int i) {
  Mat3<R> r;
  for (int k = 0; k < 9; k++) r.m[k] = a[i + k];
  return r;
}
template <class R, class Row>
BS_FN Spatial<R> load6(const Row& a, int i) { return {load3<R>(a, i), load3<R>(a, i + 3)}; }
template <class R, class Row>
BS_FN Inertia<R> load10(const Row& a, int i) {
  return {R(a[i]), R(a[i + 1]), R(a[i + 2]), R(a[i + 3]), R(a[i + 4]), R(a[i + 5]), load3<R>(a, i + 6), R(a[i + 9])};
}
template <class R, class Row>
BS_FN void store(const Row& a, int i, Vec3<R> v) { a[i] = v.x, a[i + 1] = v.y, a[i + 2] = v.z; }
template <class R, class Row>
BS_FN void store(const Row& a, int i, Quat<R> q) { a[i] = q.w, a[i + 1] = q.x, a[i + 2] = q.y, a[i + 3] = q.z; }
template <class R, class Row>
BS_FN void store(const Row& a, int i, const Mat3<R>& A) {
  for (int k = 0; k < 9; k++) a[i + k] = A.m[k];
}
template <class R, class Row>
BS_FN void store(const Row& a, int i, Spatial<R> v) { store(a, i, v.rot), store(a, i + 3, v.lin); }
template <class R, class Row>
BS_FN void store(const Row& a, int i, const Inertia<R>& I) {
  a[i] = I.xx, a[i + 1] = I.yy, a[i + 2] = I.zz, a[i + 3] = I.xy, a[i + 4] = I.xz, a[i + 5] = I.yz;
  store(a, i + 6, I.mc), a[i + 9] = I.mass;
}

}  // namespace BS_ISA
}  // namespace batchsim

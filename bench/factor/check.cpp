#include "factor/check.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace batchsim::tools {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// a NaN is as bad as it gets
void keep_largest(double& most, double x) { most = x <= most ? most : std::isnan(x) ? std::numeric_limits<double>::infinity() : x; }

double factor_residual(const Problem& p, Method& method, int world) {
  Matrix G = Matrix::Zero(p.nv, p.nv), E = Matrix::Zero(p.nv, p.nv);
  method.factor(world, G.data());
  E.noalias() = G.transpose() * G;
  Eigen::VectorXd scale(p.nv);
  p.for_entries(world, [&](int k, int j, double m) {
    E(k, j) -= m;
    if (k == j) scale[k] = 1 / std::sqrt(m);
  });
  double most = 0;
  for (int k = 0; k < p.nv; k++)
    for (int j = 0; j <= k; j++) keep_largest(most, std::abs(E(k, j)) * scale[k] * scale[j]);
  return most;
}

double solve_residual(const Problem& p, Method& method, int world) {
  std::vector<double> x(p.nv), e(p.nv), size(p.nv);
  method.solution(world, x.data());
  const double* b = p.b_of(world);
  for (int k = 0; k < p.nv; k++) e[k] = -b[k], size[k] = std::abs(b[k]);
  const auto add = [&](int k, int j, double m) { e[k] += m * x[j], size[k] += std::abs(m * x[j]); };
  p.for_entries(world, [&](int k, int j, double m) {
    add(k, j, m);
    if (j != k) add(j, k, m);
  });
  double most = 0;
  for (int k = 0; k < p.nv; k++) keep_largest(most, std::abs(e[k]) / size[k]);
  return most;
}

}  // namespace

Residual residual(const Problem& p, Method& method) {
  Residual r;
  for (int w = 0; w < p.nworld; w++) keep_largest(r.solve, solve_residual(p, method, w));
  const double budget = 4e9;  // multiply-adds
  const int n = std::clamp(int(std::min(budget / std::pow(double(p.nv), 3), 1e6)), 1, p.nworld);
  for (int i = 0; i < n; i++)
    keep_largest(r.factor, factor_residual(p, method, n > 1 ? int(int64_t(i) * (p.nworld - 1) / (n - 1)) : p.nworld - 1));
  return r;
}

}  // namespace batchsim::tools

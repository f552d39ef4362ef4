#include <Eigen/Dense>
#include <cmath>

#include "env/random.h"
#include "ppo/learner.h"

namespace stance {
namespace {

// rows or columns, whichever are fewer, are orthonormal times gain (Saxe et al. 2013)
Layer orthogonal(int in, int out, double gain, uint64_t seed, uint32_t id) {
  const int rows = std::max(in, out), cols = std::min(in, out);
  Eigen::MatrixXd a(rows, cols);
  for (int c = 0; c < cols; c++)
    for (int r = 0; r < rows; r++)
      a(r, c) = normals<double>(Stream{seed, id, uint32_t(c)}.words(Purpose::kWeights, uint32_t(r))).v[0];
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(a);
  Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(rows, cols);
  for (int c = 0; c < cols; c++)
    if (qr.matrixQR()(c, c) < 0) q.col(c) *= -1;  // uniform over all orthogonal matrices
  Layer layer{in, out, std::vector<double>(size_t(in) * out), std::vector<double>(out)};
  for (int o = 0; o < out; o++)
    for (int i = 0; i < in; i++) layer.weight[size_t(o) * in + i] = gain * (out >= in ? q(o, i) : q(i, o));
  return layer;
}

Mlp network(int nobs, const std::vector<int>& hidden, int nout, double gain, uint64_t seed, uint32_t id) {
  Mlp net;
  int in = nobs;
  for (int h : hidden) {
    net.layer.push_back(orthogonal(in, h, std::sqrt(2.0), seed, id++));
    in = h;
  }
  net.layer.push_back(orthogonal(in, nout, gain, seed, id));
  return net;
}

}  // namespace

Policy new_policy(const std::string& body, int nobs, int nact, const PpoSettings& s, uint64_t seed) {
  Policy p;
  p.body = body;
  p.nobs = nobs, p.nact = nact;
  p.actor = network(nobs, s.hidden, nact, 0.01, seed, 0);
  p.critic = network(nobs, s.hidden, 1, 1, seed, 100);
  p.log_std.assign(nact, s.log_std);
  p.normaliser.mean.assign(nobs, 0);
  p.normaliser.var.assign(nobs, 1);
  return p;
}

}  // namespace stance

#include "policy.h"

#include <algorithm>
#include <cmath>

namespace stance {

std::vector<double> Mlp::operator()(std::vector<double> x) const {
  for (size_t l = 0; l < layer.size(); l++) {
    const Layer& a = layer[l];
    std::vector<double> y = a.bias;
    for (int o = 0; o < a.out; o++)
      for (int i = 0; i < a.in; i++) y[o] += a.weight[size_t(o) * a.in + i] * x[i];
    if (l + 1 < layer.size())
      for (double& v : y) v = v > 0 ? v : std::expm1(v);
    x = std::move(y);
  }
  return x;
}

std::vector<double> Normaliser::operator()(const std::vector<double>& raw) const {
  std::vector<double> x(raw.size());
  for (size_t i = 0; i < raw.size(); i++) x[i] = std::clamp((raw[i] - mean[i]) / std::sqrt(var[i] + kEpsilon), -kClip, kClip);
  return x;
}

}  // namespace stance

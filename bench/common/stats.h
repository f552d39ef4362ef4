// Quantiles.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace batchsim::tools {

// of a copy: the q-quantile by nearest rank
inline double quantile(std::vector<double> v, double q) {
  if (v.empty()) return 0;
  const size_t i = std::min(v.size() - 1, size_t(std::ceil(q * double(v.size()))) - (q > 0));
  std::nth_element(v.begin(), v.begin() + i, v.end());
  return v[i];
}
inline double median(const std::vector<double>& v) { return quantile(v, 0.5); }
inline double largest(const std::vector<double>& v) { return v.empty() ? 0 : *std::max_element(v.begin(), v.end()); }

}  // namespace batchsim::tools

// Whether a method solves what it should, before it is timed.
#pragma once

#include "factor/method.h"

namespace batchsim::tools {

struct Residual {
  double factor = 0;  // largest |G' G - M|(i, j) / sqrt(M(i, i) M(j, j))
  double solve = 0;   // largest |M x - b|(i) / (|M| |x| + |b|)(i)
};
inline double residual_bound(const std::string& precision) { return precision == "f64" ? 1e-12 : 1e-5; }

/// After a run. Solutions of all worlds; factors of as many as a few seconds allow, the first and the last among them.
Residual residual(const Problem& p, Method& method);

}  // namespace batchsim::tools

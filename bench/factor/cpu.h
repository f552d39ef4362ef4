// The CPU's methods by instruction set.
#pragma once

#include "factor/method.h"

namespace batchsim::tools {

Methods cpu_methods_baseline(const Problem& p, bool f64);
Methods cpu_methods_avx2(const Problem& p, bool f64);
Methods cpu_methods_avx512(const Problem& p, bool f64);

}  // namespace batchsim::tools

// The methods of bench_factor compiled for the oldest processor.
#define BS_ISA baseline
#include "factor/cpu_impl.h"

namespace batchsim::tools {

Methods cpu_methods_baseline(const Problem& p, bool f64) { return f64 ? methods_of<double, 2, 3>(p) : methods_of<float, 4, 3>(p); }

}  // namespace batchsim::tools

// The methods of bench_factor compiled for AVX2 and FMA.
#define BS_ISA avx2
#include "factor/cpu_impl.h"

namespace batchsim::tools {

Methods cpu_methods_avx2(const Problem& p, bool f64) { return f64 ? methods_of<double, 4, 3>(p) : methods_of<float, 8, 3>(p); }

}  // namespace batchsim::tools

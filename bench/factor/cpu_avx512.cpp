// The methods of bench_factor compiled for AVX-512: twice the registers, larger blocks.
#define BS_ISA avx512
#include "factor/cpu_impl.h"

namespace batchsim::tools {

Methods cpu_methods_avx512(const Problem& p, bool f64) { return f64 ? methods_of<double, 8, 4>(p) : methods_of<float, 16, 4>(p); }

}  // namespace batchsim::tools

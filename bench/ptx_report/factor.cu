// The kernels that factor M and solve with it, and nothing else: they compile in seconds, the step kernel does not. In no library or
// program: report.py compiles it.
#define BS_ISA cuda
#include "backend/cuda/factor.cuh"

namespace batchsim {
inline namespace BS_ISA {

// whose address is taken is compiled
template <class T, bool Shared>
void factor_kernels(const void* (&at)[3]) {
  at[0] = reinterpret_cast<const void*>(&factor_kernel<Cuda<T>, true, false, Shared>);
  at[1] = reinterpret_cast<const void*>(&factor_kernel<Cuda<T>, false, true, Shared>);
  at[2] = reinterpret_cast<const void*>(&factor_kernel<Cuda<T>, true, true, Shared>);
}
template void factor_kernels<float, true>(const void* (&)[3]);
template void factor_kernels<float, false>(const void* (&)[3]);
template void factor_kernels<double, true>(const void* (&)[3]);
template void factor_kernels<double, false>(const void* (&)[3]);

}  // namespace BS_ISA
}  // namespace batchsim

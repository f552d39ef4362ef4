// Everything that a stage includes lives in an inline namespace of its own per translation unit kind, so that the linker never
// shares an inline function compiled for AVX-512 with code that runs on a baseline machine.
#pragma once

#include <type_traits>

#ifndef BS_ISA
#define BS_ISA common
#endif

#ifdef __CUDACC__
#define BS_FN __host__ __device__ inline
#define BS_ALWAYS_INLINE __host__ __device__ __forceinline__
#else
#define BS_FN inline
#define BS_ALWAYS_INLINE inline __attribute__((always_inline))
#endif

// before a loop of few turns: what nvcc adds to unroll it takes longer than a turn
#ifdef __CUDA_ARCH__
#define BS_NO_UNROLL _Pragma("unroll 1")
#else
#define BS_NO_UNROLL
#endif

// Solver tiles compiled for AVX-512.
#define BS_ISA avx512
#include "common/solver_tile_impl.h"

namespace batchsim {

std::unique_ptr<SolverTile> solver_tile_f32_avx512(const FlatModel& f, int nconmax, int njmax) {
  return std::make_unique<SolverTileOf<Packs<float, 16>>>("16 float lanes", f, nconmax, njmax);
}

}  // namespace batchsim

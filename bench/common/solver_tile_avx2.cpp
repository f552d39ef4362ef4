// Solver tiles compiled for AVX2 and FMA.
#define BS_ISA avx2
#include "common/solver_tile_impl.h"

namespace batchsim {

std::unique_ptr<SolverTile> solver_tile_exact(const FlatModel& f, int nconmax, int njmax) {
  return std::make_unique<SolverTileOf<Exact<double>>>("exact double", f, nconmax, njmax);
}
std::unique_ptr<SolverTile> solver_tile_f32_avx2(const FlatModel& f, int nconmax, int njmax) {
  return std::make_unique<SolverTileOf<Packs<float, 8>>>("8 float lanes", f, nconmax, njmax);
}
std::unique_ptr<SolverTile> solver_tile_f64_avx2(const FlatModel& f, int nconmax, int njmax) {
  return std::make_unique<SolverTileOf<Packs<double, 4>>>("4 double lanes", f, nconmax, njmax);
}

}  // namespace batchsim

// A tile of the constraint solver behind an interface: the instruction set is that of the file that makes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/solver_states.h"

namespace batchsim {

struct SolverOutput {
  std::vector<double> qacc, qfrc_constraint;
  int niter = 0, nefc = 0;
  unsigned status = 0;
};
struct TileCounts {
  int slots = 0, rows = 0, limits = 0, friction = 0, nH = 0;  // rows: in J slots, of all lanes
};

class SolverTile {
 public:
  virtual ~SolverTile() = default;
  virtual std::string name() const = 0;
  virtual int width() const = 0;
  virtual void load(int lane, const SolverInput& in) = 0;
  virtual void assemble() = 0;
  virtual void layout() = 0;
  virtual void solve() = 0;  // layout included
  virtual SolverOutput output(int lane) const = 0;
  virtual TileCounts counts() const = 0;
};

std::unique_ptr<SolverTile> solver_tile_exact(const FlatModel& f, int nconmax, int njmax);
std::unique_ptr<SolverTile> solver_tile_f32_avx2(const FlatModel& f, int nconmax, int njmax);
std::unique_ptr<SolverTile> solver_tile_f32_avx512(const FlatModel& f, int nconmax, int njmax);
std::unique_ptr<SolverTile> solver_tile_f64_avx2(const FlatModel& f, int nconmax, int njmax);

}  // namespace batchsim

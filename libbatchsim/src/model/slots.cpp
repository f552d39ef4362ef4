// Default numbers of contact and constraint slots (documented in batchsim/model.h).
//
// Peaks measured over limp falls of bodies with 8, 18 and 52 moving bodies: 12, 18 and 32 contacts, 48, 76 and 260 rows.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/collision/pair_func.h"
#include "model/compile.h"

namespace batchsim {
namespace {

int round_up(long x, int step) { return static_cast<int>((x + step - 1) / step * step); }

int points(int func) { return func == kPlaneCapsule || func == kCapsuleCapsule ? 2 : 1; }

int rows(int dim) { return dim == 1 ? 1 : 2 * (dim - 1); }

}  // namespace

int default_nconmax(const FlatModel& f) {
  // points that a geom has on the ground at once; one where it touches moving geoms only
  std::vector<int> geom_points(f.ngeom, 0);
  long most = 0;
  for (int p = 0; p < f.npair; p++) {
    const bool fixed1 = f.body_lastdof[f.pair_body1[p]] < 0, fixed2 = f.body_lastdof[f.pair_body2[p]] < 0;
    const int n = fixed1 || fixed2 ? points(f.pair_func[p]) : 1;
    if (!fixed1) geom_points[f.pair_geom1[p]] = std::max(geom_points[f.pair_geom1[p]], n);
    if (!fixed2) geom_points[f.pair_geom2[p]] = std::max(geom_points[f.pair_geom2[p]], n);
    most += points(f.pair_func[p]);
  }
  std::vector<int> body_points(f.nbody, 0);
  for (int g = 0; g < f.ngeom; g++) body_points[f.geom_bodyid[g]] += geom_points[g];

  double guess = 6;
  for (int n : body_points) guess += 0.7 * std::sqrt(n);
  const long n = std::min(static_cast<long>(std::ceil(std::min(guess, 1024.0))), most);
  return std::max(8, round_up(n, 8));
}

int default_njmax(const FlatModel& f) {
  int most = 1;
  for (int dim : f.pair_dim) most = std::max(most, rows(dim));
  return std::max(32, round_up(static_cast<long>(default_nconmax(f)) * most + f.nfric + f.nlimit, 32));
}

}  // namespace batchsim

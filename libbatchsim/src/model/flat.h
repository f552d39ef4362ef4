// FlatModel: a compiled model on the host, in double. ModelView: the same arrays as a kernel sees them.
#pragma once

#include <string>
#include <vector>

#include "model/fields.h"

namespace batchsim {

struct FlatModel {
#define X(name, doc) int name = 0;
  BS_MODEL_SIZES(X)
#undef X
  int nbodylevel = 0;                                    ///< levels of the body tree
  int nfreebody = 0;                                     ///< standalone free bodies
#define X(name, rows, cols, doc) std::vector<int> name;  // (rows, cols)
  BS_MODEL_INTS(X)
#undef X
#define X(name, rows, cols, doc) std::vector<double> name;  // (rows, cols)
  BS_MODEL_REALS(X)
#undef X

  // names, for messages and look-up
  std::vector<std::string> body_name, jnt_name, geom_name, site_name, actuator_name, sensor_name, key_name;
};

}  // namespace batchsim

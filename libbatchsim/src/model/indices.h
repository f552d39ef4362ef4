// Whether the indices of an mjModel lead where they should, before anything follows them.
#pragma once

typedef struct mjModel_ mjModel;

namespace batchsim {

/// Throws Error kInput with the first that does not: in a model that was edited by hand or read from a damaged MJB. MuJoCo's own loader
/// looks at part of them.
void check_indices(const mjModel* m);

}  // namespace batchsim

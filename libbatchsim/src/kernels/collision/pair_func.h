// The collision functions, one for each pair of geom types that this physics knows.
#pragma once

namespace batchsim {

enum PairFunc { kPlaneSphere, kPlaneCapsule, kPlaneEllipsoid, kSphereSphere, kSphereCapsule, kCapsuleCapsule, kPairFuncCount };

}  // namespace batchsim

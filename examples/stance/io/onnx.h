// A policy for other programs: its normaliser and actor as an ONNX model.
#pragma once

#include <string>

#include "policy.h"

namespace stance {

/// Input "observation" (batch, nobs), raw; output "action" (batch, nact), the mean action, not clipped; float32, opset 13. layout:
/// what the numbers of observations and actions are, in words; it goes to the model's metadata, beside the body. Throws
/// batchsim::Error for a policy whose sizes do not fit together or that has values that are not finite in float, and if the file
/// cannot be written.
void export_onnx(const std::string& path, const Policy& policy, const std::string& layout);

}  // namespace stance

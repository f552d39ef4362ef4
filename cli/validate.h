// The parts of `batchsim validate`.
#pragma once

#include <string>

#include "common/case_replay.h"
#include "common/json.h"
#include "common/validate.h"

// tables on stdout, and the same as JSON
batchsim::tools::Json show(const batchsim::tools::OpenLoop& r, const batchsim::tools::ValidateOptions& o);
batchsim::tools::Json show(const batchsim::tools::Resync& r, const batchsim::tools::ValidateOptions& o);

batchsim::tools::Json show(const batchsim::tools::CaseReplay& r, const std::string& path,
                           const batchsim::tools::ValidateOptions& o);

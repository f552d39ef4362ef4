// batchsim: steps thousands of MuJoCo worlds at once.
#pragma once

#include "batchsim/batch.h"
#include "batchsim/error.h"
#include "batchsim/model.h"

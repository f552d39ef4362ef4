#pragma once

#include <string>

namespace batchsim {

std::string fields_markdown();  // the text of docs/fields.md

}  // namespace batchsim

// Where the committed bodies are: beside the program, installed, or in the source tree.
#pragma once

#include <string>

namespace batchsim::tools {

/// The path of models/NAME; dir: look only there. Error kInput with the folders tried.
std::string find_model(const std::string& name, const std::string& dir = "");

}  // namespace batchsim::tools

// Where the committed bodies are: beside the program, installed, or in the source tree.
#pragma once

#include <string>

namespace batchsim::tools {

/// The path of models/NAME; dir: look only there. Error kInput with the folders tried.
std::string find_model(const std::string& name, const std::string& dir = "");

/// The path of what an argument names: a file, or one of the bodies stick, simple, muscular, muscular_full. Error kInput if neither.
std::string model_path(const std::string& name);

}  // namespace batchsim::tools

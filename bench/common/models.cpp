#include "common/models.h"

#include <filesystem>
#include <vector>

#include "batchsim/error.h"

namespace batchsim::tools {

std::string find_model(const std::string& name, const std::string& dir) {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders;
  if (!dir.empty()) {
    folders.push_back(dir);
  } else {
    std::error_code e;
    const fs::path program = fs::read_symlink("/proc/self/exe", e).parent_path();
    folders = {program / "models", program / "../share/batchsim/models", fs::path(__FILE__).parent_path() / "../../models"};
  }
  std::string tried;
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / name)) return fs::canonical(folder / name).string();
    tried += (tried.empty() ? "'" : ", '") + folder.lexically_normal().string() + "'";
  }
  throw Error(Error::kInput, "there is no " + name + " in " + tried + "; give its folder with --models DIR");
}

std::string model_path(const std::string& name) {
  if (std::filesystem::is_regular_file(name)) return name;
  for (const char* body : {"stick", "simple", "muscular", "muscular_full"})
    if (name == body) return find_model(name + ".xml");
  throw Error(Error::kInput, "model is '" + name + "'; it can be a file, or stick, simple, muscular or muscular_full");
}

}  // namespace batchsim::tools

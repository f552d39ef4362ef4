// OpenGL without a display: through EGL, on a GPU or on the CPU, or through OSMesa.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace stance {

class GlPlatform;
struct GlAttempt;

/// A context is current in the thread that made it so.
class GlContext {
 public:
  /// A context that MuJoCo can render with, made current. Error(kDevice) if there is none, with all that was tried and what to
  /// install. The environment variable MUJOCO_GL, as for MuJoCo's Python package, keeps it to one way: egl or osmesa.
  GlContext();
  ~GlContext();
  GlContext(const GlContext&) = delete;
  GlContext& operator=(const GlContext&) = delete;

  /// Error(kDevice) if it cannot be.
  void make_current();
  /// such as "EGL device 0: llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5 (Compatibility Profile) Mesa 22.3.6"
  const std::string& describe() const { return description_; }

 private:
  bool take_first(const std::vector<GlAttempt>& attempts, std::string& tried);

  std::unique_ptr<GlPlatform> platform_;
  std::string description_;
};

}  // namespace stance

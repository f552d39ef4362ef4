#include "record/gl_context.h"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "batchsim/error.h"
#include "record/gl_platforms.h"

namespace stance {

using batchsim::Error;

GlLibrary::GlLibrary(std::vector<const char*> names) {
  for (const char* name : names) {
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_) {
      name_ = name;
      return;
    }
    error_ += (error_.empty() ? "" : "; ") + std::string(dlerror());
  }
}

void GlLibrary::show() const { dlopen(name_, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD); }

void* GlLibrary::find(const char* symbol) const {
  void* p = dlsym(handle_, symbol);
  if (!p) throw std::runtime_error(std::string(name_) + " has no " + symbol);
  return p;
}

namespace {

constexpr unsigned kGlRenderer = 0x1f01, kGlVersion = 0x1f02, kGlExtensions = 0x1f03;

// OpenGL's answer, or why this context will not do: MuJoCo ends the program where it lacks something
std::string check(const GlPlatform& platform) {
  const auto get_string = reinterpret_cast<const unsigned char* (*)(unsigned)>(platform.function("glGetString"));
  const auto text = [&](unsigned what) {
    const unsigned char* s = get_string ? get_string(what) : nullptr;
    return s ? std::string(reinterpret_cast<const char*>(s)) : std::string();
  };
  const std::string version = text(kGlVersion), renderer = text(kGlRenderer), extensions = " " + text(kGlExtensions) + " ";
  if (version.rfind("OpenGL ES", 0) == 0 || std::atof(version.c_str()) < 1.5)
    throw std::runtime_error("its OpenGL is '" + version + "'; 1.5 or newer is needed");
  // a core profile, which lacks the old functions that MuJoCo draws with, gives no list here
  for (const char* needed : {"GL_ARB_framebuffer_object", "GL_ARB_vertex_buffer_object"})
    if (extensions.find(std::string(" ") + needed + " ") == std::string::npos)
      throw std::runtime_error("OpenGL " + version + " of " + renderer + " has no " + needed);
  return renderer + ", OpenGL " + version;
}

}  // namespace

GlContext::GlContext() {
  const char* set = std::getenv("MUJOCO_GL");
  const std::string only = set ? set : "";
  if (!only.empty() && only != "egl" && only != "osmesa")
    throw Error(Error::kInput, "MUJOCO_GL is '" + only + "'; set it to egl or osmesa, or unset it to try both");
  std::string tried;
  if (only != "osmesa" && take_first(egl_attempts(), tried)) return;
  if (only != "egl" && take_first(osmesa_attempts(), tried)) return;
  throw Error(Error::kDevice, "no OpenGL to render with:" + tried +
                                  "\non Debian and Ubuntu install libegl1 and libgl1-mesa-dri, or libosmesa6" +
                                  (only.empty() ? "" : "; or unset MUJOCO_GL, which is '" + only + "'"));
}

bool GlContext::take_first(const std::vector<GlAttempt>& attempts, std::string& tried) {
  for (const GlAttempt& attempt : attempts) {
    try {
      platform_ = attempt.make();
      description_ = attempt.name + ": " + check(*platform_);
      platform_->show();
      return true;
    } catch (const std::runtime_error& e) {
      platform_.reset();
      tried += "\n  " + attempt.name + ": " + e.what();
    }
  }
  return false;
}

GlContext::~GlContext() = default;

void GlContext::make_current() {
  try {
    platform_->make_current();
  } catch (const std::runtime_error& e) {
    throw Error(Error::kDevice, description_ + ": " + e.what() + "; use a context in one thread at a time");
  }
}

}  // namespace stance

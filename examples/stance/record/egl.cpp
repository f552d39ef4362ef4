// EGL, by hand: neither its header nor its library is needed to build.
#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "record/gl_platforms.h"

namespace stance {
namespace {

using Handle = void*;  // EGLDisplay, EGLContext, EGLSurface, EGLConfig, EGLDeviceEXT
using Int = int32_t;

constexpr unsigned kOpenGlApi = 0x30a2, kPlatformDevice = 0x313f, kPlatformSurfaceless = 0x31dd;
constexpr Int kNone = 0x3038, kExtensions = 0x3055, kSurfaceType = 0x3033, kPbufferBit = 1, kRenderableType = 0x3040,
              kOpenGlBit = 8, kRedSize = 0x3024, kGreenSize = 0x3023, kBlueSize = 0x3022, kWidth = 0x3057, kHeight = 0x3056;

std::string hex(Int x) {
  char s[16];
  std::snprintf(s, sizeof s, "0x%x", static_cast<unsigned>(x));
  return s;
}

struct Egl {
  GlLibrary shared_object{{"libEGL.so.1", "libEGL.so"}};
  Int (*get_error)();
  Handle (*get_display)(Handle);
  unsigned (*initialize)(Handle, Int*, Int*);
  const char* (*query_string)(Handle, Int);
  unsigned (*bind_api)(unsigned);
  unsigned (*choose_config)(Handle, const Int*, Handle*, Int, Int*);
  Handle (*create_context)(Handle, Handle, Handle, const Int*);
  unsigned (*destroy_context)(Handle, Handle);
  Handle (*create_pbuffer)(Handle, Handle, const Int*);
  unsigned (*destroy_surface)(Handle, Handle);
  unsigned (*make_current)(Handle, Handle, Handle, Handle);
  Handle (*get_current_context)();
  void* (*get_proc_address)(const char*);

  std::string missing;  // why it cannot be used; empty: it can

  Egl() {
    if (!shared_object)
      missing = shared_object.error();
    else
      try {
        load();
      } catch (const std::runtime_error& e) { missing = e.what(); }
  }
  void load() {
    shared_object.get(get_error, "eglGetError");
    shared_object.get(get_display, "eglGetDisplay");
    shared_object.get(initialize, "eglInitialize");
    shared_object.get(query_string, "eglQueryString");
    shared_object.get(bind_api, "eglBindAPI");
    shared_object.get(choose_config, "eglChooseConfig");
    shared_object.get(create_context, "eglCreateContext");
    shared_object.get(destroy_context, "eglDestroyContext");
    shared_object.get(create_pbuffer, "eglCreatePbufferSurface");
    shared_object.get(destroy_surface, "eglDestroySurface");
    shared_object.get(make_current, "eglMakeCurrent");
    shared_object.get(get_current_context, "eglGetCurrentContext");
    shared_object.get(get_proc_address, "eglGetProcAddress");
  }
  template <class Function>
  Function* extension(const char* name) const {
    return reinterpret_cast<Function*>(get_proc_address(name));
  }
  // of the library, or of a display
  bool has(Handle display, const std::string& name) const {
    const char* all = query_string(display, kExtensions);
    return all && (" " + std::string(all) + " ").find(" " + name + " ") != std::string::npos;
  }
  [[noreturn]] void fail(const char* call) const {
    throw std::runtime_error(std::string(call) + " failed (" + hex(get_error()) + ")");
  }
};

class EglContext : public GlPlatform {
 public:
  EglContext(const Egl& egl, Handle display) : egl_(egl), display_(display) {
    if (!display) egl.fail("getting the display");
    // never terminated: another context may use this display, and there is one of it in a program
    if (!egl.initialize(display, nullptr, nullptr)) egl.fail("eglInitialize");
    if (!egl.bind_api(kOpenGlApi)) egl.fail("eglBindAPI for OpenGL");

    const Int wish[] = {kSurfaceType, kPbufferBit, kRenderableType, kOpenGlBit, kRedSize, 8, kGreenSize, 8, kBlueSize, 8, kNone};
    Handle config = nullptr;
    Int found = 0;
    if (!egl.choose_config(display, wish, &config, 1, &found) || found < 1)
      throw std::runtime_error("there is no configuration with OpenGL and pbuffers");
    // without attributes it is the compatibility profile, with the old functions that MuJoCo draws with
    context_ = egl.create_context(display, config, nullptr, nullptr);
    if (!context_) egl.fail("eglCreateContext");
    // MuJoCo renders into a buffer of its own: the surface is only there to have one, and some displays have none
    const Int size[] = {kWidth, 16, kHeight, 16, kNone};
    surface_ = egl.create_pbuffer(display, config, size);
    try {
      make_current();
    } catch (...) {
      release();
      throw;
    }
  }
  ~EglContext() override { release(); }

  void make_current() override {
    // the API is a setting of the thread
    if (!egl_.bind_api(kOpenGlApi)) egl_.fail("eglBindAPI for OpenGL");
    if (!egl_.make_current(display_, surface_, surface_, context_)) egl_.fail("eglMakeCurrent");
  }
  void* function(const char* name) const override { return egl_.get_proc_address(name); }
  void show() const override { egl_.shared_object.show(); }

 private:
  void release() {
    if (egl_.get_current_context() == context_) egl_.make_current(display_, nullptr, nullptr, nullptr);
    if (surface_) egl_.destroy_surface(display_, surface_);
    egl_.destroy_context(display_, context_);
  }

  const Egl& egl_;
  Handle display_, context_ = nullptr, surface_ = nullptr;
};

// displays of GPUs come before those that render on the CPU
std::vector<std::pair<std::string, std::function<Handle()>>> displays(const Egl& egl) {
  std::vector<std::pair<std::string, std::function<Handle()>>> all;
  using GetPlatformDisplay = Handle(unsigned, void*, const Int*);
  using QueryDevices = unsigned(Int, Handle*, Int*);
  auto* get_platform_display = egl.extension<GetPlatformDisplay>("eglGetPlatformDisplayEXT");
  auto* query_devices = egl.extension<QueryDevices>("eglQueryDevicesEXT");
  if (get_platform_display && query_devices && egl.has(nullptr, "EGL_EXT_platform_device")) {
    std::array<Handle, 64> device{};
    Int n = 0;
    if (query_devices(static_cast<Int>(device.size()), device.data(), &n))
      for (Int i = 0; i < n; i++)
        all.push_back(
            {"EGL device " + std::to_string(i), [=, d = device[i]] { return get_platform_display(kPlatformDevice, d, nullptr); }});
  }
  if (get_platform_display && egl.has(nullptr, "EGL_MESA_platform_surfaceless"))
    all.push_back({"EGL surfaceless", [=] { return get_platform_display(kPlatformSurfaceless, nullptr, nullptr); }});
  all.push_back({"EGL default display", [&egl] { return egl.get_display(nullptr); }});
  return all;
}

}  // namespace

std::vector<GlAttempt> egl_attempts() {
  static const Egl egl;
  if (!egl.missing.empty()) return {{"EGL", []() -> std::unique_ptr<GlPlatform> { throw std::runtime_error(egl.missing); }}};
  std::vector<GlAttempt> attempts;
  for (const auto& [name, display] : displays(egl))
    attempts.push_back({name, [display = display] { return std::make_unique<EglContext>(egl, display()); }});
  return attempts;
}

}  // namespace stance

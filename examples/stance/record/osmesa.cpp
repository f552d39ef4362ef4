// OSMesa: Mesa's OpenGL on the CPU, into memory.
#include <array>
#include <stdexcept>

#include "record/gl_platforms.h"

namespace stance {
namespace {

using Context = void*;
constexpr unsigned kRgba = 0x1908, kUnsignedByte = 0x1401;

struct OsMesa {
  GlLibrary shared_object{{"libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"}};
  Context (*create_context)(unsigned format, int depth, int stencil, int accumulation, Context shared);
  void (*destroy_context)(Context);
  unsigned char (*make_current)(Context, void* buffer, unsigned type, int width, int height);
  void* (*get_proc_address)(const char*);

  std::string missing;  // why it cannot be used; empty: it can

  OsMesa() {
    if (!shared_object)
      missing = shared_object.error();
    else
      try {
        load();
      } catch (const std::runtime_error& e) { missing = e.what(); }
  }
  void load() {
    shared_object.get(create_context, "OSMesaCreateContextExt");
    shared_object.get(destroy_context, "OSMesaDestroyContext");
    shared_object.get(make_current, "OSMesaMakeCurrent");
    shared_object.get(get_proc_address, "OSMesaGetProcAddress");
  }
};

class OsMesaContext : public GlPlatform {
 public:
  explicit OsMesaContext(const OsMesa& osmesa) : osmesa_(osmesa), context_(osmesa.create_context(kRgba, 24, 8, 0, nullptr)) {
    if (!context_) throw std::runtime_error("OSMesaCreateContextExt failed");
    try {
      make_current();
    } catch (...) {
      osmesa.destroy_context(context_);
      throw;
    }
  }
  ~OsMesaContext() override { osmesa_.destroy_context(context_); }

  void make_current() override {
    if (!osmesa_.make_current(context_, buffer_.data(), kUnsignedByte, kSide, kSide))
      throw std::runtime_error("OSMesaMakeCurrent failed");
  }
  void* function(const char* name) const override { return osmesa_.get_proc_address(name); }
  void show() const override { osmesa_.shared_object.show(); }

 private:
  static constexpr int kSide = 16;
  const OsMesa& osmesa_;
  Context context_;
  // what the context must have; MuJoCo renders into a buffer of its own
  std::array<unsigned char, size_t(4) * kSide * kSide> buffer_{};
};

}  // namespace

std::vector<GlAttempt> osmesa_attempts() {
  static const OsMesa osmesa;
  return {{"OSMesa", []() -> std::unique_ptr<GlPlatform> {
             if (!osmesa.missing.empty()) throw std::runtime_error(osmesa.missing);
             return std::make_unique<OsMesaContext>(osmesa);
           }}};
}

}  // namespace stance

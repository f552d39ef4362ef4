// The ways to a context, and what they share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace stance {

/// One of the ways to a context. What fails throws std::runtime_error.
class GlPlatform {
 public:
  virtual ~GlPlatform() = default;
  virtual void make_current() = 0;
  /// a function of OpenGL
  virtual void* function(const char* name) const = 0;
  /// MuJoCo finds its functions from here on
  virtual void show() const = 0;
};

/// makes a current context, or throws std::runtime_error
struct GlAttempt {
  std::string name;
  std::function<std::unique_ptr<GlPlatform>()> make;
};

/// In the order to try. Without the library it is one attempt that tells so.
std::vector<GlAttempt> egl_attempts();
std::vector<GlAttempt> osmesa_attempts();

/// A shared library that stays for the life of the program, as the functions MuJoCo takes from it do.
class GlLibrary {
 public:
  /// The first of these that loads; its symbols are not seen by others.
  explicit GlLibrary(std::vector<const char*> names);
  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& error() const { return error_; }

  /// Its symbols become visible: MuJoCo looks among the program's for eglGetProcAddress, then for OSMesaGetProcAddress.
  void show() const;

  /// Throws std::runtime_error if it is missing.
  template <class Function>
  void get(Function*& f, const char* symbol) const {
    f = reinterpret_cast<Function*>(find(symbol));
  }

 private:
  void* find(const char* symbol) const;

  void* handle_ = nullptr;
  const char* name_ = "";
  std::string error_;
};

}  // namespace stance

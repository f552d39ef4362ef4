#include "common/host_rows.h"

#include <algorithm>
#include <cstring>
#ifdef BATCHSIM_CUDA
#include <cuda_runtime.h>
#endif

namespace batchsim::tools {
namespace {

// rows of n bytes between host and batch
void copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t n, int rows, bool device) {
  if (!n) return;
#ifdef BATCHSIM_CUDA
  if (device) {
    if (const cudaError_t e = cudaMemcpy2D(to, to_pitch, from, from_pitch, n, rows, cudaMemcpyDefault); e != cudaSuccess)
      throw Error(Error::kDevice, std::string("cudaMemcpy2D: ") + cudaGetErrorString(e));
    return;
  }
#endif
  (void)device;
  for (int r = 0; r < rows; r++)
    std::memcpy(static_cast<char*>(to) + r * to_pitch, static_cast<const char*>(from) + r * from_pitch, n);
}

bool on_device(const Batch& b) { return b.options().device.rfind("cuda", 0) == 0; }

template <class T>
void write(Batch& b, const std::string& field, const std::vector<double>& values) {
  const View<T> v = b.bind<T>(field);
  if (values.size() != size_t(v.nworld) * v.size)
    throw Error(Error::kInput, field + ": " + std::to_string(values.size()) + " values given, there are " +
                                   std::to_string(size_t(v.nworld) * v.size));
  const std::vector<T> x(values.begin(), values.end());
  copy_rows(v.data, v.stride * sizeof(T), x.data(), v.size * sizeof(T), v.size * sizeof(T), v.nworld, on_device(b));
}

template <class T, class Out>
std::vector<Out> read(Batch& b, const std::string& field) {
  b.synchronize();
  const View<T> v = b.bind<T>(field);
  std::vector<T> x(size_t(v.nworld) * v.size);
  copy_rows(x.data(), v.size * sizeof(T), v.data, v.stride * sizeof(T), v.size * sizeof(T), v.nworld, on_device(b));
  return {x.begin(), x.end()};
}

}  // namespace

int HostRows::size(const std::string& field) {
  return batch_.options().precision == Precision::f32 ? batch_.bind<float>(field).size : batch_.bind<double>(field).size;
}

void HostRows::set(const std::string& field, const std::vector<double>& values) {
  if (batch_.options().precision == Precision::f32)
    write<float>(batch_, field, values);
  else
    write<double>(batch_, field, values);
}

std::vector<double> HostRows::get(const std::string& field) {
  return batch_.options().precision == Precision::f32 ? read<float, double>(batch_, field) : read<double, double>(batch_, field);
}
std::vector<int> HostRows::get_ints(const std::string& field) { return read<int, int>(batch_, field); }

void HostRows::start(const Scene& scene) {
  batch_.reset();
  set("qpos", scene.qpos);
  set("qvel", scene.qvel);
  set("act", scene.act);
  set("qacc_warmstart", scene.warmstart);
  pushing_ = false;
}

void HostRows::apply(const Scene& scene, int step) {
  if (step % scene.hold == 0) {
    std::vector<double> u(size_t(scene.nworld) * scene.nu);
    for (int w = 0; w < scene.nworld; w++) std::copy_n(scene.ctrl_at(step, w), scene.nu, u.data() + size_t(w) * scene.nu);
    set("ctrl", u);
  }
  const bool push = scene.push_body && scene.push_at(step, 0);
  if (push == pushing_) return;
  pushing_ = push;
  const int n = 6 * batch_.model().nbody();
  std::vector<double> f(size_t(scene.nworld) * n);
  for (int w = 0; push && w < scene.nworld; w++) std::copy_n(scene.push_at(step, w), 3, &f[size_t(w) * n + 6 * scene.push_body]);
  set("xfrc_applied", f);
}

}  // namespace batchsim::tools

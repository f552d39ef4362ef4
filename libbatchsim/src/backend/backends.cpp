#include "backend/backends.h"

#include <sstream>

#include "backend/check/check.h"
#include "backend/cpu/cpu.h"
#ifdef BATCHSIM_CUDA
#include "backend/cuda/cuda.h"
#endif
#include "world/memory.h"

namespace batchsim {
namespace {

// the ordinal of "cuda" or "cuda:N"; -1: another device
int cuda_ordinal(const std::string& device) {
  if (device == "cuda") return 0;
  if (device.rfind("cuda:", 0) != 0) return -1;
  const std::string n = device.substr(5);
  if (n.empty() || n.size() > 3 || n.find_first_not_of("0123456789") != std::string::npos)
    throw Error(Error::kInput, "device is '" + device + "'; a CUDA device is cuda:N with a number N");
  return std::stoi(n);
}

}  // namespace

std::unique_ptr<Engine> make_engine(const Model& model, const BatchOptions& o) {
  size_t bytes = 0;
  for (const auto& use : estimate_memory(model, o)) bytes += use.bytes;
  const EngineOptions e{o.nworld, o.nconmax, o.njmax, o.nthread};

  if (cuda_ordinal(o.device) >= 0) {
#ifdef BATCHSIM_CUDA
    return make_cuda(model.flat(), e, o.precision, cuda_ordinal(o.device));
#else
    throw Error(Error::kDevice, "device is '" + o.device +
                                    "', but this build of batchsim has no CUDA backend; build it with nvcc, or use device cpu");
#endif
  }
  if (o.device != "cpu" && o.device != "check")
    throw Error(Error::kInput, "device is '" + o.device + "'; allowed are cpu, cuda, cuda:N and check");
  if (bytes > free_memory()) throw Error(Error::kCapacity, out_of_memory(bytes));
  if (o.device == "check") {
    if (o.precision != Precision::f64) throw Error(Error::kInput, "device check computes in f64; set precision to f64");
    return make_check(model.flat(), e);
  }
  return make_cpu(model.flat(), e, o.precision);
}

std::vector<MemoryUse> estimate_memory(const Model& model, const BatchOptions& o) {
  const FlatModel& f = model.flat();
  const size_t real = o.precision == Precision::f32 ? 4 : 8, n = size_t(o.nworld);
  std::vector<MemoryUse> uses;
  const Sizes z(f, o.nconmax, o.njmax, 1, o.device == "cpu" ? 8 : 64);
  size_t state = 0;
#define X(name, size, doc) state += size_t(size) * real;
  BS_STATE_FIELDS(X)
#undef X
#define X(name, size, doc) state += sizeof(int);
  BS_STATE_INTS(X)
#undef X
  uses.push_back({"state", state, state * n});
  size_t model_bytes = 0;
#define X(name, rows, cols, doc) model_bytes += f.name.size() * sizeof(int);
  BS_MODEL_INTS(X)
#undef X
#define X(name, rows, cols, doc) model_bytes += f.name.size() * real;
  BS_MODEL_REALS(X)
#undef X
  uses.push_back({"model", 0, model_bytes});
  if (o.device == "cpu" || o.device == "check") {
    // scratch is a tile's, one a thread; slots count as far as they can be touched by one world in every lane
    const int width = o.device == "cpu" ? cpu_tile_width(o.precision) : 1;
    const TileLayout<Exact<double>> layout(z);
    const size_t tile = layout.bytes / 8 * real * width;
    uses.push_back({kThreadScratch, 0, tile * size_t(o.nthread)});
  } else {
    const TileLayout<Exact<double>> layout(z);
    const size_t scale = real;
    uses.push_back({"derived fields", (layout.bytes - layout.contacts - layout.rows) / 8 * scale,
                    (layout.bytes - layout.contacts - layout.rows) / 8 * scale * n});
    uses.push_back({"contact slots", layout.contacts / 8 * scale, layout.contacts / 8 * scale * n});
    uses.push_back({"constraint row slots", layout.rows / 8 * scale, layout.rows / 8 * scale * n});
  }
  return uses;
}

}  // namespace batchsim

#include "backend/cpu/cpu.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace batchsim {
namespace {

enum Isa { kBaseline, kAvx2, kAvx512 };

Isa best_isa() {
#ifdef BATCHSIM_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw"))
    return kAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kAvx2;
#endif
  return kBaseline;
}

Isa chosen_isa() {
  const char* env = std::getenv("BATCHSIM_ISA");
  const Isa best = best_isa();
  if (!env || !*env) return best;
  const std::string name = env;
  const Isa isa = name == "baseline" ? kBaseline : name == "avx2" ? kAvx2 : name == "avx512" ? kAvx512 : Isa(-1);
  if (isa == Isa(-1)) throw Error(Error::kInput, "BATCHSIM_ISA is '" + name + "'; allowed are baseline, avx2, avx512");
  if (isa > best) throw Error(Error::kDevice, "BATCHSIM_ISA is '" + name + "', which this processor does not have; unset it");
  return isa;
}

}  // namespace

int cpu_tile_width(Precision precision) {
  if (precision == Precision::f64) return 1;
  const int width[] = {4, 8, 16};
  return width[chosen_isa()];
}

std::unique_ptr<Engine> make_cpu(const FlatModel& m, const EngineOptions& o, Precision precision) {
  if (precision == Precision::f64) return make_exact(m, o);
  switch (chosen_isa()) {
#ifdef BATCHSIM_X86
    case kAvx512: return make_avx512(m, o);
    case kAvx2: return make_avx2(m, o);
#endif
    default: return make_baseline(m, o);
  }
}

size_t free_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("MemAvailable:", 0) == 0) return std::strtoull(line.c_str() + 13, nullptr, 10) * 1024;
  return ~size_t(0);
}

std::string out_of_memory(size_t bytes) {
  std::ostringstream s;
  s << "not enough memory: " << (bytes >> 20) << " MiB needed, " << (free_memory() >> 20)
    << " MiB free; use fewer worlds or smaller nconmax, njmax";
  return s.str();
}

}  // namespace batchsim

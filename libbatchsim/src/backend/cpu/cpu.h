// CPU engines, one maker an instruction set; cpu.cpp chooses.
#pragma once

#include <memory>
#include <string>

#include "batchsim/batch.h"
#include "model/flat.h"
#include "world/engine.h"

namespace batchsim {

struct EngineOptions {
  int nworld, nconmax, njmax, nthread;
};

std::unique_ptr<Engine> make_exact(const FlatModel& m, const EngineOptions& o);
std::unique_ptr<Engine> make_baseline(const FlatModel& m, const EngineOptions& o);
std::unique_ptr<Engine> make_avx2(const FlatModel& m, const EngineOptions& o);
std::unique_ptr<Engine> make_avx512(const FlatModel& m, const EngineOptions& o);

// the engine for a precision: exact for f64, packs of the best instruction set for f32; BATCHSIM_ISA=baseline|avx2|avx512 forces one
std::unique_ptr<Engine> make_cpu(const FlatModel& m, const EngineOptions& o, Precision precision);
int cpu_tile_width(Precision precision);

std::string out_of_memory(size_t bytes);  // message: needed and free
size_t free_memory();                     // bytes, what the system could give

}  // namespace batchsim

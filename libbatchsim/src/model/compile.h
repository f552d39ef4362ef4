// The model compiler: mjModel -> FlatModel.
#pragma once

#include <mujoco/mujoco.h>

#include <string>
#include <vector>

#include "model/flat.h"

namespace batchsim {

// candidate pairs that one model may have; an entry takes some 170 bytes here and 110 on a float device
inline constexpr long kMaxPair = 4'000'000;

/// Throws Error (kUnsupported, kCapacity); `source` names the model in the message.
FlatModel compile(const mjModel* m, const std::string& source = "mjModel");

// its parts
void build_tree(const mjModel* m, FlatModel& f);   // tree.cpp: levels and chains
void build_segments(FlatModel& f);                 // segments.cpp: panels of M, what a team does at each height
void build_pairs(const mjModel* m, FlatModel& f);  // pairs.cpp: candidate geom pairs, contact parameters
int default_nconmax(const FlatModel& f);           // slots.cpp; as in batchsim/model.h
int default_njmax(const FlatModel& f);

/// The name of an element for messages: joint "knee"; joint 3 of body "shank" where it has none.
std::string element(const mjModel* m, int objtype, int id);

/// What looks like a mistake, though MuJoCo says nothing.
std::vector<std::string> warnings(const mjModel* m);

}  // namespace batchsim

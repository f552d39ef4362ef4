// The tile of solver_tile.h for a backend B.
#pragma once

#include <cstdlib>
#include <cstring>

#include "common/solver_tile.h"
#include "kernels/solver.h"
#include "model/view_builder.h"
#include "world/memory.h"

namespace batchsim {
inline namespace BS_ISA {

// one world's solver input into a lane
template <class B>
void load_lane(const StateView<B>& d, int l, const SolverInput& in) {
  const auto put = [&](const typename B::RealRow& row, const std::vector<double>& from) {
    for (size_t i = 0; i < from.size(); i++) B::set(row, int(i), l, typename B::Scalar(from[i]));
  };
  put(d.qpos, in.qpos), put(d.qvel, in.qvel), put(d.cvel, in.cvel), put(d.subtree_com, in.subtree_com);
  put(d.cinert, in.cinert), put(d.cdof, in.cdof), put(d.M, in.M);
  put(d.qacc_smooth, in.qacc_smooth), put(d.qfrc_smooth, in.qfrc_smooth), put(d.qacc_warmstart, in.qacc_warmstart);
  put(d.con_dist, in.con_dist), put(d.con_frame, in.con_frame);
  for (size_t i = 0; i < in.con_pos.size(); i++) {
    const auto rounded = typename B::Scalar(in.con_pos[i]);
    B::set(d.con_pos, int(i), l, rounded), B::set(d.con_pos_lo, int(i), l, typename B::Scalar(in.con_pos[i] - rounded));
  }
  B::at(d.ncon, 0, l) = int(in.con_pair.size());
  B::at(d.status, 0, l) = 0;
  for (size_t c = 0; c < in.con_pair.size(); c++) B::at(d.con_pair, int(c), l) = in.con_pair[c];
}

template <class B>
class SolverTileOf : public SolverTile {
 public:
  SolverTileOf(const char* name, const FlatModel& f, int nconmax, int njmax)
      : name_(name),
        z_(f, nconmax, njmax, B::width, B::chunk),
        model_(f),
        layout_(z_),
        memory_(std::aligned_alloc(64, layout_.bytes)) {
    std::memset(memory_, 0, layout_.bytes);
    d_ = layout_.view(z_, static_cast<char*>(memory_));
  }
  ~SolverTileOf() override { std::free(memory_); }
  SolverTileOf(const SolverTileOf&) = delete;

  std::string name() const override { return name_; }
  int width() const override { return B::width; }
  void load(int l, const SolverInput& in) override { load_lane<B>(d_, l, in); }
  void assemble() override { make_constraint(Team<B>{}, model_.view(), d_); }
  void layout() override { solver_layout(Team<B>{}, model_.view(), d_); }
  void solve() override { solver(Team<B>{}, model_.view(), d_); }
  SolverOutput output(int l) const override {
    SolverOutput o;
    for (int i = 0; i < z_.nv; i++)
      o.qacc.push_back(B::get(d_.qacc, i, l)), o.qfrc_constraint.push_back(B::get(d_.qfrc_constraint, i, l));
    o.niter = d_.solver_niter(0, l), o.nefc = d_.nefc(0, l), o.status = unsigned(d_.status(0, l));
    return o;
  }
  TileCounts counts() const override {
    TileCounts c;
    c.slots = d_.solver_n[kSlotCount], c.limits = d_.solver_n[kLimitCount], c.friction = d_.solver_n[kFrictionCount];
    c.nH = d_.elim_rowadr[z_.nv];
    for (int s = 0; s < c.slots; s++)
      for (int l = 0; l < B::width; l++) c.rows += d_.slot_src(s, l) >= 0;
    return c;
  }

 private:
  std::string name_;
  Sizes z_;
  HostModel<B> model_;
  TileLayout<B> layout_;
  void* memory_;
  StateView<B> d_;
};

}  // namespace BS_ISA
}  // namespace batchsim

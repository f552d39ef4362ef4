#include "common/peers.h"

#include <mujoco/mjbatch.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "common/host_rows.h"

namespace batchsim::tools {
namespace {

class Batchsim : public Peer {
 public:
  Batchsim(Batch& batch, const std::string& name) : batch_(batch), rows_(batch), name_(name) {}
  std::string name() const override { return name_; }
  void start(const Scene& scene) override { rows_.start(scene); }
  void set_ctrl(const std::vector<double>& ctrl) override { rows_.set("ctrl", ctrl); }
  void step(int nstep) override {
    batch_.step(nstep);
    batch_.synchronize();
  }
  std::vector<double> qpos() override { return rows_.get("qpos"); }

 private:
  Batch& batch_;
  HostRows rows_;
  std::string name_;
};

class MjBatch : public Peer {
 public:
  MjBatch(const mjModel* m, int nworld, int nthread, bool persistent) : nworld_(nworld), persistent_(persistent) {
    mjBatchConfig config;
    mjb_defaultConfig(&config);
    config.nthread = nthread;
    config.persistent = persistent;
    char error[1000] = "";
    batch_.reset(mjb_makeBatch(m, nworld, &config, error, sizeof error));
    if (!batch_) throw Error(Error::kCapacity, std::string("mjb_makeBatch: ") + error);
  }
  std::string name() const override { return persistent_ ? "mjBatch, persistent" : "mjBatch"; }
  void start(const Scene& scene) override {
    mjb_reset(batch_.get(), nullptr, 0, nullptr, mjSTAGE_NONE);
    write(mjSTATE_QPOS, scene.qpos);
    write(mjSTATE_QVEL, scene.qvel);
    if (scene.na) write(mjSTATE_ACT, scene.act);
    write(mjSTATE_WARMSTART, scene.warmstart);
  }
  void set_ctrl(const std::vector<double>& ctrl) override {
    if (!ctrl.empty()) write(mjSTATE_CTRL, ctrl);
  }
  void step(int nstep) override {
    if (const int failed = mjb_step(batch_.get(), nullptr, 0, nstep, mjSTAGE_NONE))
      throw Error(Error::kInput, "mjBatch: " + std::to_string(failed) + " simulations failed");
  }
  std::vector<double> qpos() override {
    int n = 0;
    const mjtNum* p = mjb_stateComponent(batch_.get(), mjSTATE_QPOS, &n);
    std::vector<double> v(size_t(nworld_) * n);
    for (int w = 0; w < nworld_; w++) std::copy_n(p + size_t(w) * mjb_nstate(batch_.get()), n, &v[size_t(w) * n]);
    return v;
  }

 private:
  void write(int component, const std::vector<double>& values) {
    int n = 0;
    mjtNum* p = mjb_stateComponent(batch_.get(), component, &n);
    for (int w = 0; w < nworld_; w++) std::copy_n(values.data() + size_t(w) * n, n, p + size_t(w) * mjb_nstate(batch_.get()));
  }

  struct Free {
    void operator()(mjBatch* b) const { mjb_deleteBatch(b); }
  };
  int nworld_;
  bool persistent_;
  std::unique_ptr<mjBatch, Free> batch_;
};

}  // namespace

std::unique_ptr<Peer> batchsim_peer(Batch& batch, const std::string& name) { return std::make_unique<Batchsim>(batch, name); }
std::unique_ptr<Peer> mjbatch_peer(const mjModel* m, int nworld, int nthread, bool persistent) {
  return std::make_unique<MjBatch>(m, nworld, nthread, persistent);
}

Timing clock_now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
          double(t.tv_sec) + 1e-9 * double(t.tv_nsec)};
}

Timing timed_run(Peer& peer, const Scene& scene, int nstep) {
  peer.start(scene);
  std::vector<double> ctrl(size_t(scene.nworld) * scene.nu);
  const Timing t0 = clock_now();
  for (int step = 0; step < nstep; step += scene.hold) {
    for (int w = 0; w < scene.nworld; w++) std::copy_n(scene.ctrl_at(step, w), scene.nu, ctrl.data() + size_t(w) * scene.nu);
    peer.set_ctrl(ctrl);
    peer.step(std::min(scene.hold, nstep - step));
  }
  const Timing t1 = clock_now();
  return {t1.wall - t0.wall, t1.cpu - t0.cpu};
}

}  // namespace batchsim::tools

// Too few slots: limp bodies drop into heaps, with slots to spare and without.
#include <mujoco/mujoco.h>

#include <algorithm>

#include "catch.h"
#include "worlds.h"

using namespace batchsim;

namespace {

// the body without servo forces
Model limp(const std::string& name) {
  mjModel* m = mj_copyModel(nullptr, model_of(name).mjmodel());
  std::fill(m->actuator_gainprm, m->actuator_gainprm + m->nu * mjNGAIN, 0.0);
  std::fill(m->actuator_biasprm, m->actuator_biasprm + m->nu * mjNBIAS, 0.0);
  const Model model = Model::from_mjmodel(m);
  mj_deleteModel(m);
  return model;
}

// 1.2 m up, turned any way, every joint within 0.3 of its range
void drop(Batch& batch) {
  const auto qpos = batch.bind<float>("qpos");
  const mjModel* m = batch.model().mjmodel();
  for (int w = 0; w < batch.nworld(); w++) {
    qpos(w, 2) = 1.2f;
    for (int i = 3; i < 7; i++) qpos(w, i) = static_cast<float>(noise(w, 50 + i));
    for (int j = 1; j < m->njnt; j++) {
      const double u = 0.5 + 0.5 * noise(w, 100 + j);
      qpos(w, m->jnt_qposadr[j]) = static_cast<float>(0.3 * ((1 - u) * m->jnt_range[2 * j] + u * m->jnt_range[2 * j + 1]));
    }
  }
}

int p99(const View<int>& v) {
  std::vector<int> x(v.data, v.data + v.nworld);
  std::sort(x.begin(), x.end());
  return x[x.size() * 99 / 100];
}

void check_overflow(const Model& model, int nworld, int nstep, int nconmax, int njmax) {
  Batch ample(model, {.nworld = nworld, .nconmax = 128, .njmax = 1024}),
      tight(model, {.nworld = nworld, .nconmax = nconmax, .njmax = njmax});
  drop(ample);
  drop(tight);
  ample.step(nstep);
  tight.step(nstep);
  const auto con = ample.bind<int>("ncon_peak"), row = ample.bind<int>("nefc_peak"), status = tight.bind<int>("status");
  INFO("p99 of the worlds' peaks: " << p99(con) << " contacts, " << p99(row) << " rows; overflow: " << tight.report().message());
  UNSCOPED_INFO("ample: " << ample.report().message());
  CHECK_FALSE(ample.report().overflow());
  int over = 0, wrong_flag = 0, wrong_bits = 0, not_finite = 0;
  const size_t size = ample.state_size();
  std::vector<float> a(size * nworld), b(size * nworld);
  ample.get_state(a.data());
  tight.get_state(b.data());
  for (int w = 0; w < nworld; w++) {
    // before its first overflow a world is the same in both runs, so its peak with ample slots tells whether it overflows
    const unsigned expected = (con(w, 0) > nconmax ? kContactsDropped : 0u) | (row(w, 0) > njmax ? kRowsDropped : 0u);
    const unsigned flags = status(w, 0) & (kContactsDropped | kRowsDropped);
    over += expected != 0;
    wrong_flag += (expected != 0) != (flags != 0);
    if (!expected) wrong_bits += std::memcmp(&a[w * size], &b[w * size], size * sizeof(float)) != 0;
    for (size_t i = 0; i < size; i++) not_finite += !std::isfinite(b[w * size + i]);
  }
  std::printf(
      "  %s: p99 of the peaks %d contacts, %d rows; %d of %d worlds overflow %d/%d slots, flags wrong %d, other worlds' bits wrong "
      "%d\n",
      model.source().c_str(), p99(con), p99(row), over, nworld, nconmax, njmax, wrong_flag, wrong_bits);
  CHECK(over > 0);
  CHECK(over < nworld);
  CHECK(wrong_flag == 0);
  CHECK(wrong_bits == 0);
  CHECK(not_finite == 0);
}

}  // namespace

TEST_CASE("overflow is flagged for the worlds that overflow, and changes no other") {
  check_overflow(limp("simple"), 100, 300, 12, 192);
  check_overflow(limp("muscular"), 60, 250, 64, 150);
  check_overflow(limp("muscular"), 60, 250, 22, 512);
}

// ./build/dev/bin/batchsim_tests "4096 worlds*"
TEST_CASE("4096 worlds of muscular in heaps", "[.]") { check_overflow(limp("muscular"), 4096, 640, 26, 200); }

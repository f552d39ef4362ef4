// The batch as its user sees it: options, masks, reset, state rows, pushes, kicks, bad numbers; and same bits whatever the company.
#include "worlds.h"

#include <limits>

#include "backend/cpu/cpu.h"
#include "catch.h"
#include "error_of.h"

using namespace batchsim;

namespace {

// the final state of world `which` of those numbered id(0) ... id(n-1), after nstep steps
template <class T, class Id>
std::vector<T> outcome(const Model& m, BatchOptions o, int nstep, int which, Id id) {
  o.precision = sizeof(T) == 4 ? Precision::f32 : Precision::f64;
  Batch batch(m, o);
  scatter<T>(batch, id);
  batch.step(nstep);
  return state_of<T>(batch, which);
}

const double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a world has the same bits in any company") {
  const Model m = model_of(GENERATE(values<std::string>({"simple", "muscular"})));
  const int nstep = 120;  // they fall, and some lie
  const auto self = [](int w) { return w; };
  const auto alone = outcome<float>(m, {.nworld = 1, .nthread = 1}, nstep, 0, [](int) { return 5; });
  CHECK(same_bits(alone, outcome<float>(m, {.nworld = 17, .nthread = 1}, nstep, 5, self)));
  CHECK(same_bits(alone, outcome<float>(m, {.nworld = 300, .nthread = 1}, nstep, 5, self)));
  CHECK(same_bits(alone, outcome<float>(m, {.nworld = 300, .nthread = 2}, nstep, 294, [](int w) { return 299 - w; })));
  CHECK(same_bits(alone, outcome<float>(m, {.nworld = 9, .nthread = 2}, nstep, 3, [](int) { return 5; })));
  // more slots are not other bits
  CHECK(same_bits(alone, outcome<float>(m, {.nworld = 17, .nconmax = 4 * m.default_nconmax(), .njmax = 4 * m.default_njmax()},
                                        nstep, 5, self)));
  CHECK_FALSE(same_bits(alone, outcome<float>(m, {.nworld = 17}, nstep, 6, self)));
}

TEST_CASE("every one of 4096 worlds has the same bits, whatever their order, their number and the threads") {
  const Model m = model_of("simple");
  const int n = 4096, nstep = 60;  // from 0.2 m they have landed
  const auto states = [&](const Batch& b) {
    std::vector<float> rows(size_t(b.nworld()) * b.state_size());
    b.get_state(rows.data());
    return rows;
  };
  Batch forth(m, {.nworld = n, .nthread = 1}), back(m, {.nworld = n, .nthread = 2}), few(m, {.nworld = 17, .nthread = 2});
  scatter<float>(forth, [](int w) { return w; });
  scatter<float>(back, [&](int w) { return n - 1 - w; });
  scatter<float>(few, [](int w) { return 100 * w; });
  for (Batch* b : {&forth, &back, &few}) b->step(nstep);
  CHECK(forth.report().ncon_peak > 4);
  const auto a = states(forth), b = states(back), c = states(few);
  const size_t bytes = forth.state_size() * sizeof(float);
  const auto row = [&](const std::vector<float>& rows, int w) { return &rows[size_t(w) * forth.state_size()]; };
  int other = 0;
  for (int w = 0; w < n; w++) other += std::memcmp(row(a, w), row(b, n - 1 - w), bytes) != 0;
  for (int w = 0; w < 17; w++) other += std::memcmp(row(a, 100 * w), row(c, w), bytes) != 0;
  CHECK(other == 0);
  for (int w : {0, 1, 2222, n - 1})
    CHECK(same_bits(outcome<float>(m, {.nworld = 1}, nstep, 0, [&](int) { return w; }), state_of<float>(forth, w)));
}

TEST_CASE("a batch that was moved from says so; a model stays what it is") {
  Model m = model_of("stick");
  Batch a(m, {.nworld = 2});
  Batch b = std::move(a);
  b.step();
  CHECK(error_of([&] { a.step(); }).has("moved"));
  CHECK(error_of([&] { a.bind<float>("qpos"); }).has("moved"));
  const Model taken = std::move(m);
  CHECK(m.nv() == taken.nv());
}

TEST_CASE("memory_report counts what was taken, fields that are bound too") {
  const Model m = model_of("stick");
  Batch batch(m, {.nworld = 100, .nthread = 2});
  const auto total = [&] {
    size_t bytes = 0;
    for (const MemoryUse& use : batch.memory_report()) bytes += use.bytes;
    return bytes;
  };
  const size_t before = total();
  batch.bind<float>("xpos");
  CHECK(total() >= before + 100 * 3 * m.nbody() * sizeof(float));
}

TEST_CASE("steps in one call or in many are the same") {
  const Model m = model_of("simple");
  Batch once(m, {.nworld = 20}), often(m, {.nworld = 20});
  scatter<float>(once, [](int w) { return w; });
  scatter<float>(often, [](int w) { return w; });
  once.step(50);
  for (int i = 0; i < 50; i++) often.step();
  for (int w : {0, 7, 19}) CHECK(same_bits(state_of<float>(once, w), state_of<float>(often, w)));
}

TEST_CASE("fresh positions are those of the state that the step led to, and change nothing else") {
  const std::vector<std::string> positions = {"xpos", "xmat", "xaxis", "geom_xpos", "site_xmat", "subtree_com", "cdof"};
  const Model m = model_of("simple");
  for (const char* device : {"cpu", "check"}) {
    BatchOptions o{.nworld = 3, .device = device, .precision = Precision::f64};
    Batch stale(m, o), fresh(m, o);
    scatter<double>(stale, [](int w) { return w; });
    scatter<double>(fresh, [](int w) { return w; });
    const auto bind_all = [&](Batch& b) {
      std::vector<View<double>> views;
      for (const std::string& f : positions) views.push_back(b.bind<double>(f));
      views.push_back(b.bind<double>("cvel"));
      return views;
    };
    const auto old = bind_all(stale), now = bind_all(fresh);
    stale.step(3);
    fresh.step(3, Stage::kKinematics);
    CHECK(same_bits(state_of<double>(stale, 1), state_of<double>(fresh, 1)));
    CHECK(old.back()(1, 7) == now.back()(1, 7));  // velocities are those of the state before, in both
    for (size_t f = 0; f < positions.size(); f++) {
      INFO(positions[f]);
      CHECK(std::vector<double>(old[f][1], old[f][1] + old[f].size) != std::vector<double>(now[f][1], now[f][1] + now[f].size));
    }
    stale.forward();
    for (size_t f = 0; f < positions.size(); f++) {
      INFO(positions[f]);
      CHECK(std::vector<double>(old[f][1], old[f][1] + old[f].size) == std::vector<double>(now[f][1], now[f][1] + now[f].size));
    }
  }
}

TEST_CASE("only the worlds of the mask step, reset, are pushed and kicked") {
  const Model m = model_of("simple");
  const int n = 21;
  Batch batch(m, {.nworld = n});
  scatter<float>(batch, [](int w) { return w; });
  std::vector<uint8_t> mask(n);
  for (int w = 0; w < n; w++) mask[w] = w % 3 == 0;
  const std::vector<float> force(3 * n, 50), dqvel(size_t(n) * m.nv(), 0.25f);

  std::vector<std::vector<float>> before;
  for (int w = 0; w < n; w++) before.push_back(state_of<float>(batch, w));
  SECTION("step") { batch.step(3, {.mask = mask.data()}); }
  SECTION("forward does not change the state") {
    batch.forward();
    std::fill(mask.begin(), mask.end(), 0);
  }
  SECTION("reset") { batch.reset(-1, {.mask = mask.data()}); }
  SECTION("kick") { batch.kick(dqvel.data(), {.mask = mask.data()}); }
  SECTION("kick of a body") { batch.kick(m.body_id("thorax"), force.data(), nullptr, {.mask = mask.data()}); }
  SECTION("state row") {
    std::vector<float> rows(size_t(n) * batch.state_size(), 0.5f);
    batch.set_state(rows.data(), Batch::kStateIntegration, {.mask = mask.data()});
  }
  for (int w = 0; w < n; w++) CHECK(same_bits(before[w], state_of<float>(batch, w)) == !mask[w]);
}

TEST_CASE("a second run after a reset repeats the first bit by bit") {
  const Model m = model_of("stick");
  Batch batch(m, {.nworld = 10});
  const auto run = [&] {
    scatter<float>(batch, [](int w) { return w; });
    batch.step(100);
    return state_of<float>(batch, 4);
  };
  const auto first = run();
  batch.reset();
  CHECK(same_bits(first, run()));
}

TEST_CASE("a bad number resets its world alone, is counted and flagged") {
  const Model m = model_of("simple");
  const int n = 20, ill = 6;
  const auto field = GENERATE(values<std::string>({"qpos", "qvel", "ctrl", "qfrc_applied", "xfrc_applied"}));
  const double value = GENERATE(values<double>({kNaN, std::numeric_limits<double>::infinity(), 1e12}));
  CAPTURE(field, value);
  Batch batch(m, {.nworld = n}), healthy(m, {.nworld = n});
  scatter<float>(batch, [](int w) { return w; });
  scatter<float>(healthy, [](int w) { return w; });
  batch.bind<float>(field)(ill, 8) = static_cast<float>(value);
  batch.step(4);
  healthy.step(4);
  const auto status = batch.bind<int>("status");
  for (int w = 0; w < n; w++) {
    if (w == ill) continue;
    CHECK(same_bits(state_of<float>(batch, w), state_of<float>(healthy, w)));
    CHECK(status(w, 0) == 0);
  }
  CHECK(unsigned(status(ill, 0)) == (field == "ctrl" ? kBadControl : kBadState));
  for (float x : state_of<float>(batch, ill)) {
    if (field != "ctrl") CHECK(std::isfinite(x));
  }
  const auto qpos = batch.bind<float>("qpos");
  for (int i = 0; i < qpos.size; i++) CHECK(std::isfinite(qpos(ill, i)));
  batch.reset();
  CHECK(status(ill, 0) == 0);
}

TEST_CASE("a push acts for its steps and the last one wins") {
  const Model m = Model::from_xml(
      "<mujoco><option gravity='0 0 0' integrator='implicitfast'/><worldbody><body name='b'><freejoint/>"
      "<geom type='sphere' size='.1' mass='2' contype='0' conaffinity='0'/></body></worldbody></mujoco>");
  Batch batch(m, {.nworld = 2, .precision = Precision::f64});
  const auto qvel = batch.bind<double>("qvel");
  const std::vector<double> east{8, 0, 0, 8, 0, 0}, up{0, 0, 4, 0, 0, 4};
  batch.push(1, east.data(), 10);
  batch.step(3);
  CHECK(qvel(1, 0) == Approx(8.0 / 2 * 3 * 0.002));
  const uint8_t second[] = {0, 1};
  batch.push(1, up.data(), 2, nullptr, {.mask = second});
  batch.step(20);
  CHECK(qvel(0, 0) == Approx(8.0 / 2 * 10 * 0.002));
  CHECK(qvel(0, 2) == 0);
  CHECK(qvel(1, 0) == Approx(8.0 / 2 * 3 * 0.002));
  CHECK(qvel(1, 2) == Approx(4.0 / 2 * 2 * 0.002));
  // an impulse off the centre turns the body: dv = p / m, dw = r x p / I
  const double point[] = {0, 0.05, 0};
  batch.reset();
  batch.kick(1, east.data(), point);
  CHECK(qvel(0, 0) == Approx(4));
  CHECK(qvel(0, 5) == Approx(-0.05 * 8 / (0.4 * 2 * 0.01)));
}

TEST_CASE("state rows come back as they went in") {
  const Model m = model_of("simple");
  Batch a(m, {.nworld = 5}), b(m, {.nworld = 5});
  scatter<float>(a, [](int w) { return w; });
  a.step(30);
  std::vector<float> rows(size_t(5) * a.state_size());
  a.get_state(rows.data());
  b.set_state(rows.data());
  a.step(30);
  b.step(30);
  for (int w = 0; w < 5; w++) CHECK(same_bits(state_of<float>(a, w), state_of<float>(b, w)));
}

TEST_CASE("a range beyond float is as good as none") {
  const auto end = [](const char* range) {
    const Model m =
        Model::from_xml(std::string("<mujoco><worldbody><body><joint name='j' axis='0 1 0'/><geom size='.1' pos='.3 0 0'/></body>"
                                    "</worldbody><actuator><position joint='j' kp='20' ") +
                        range + "/></actuator></mujoco>");
    Batch b(m, {});
    b.bind<float>("ctrl")(0, 0) = 0.4f;
    b.step(50);
    CHECK(b.report().message() == "");
    return state_of<float>(b, 0);
  };
  CHECK(same_bits(end(""), end("forcerange='-1e100 1e100' ctrlrange='-1e300 1e300'")));
}

TEST_CASE("bad arguments are named, with what is allowed") {
  const Model m = model_of("stick");
  const auto fails = [&](const BatchOptions& o) { return error_of([&] { Batch(m, o); }); };
  CHECK(fails({.nworld = 0}).has("nworld is 0"));
  CHECK(fails({.nworld = -3}).has("nworld is -3"));
  CHECK(fails({.nworld = 2'000'000'000}).has("nworld"));
  CHECK(fails({.device = "gpu"}).has("'gpu'"));
  CHECK(fails({.device = "gpu"}).has("cuda:N"));
  CHECK(fails({.device = "cuda:x"}).has("cuda:N"));
  CHECK(fails({.nconmax = -1}).has("nconmax is -1"));
  CHECK(fails({.njmax = 1'000'000}).has("njmax"));
  CHECK(fails({.nthread = -1}).has("nthread"));
  const BatchOptions huge{.nworld = 1 << 24, .precision = Precision::f64};
  size_t bytes = 0;
  for (const MemoryUse& use : Batch::memory_estimate(model_of("muscular"), huge)) bytes += use.bytes;
  if (bytes > free_memory()) CHECK(error_of([&] { Batch(model_of("muscular"), huge); }).has("MiB needed"));
  Batch batch(m, {.nworld = 2});
  CHECK(error_of([&] { batch.bind<double>("qpos"); }).has("holds float"));
  CHECK(error_of([&] { batch.bind<float>("qposs"); }).has("no field 'qposs'"));
  CHECK(error_of([&] { batch.step(-1); }).has("nstep is -1"));
  CHECK(error_of([&] { batch.reset(3); }).has("key is 3"));
  CHECK(error_of([&] { batch.push(0, nullptr, 1); }).has("force is null"));
  CHECK(error_of([&] { batch.set_state(nullptr); }).has("rows is null"));
  const std::vector<float> f(6);
  CHECK(error_of([&] { batch.push(99, f.data(), 1); }).has("body is 99"));
  const double far[] = {kNaN, 0, 0};
  CHECK(error_of([&] { batch.push(1, f.data(), 1, far); }).has("point[0]"));
}

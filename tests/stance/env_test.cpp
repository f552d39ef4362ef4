// The environment against the task's page, written out again from MuJoCo's own fields; and what must hold for every world.
#include "env/env.h"

#include <mujoco/mujoco.h>

#include <Eigen/Dense>
#include <cmath>
#include <numeric>

#include "catch.h"
#include "error_of.h"
#include "ppo/learner.h"
#include "task.h"
#include "train/trainer.h"

namespace {

using namespace stance;
using Eigen::Vector2d;
using Eigen::Vector3d;

// actions that differ from world to world and step to step
template <class T>
std::vector<T> actions(int nworld, int nact, int step) {
  std::vector<T> a(size_t(nworld) * nact);
  for (size_t i = 0; i < a.size(); i++) a[i] = T(1.5 * std::sin(0.37 * double(i) + 0.11 * step) * (i % 7 == 3 ? 3 : 1));
  return a;
}

// an environment with the buffers of its steps
template <class T>
struct Play {
  std::unique_ptr<Env<T>> env;
  std::vector<T> reward, observation, last;
  std::vector<uint8_t> done;
  std::vector<int> truncated_at;

  explicit Play(std::unique_ptr<Env<T>> made, int level = 0, bool staggered = false) : env(std::move(made)) {
    const size_t n = env->options().nworld, nobs = env->body().nobs();
    reward.resize(n), observation.resize(n * nobs), last.resize(n * nobs), done.resize(n), truncated_at.assign(n, -1);
    env->start(level, staggered, observation.data());
  }
  void step(const std::vector<T>& action, int index = 0) {
    env->step(action.data(), {reward.data(), done.data(), observation.data(), last.data(), truncated_at.data(), index});
  }
};

struct Deleter {
  void operator()(mjData* d) const { mj_deleteData(d); }
};

// a row of the reference by plain interpolation
std::vector<double> reference_at(const Reference& r, int level, double phase) {
  const double x = phase * task::phases;
  const int i = int(x) % int(task::phases), j = (i + 1) % int(task::phases);
  std::vector<double> row(r.width);
  for (int c = 0; c < r.width; c++) {
    const double a = r.row[(size_t(level) * int(task::phases) + i) * r.width + c];
    const double b = r.row[(size_t(level) * int(task::phases) + j) * r.width + c];
    row[c] = a + (b - a) * (x - int(x));
  }
  return row;
}

struct Expected {
  std::vector<double> observation;
  double reward = 0;
  Vector2d com;
};

// docs/stance.md, Observation and Reward, from one world's mjData
Expected by_the_page(const Body& b, const Reference& r, const mjData* d, int level, double phase, Vector2d com_before,
                     const std::vector<double>& action, const std::vector<double>& action_before) {
  const mjModel* m = b.model.mjmodel();
  const int nj = b.njoint, nact = b.nact();
  const std::vector<double> ref = reference_at(r, level, phase);
  const double *q = &ref[0], *qd = &ref[nj], *p = &ref[2 * nj], *quat = p + 3, *v = p + 7, *soles = p + 13, *balance = p + 19;
  const auto at = [&](const mjtNum* x) { return Vector3d(x[0], x[1], x[2]); };
  const Eigen::Matrix3d R = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(d->xmat + 9 * b.pelvis);
  const double h = std::atan2(R(1, 0), R(0, 0));
  const Eigen::Rotation2Dd turn(-h);
  const Vector3d left = at(d->site_xpos + 3 * b.foot[0]), right = at(d->site_xpos + 3 * b.foot[1]);
  const Vector2d com(d->subtree_com[0], d->subtree_com[1]);
  const Vector2d e = turn * Vector2d(com - (left.head<2>() + right.head<2>()) / 2) - Vector2d(balance[0], balance[1]);
  const Vector2d com_velocity = turn * Vector2d((com - com_before) / task::control_step);

  Expected out;
  out.com = com;
  std::vector<double>& o = out.observation;
  const auto cut = [](double x, double most) { return std::clamp(x, -most, most); };
  o = {cut(e[0], 0.5) * 5, cut(e[1], 0.5) * 5, cut(com_velocity[0], 2) * 2, cut(com_velocity[1], 2) * 2, (d->qpos[2] - p[2]) * 5};
  o.insert(o.end(), {R(2, 0), R(2, 1), R(2, 2)});
  const Vector2d flat = turn * Vector2d(d->qvel[0], d->qvel[1]);
  o.insert(o.end(), {flat[0], flat[1], d->qvel[2], d->qvel[3] * 0.5, d->qvel[4] * 0.5, d->qvel[5] * 0.5});
  const double heading = std::atan2(2 * (quat[0] * quat[3] + quat[1] * quat[2]), 1 - 2 * (quat[2] * quat[2] + quat[3] * quat[3]));
  o.insert(o.end(), {std::sin(h - heading), std::cos(h - heading)});
  const Vector2d drift = turn * Vector2d(d->qpos[0] - p[0], d->qpos[1] - p[1]);
  o.insert(o.end(), {cut(drift[0], 0.5) * 2, cut(drift[1], 0.5) * 2});
  for (int i = 0; i < nj; i++) o.push_back((d->qpos[7 + i] - q[i]) * 2);
  for (int i = 0; i < nj; i++) o.push_back(d->qvel[6 + i] * 0.1);
  o.insert(o.end(), {std::sin(2 * M_PI * phase), std::cos(2 * M_PI * phase), level / 10.0});
  const double weight = mj_getTotalmass(m) * 9.81;
  for (int side = 0; side < 2; side++) o.push_back(std::clamp(d->sensordata[b.load[side]] / weight, 0.0, 2.0));
  for (int k = 0; k < nact; k++) o.push_back(cut(action[k], 3));

  double pose = 0, speed = 0, action2 = 0, change2 = 0;
  for (int i = 0; i < nj; i++) {
    pose += b.weight[i] * std::pow(d->qpos[7 + i] - q[i], 2);
    speed += b.weight[i] * std::pow(d->qvel[6 + i] - qd[i], 2);
  }
  for (int k = 0; k < nact; k++)
    action2 += std::pow(cut(action[k], 3), 2) / nact, change2 += std::pow(cut(action[k], 3) - action_before[k], 2) / nact;
  const Eigen::Quaterniond is(d->qpos[3], d->qpos[4], d->qpos[5], d->qpos[6]), wanted(quat[0], quat[1], quat[2], quat[3]);
  const double angle = is.angularDistance(wanted.normalized());
  double sole2 = 0;
  for (int side = 0; side < 2; side++) {
    const Vector3d rel = (side ? right : left) - at(d->qpos);
    const Vector2d f = turn * Vector2d(rel.head<2>());
    sole2 += (Vector3d(f[0], f[1], rel[2]) - Vector3d(soles[3 * side], soles[3 * side + 1], soles[3 * side + 2])).squaredNorm() / 2;
  }
  const Vector2d wanted_velocity = turn * Vector2d(v[0], v[1]);
  const Vector2d capture = e + 0.31 * (com_velocity - wanted_velocity);
  const auto bell = [](double x2, double w) { return std::exp(-x2 / (w * w)); };
  out.reward = 0.20 * bell(capture.squaredNorm(), 0.10) + 0.25 * std::exp(-12 * pose) + 0.05 * std::exp(-0.1 * speed) +
               0.15 * bell(std::pow(d->qpos[2] - p[2], 2), 0.05) + 0.15 * bell(angle * angle, 0.3) + 0.10 * bell(sole2, 0.10) +
               0.05 * bell(std::pow(d->qpos[0] - p[0], 2) + std::pow(d->qpos[1] - p[1], 2), 0.30) +
               0.05 * bell((at(d->qvel) - Vector3d(v[0], v[1], v[2])).squaredNorm(), 0.5) - 0.01 * action2 - 0.01 * change2;
  out.reward *= 0.1;
  return out;
}

}  // namespace

TEST_CASE("observation and reward are the page's, from MuJoCo's fields") {
  for (const char* name : {"stick", "simple", "muscular"}) {
    const Body body = load_body(name);
    const int nworld = 3, level = 7, nact = body.nact();
    Play<double> play(make_env<double>(body, {.nworld = nworld, .seed = 5}), level);
    const std::unique_ptr<mjData, Deleter> d(mj_makeData(body.model.mjmodel()));
    std::vector<Vector2d> com(nworld);
    std::vector<double> phase(nworld);
    const int nobs = body.nobs(), at_phase = 18 + 2 * body.njoint;
    const auto phase_of = [&](int w) {
      const double* o = &play.observation[size_t(w) * nobs + at_phase];
      const double p = std::atan2(o[0], o[1]) / (2 * M_PI);
      return p < 0 ? p + 1 : p;
    };
    for (int w = 0; w < nworld; w++) {
      play.env->export_mjdata(w, d.get());
      com[w] = Vector2d(d->subtree_com[0], d->subtree_com[1]);
      phase[w] = phase_of(w);
    }
    std::vector<double> before(size_t(nworld) * nact, 0);
    for (int t = 0; t < 12; t++) {
      const std::vector<double> a = actions<double>(nworld, nact, t);
      play.step(a);
      for (int w = 0; w < nworld; w++) {
        INFO(name << " world " << w << " step " << t);
        REQUIRE(!play.done[w]);
        phase[w] += task::control_step / task::period;
        if (phase[w] >= 1) phase[w] -= 1;
        CHECK(std::abs(std::remainder(phase[w] - phase_of(w), 1)) < 1e-12);
        play.env->export_mjdata(w, d.get());
        // sensors are those of the last timestep, as mj_step leaves them
        const std::vector<double> a_w(a.begin() + w * nact, a.begin() + (w + 1) * nact),
            b_w(before.begin() + w * nact, before.begin() + (w + 1) * nact);
        const Expected e = by_the_page(body, play.env->reference(), d.get(), level, phase[w], com[w], a_w, b_w);
        REQUIRE(int(e.observation.size()) == nobs);
        for (int i = 0; i < nobs; i++) {
          INFO("observation " << i);
          if (i == at_phase + 3 || i == at_phase + 4) continue;  // the foot load, below
          CHECK(play.observation[size_t(w) * nobs + i] == Approx(e.observation[i]).epsilon(1e-9).margin(1e-10));
        }
        CHECK(play.reward[w] == Approx(e.reward).epsilon(1e-9));
        com[w] = e.com;
      }
      for (size_t i = 0; i < a.size(); i++) before[i] = std::clamp(a[i], -3.0, 3.0);
    }
  }
}

TEST_CASE("the same steps by MuJoCo give the same observations and rewards") {
  for (const char* name : {"stick", "simple"}) {
    const Body body = load_body(name);
    const EnvOptions options{.nworld = 4, .seed = 9};
    Play<double> ours(make_env<double>(body, options), 10), theirs(make_mujoco_env(body, options), 10);
    double worst = 0;
    for (int t = 0; t < 40; t++) {
      const std::vector<double> a = actions<double>(4, body.nact(), t);
      ours.step(a), theirs.step(a);
      for (size_t i = 0; i < ours.observation.size(); i++)
        worst = std::max(worst, std::abs(ours.observation[i] - theirs.observation[i]));
      for (int w = 0; w < 4; w++) worst = std::max(worst, std::abs(ours.reward[w] - theirs.reward[w]));
    }
    INFO(name << " " << worst);
    CHECK(worst < 1e-6);  // MuJoCo's solver stops at its own tolerance
  }
}

TEST_CASE("float on packs is double, but for rounding") {
  const Body body = load_body("simple");
  const EnvOptions options{.nworld = 11, .nthread = 2, .seed = 3};
  Play<float> packs(make_env<float>(body, options), 4);
  Play<double> exact(make_env<double>(body, options), 4);
  for (int t = 0; t < 10; t++) {
    packs.step(actions<float>(11, body.nact(), t)), exact.step(actions<double>(11, body.nact(), t));
    for (size_t i = 0; i < exact.observation.size(); i++) CHECK(packs.observation[i] == Approx(exact.observation[i]).margin(2e-3));
    for (int w = 0; w < 11; w++) CHECK(packs.reward[w] == Approx(exact.reward[w]).margin(1e-4));
  }
}

TEST_CASE("a world does the same whatever the other worlds, threads and look-ups are") {
  const Body body = load_body("stick");
  Play<float> many(make_env<float>(body, {.nworld = 37, .nthread = 3, .seed = 4}), 2, true);
  Play<float> few(make_env<float>(body, {.nworld = 5, .nthread = 1, .seed = 4, .separate_tables = true}), 2, true);
  bool ended = false;
  for (int t = 0; t < 160; t++) {
    const std::vector<float> a = actions<float>(37, body.nact(), t);
    many.step(a), few.step({a.begin(), a.begin() + 5 * body.nact()});
    REQUIRE(std::equal(few.observation.begin(), few.observation.end(), many.observation.begin()));
    REQUIRE(std::equal(few.reward.begin(), few.reward.end(), many.reward.begin()));
    REQUIRE(std::equal(few.done.begin(), few.done.end(), many.done.begin()));
    for (int w = 0; w < 5; w++) ended = ended || few.done[w];
  }
  CHECK(ended);  // resets were part of it
}

TEST_CASE("falls, time and shoves") {
  const Body body = load_body("stick");
  const int n = 64;
  Play<float> play(make_env<float>(body, {.nworld = n, .seed = 8}), 10);
  const std::vector<float> zero(size_t(n) * body.nact(), 0);
  std::vector<int> alive(n, 0), quiet(n, 0);
  std::vector<double> sizes;
  int falls = 0, truncations = 0, starts = 0;
  double angle_cos = 0;
  for (int t = 0; t < 600; t++) {
    play.step(zero, t);
    for (int w = 0; w < n; w++) {
      alive[w]++;
      const Shove s = play.env->shove(w);
      const double size = std::hypot(s.x, s.y);
      if (play.done[w]) {
        const bool fell = play.reward[w] == float(task::fall_reward);
        falls += fell, truncations += !fell;
        CHECK((fell || alive[w] == int(task::episode_steps)));
        CHECK((fell ? play.truncated_at[w] != t : play.truncated_at[w] == t));
        alive[w] = quiet[w] = 0;
        CHECK(size == 0);
        continue;
      }
      if (size > 0 && quiet[w] >= 0) {  // one starts
        starts++;
        sizes.push_back(size);
        angle_cos += s.x / size;
        const int pause = quiet[w], least = alive[w] - 1 == pause ? int(task::shove_first_min) - 1 : int(task::shove_pause_min) - 1;
        CHECK(pause >= least);
        quiet[w] = -1;
      } else if (size > 0) {
        quiet[w]--;
      } else {
        if (quiet[w] < 0) CHECK(quiet[w] == -int(task::shove_steps));
        quiet[w] = quiet[w] < 0 ? 1 : quiet[w] + 1;
      }
    }
  }
  CHECK(falls > 50);
  CHECK(truncations > 0);
  REQUIRE(starts > 100);
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  CHECK(*least >= 0.5 * task::shove_force_stick - 1e-3);
  CHECK(*most <= task::shove_force_stick + 1e-3);
  CHECK(*most - *least > 0.4 * task::shove_force_stick);
  CHECK(std::abs(angle_cos / starts) < 0.3);
  const EnvStats s = play.env->take_stats();
  CHECK(s.falls == falls);
  CHECK(s.truncations == truncations);
}

TEST_CASE("a bad state is a fall and is counted, and the other worlds do not notice") {
  const Body body = load_body("stick");
  const int n = 6;
  Play<float> play(make_env<float>(body, {.nworld = n, .seed = 2})), other(make_env<float>(body, {.nworld = n, .seed = 2}));
  std::vector<double> saved = play.env->save();
  // the velocities in the saved state: find world 3's by its free joint's
  const std::vector<float> zero(size_t(n) * body.nact(), 0);
  for (double& x : saved)
    if (x == double(play.observation[size_t(3) * body.nobs() + 10])) x = std::numeric_limits<float>::infinity();
  play.env->restore(saved);
  play.step(zero), other.step(zero);
  CHECK(play.done[3] == 1);
  CHECK(play.reward[3] == float(task::fall_reward));
  for (int w : {0, 1, 2, 4, 5}) {
    CHECK(play.done[w] == other.done[w]);
    CHECK(play.reward[w] == other.reward[w]);
  }
  const EnvStats s = play.env->take_stats();
  CHECK(s.bad_states == 1);
  CHECK(s.falls >= 1);
  for (float x : play.observation) CHECK(std::isfinite(x));
}

TEST_CASE("an iteration simulates every control step once") {
  const Body body = load_body("stick");
  PpoSettings settings = default_settings(true);
  Trainer<float> trainer(body, settings, {.nworld = 8});
  CHECK(trainer.env().physics_steps() == 0);
  for (int i = 1; i <= 3; i++) {
    trainer.iterate();
    CHECK(trainer.env().physics_steps() == int64_t(i) * settings.horizon * int(task::substeps));
  }
}

TEST_CASE("the reference stands on the floor, inside the ranges, and repeats") {
  for (const char* name : {"stick", "simple", "muscular"}) {
    const Body body = load_body(name);
    const Reference r = make_reference(body);
    const mjModel* m = body.model.mjmodel();
    const std::unique_ptr<mjData, Deleter> d(mj_makeData(m));
    const std::vector<int> at = Reference::columns(body.njoint);
    for (int level : {0, 5, 10}) {
      Vector2d mean = Vector2d::Zero();
      for (int p = 0; p < int(task::phases); p++) {
        const double* row = &r.row[(size_t(level) * int(task::phases) + p) * r.width];
        std::copy_n(row + at[2], 7, d->qpos);
        std::copy_n(row, body.njoint, d->qpos + 7);
        mj_kinematics(m, d.get());
        mj_comPos(m, d.get());
        for (int side = 0; side < 2; side++) {
          CHECK(std::abs(d->site_xpos[3 * body.foot[side] + 2]) < 1e-6);
          CHECK(d->site_xmat[9 * body.foot[side] + 8] > 1 - 1e-9);
        }
        const double* l = d->site_xpos + 3 * body.foot[0];
        const double* rr = d->site_xpos + 3 * body.foot[1];
        mean += (Vector2d(d->subtree_com[0], d->subtree_com[1]) - Vector2d(l[0] + rr[0], l[1] + rr[1]) / 2) / task::phases;
        for (int i = 0; i < body.njoint; i++) CHECK((row[i] >= body.lower[i] - 1e-9 && row[i] <= body.upper[i] + 1e-9));
      }
      INFO(name << " level " << level << " " << mean.transpose());
      // the page says how far the sway of the last phases moves the mean
      if (level == 0) CHECK(std::abs(mean[0] + task::com_behind) < 1e-5);
      if (level == 10) CHECK(mean[0] == Approx(body.stick ? -0.0064 : -0.0079).margin(1e-4));
    }
  }
}

TEST_CASE("bodies that do not fit are refused by name") {
  const auto refused = [](const std::string& name) { return error_of([&] { load_body(name); }); };
  CHECK(refused("nobody").has("there is no body 'nobody'"));
  CHECK(refused("/nowhere/at.xml").has("/nowhere/at.xml"));
}

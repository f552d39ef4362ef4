#include "train/run.h"

#include <mujoco/mujoco.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <thread>

#include "io/checkpoint.h"
#include "io/crc.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/tensorboard.h"

namespace stance {
namespace {

using batchsim::Error;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kExamineEvery = 8;  // iterations, while the curriculum calls the stance solved

// ---- what a checkpoint holds beside the trainer

void put_layers(CheckpointWriter& to, const std::string& name, const Mlp& net) {
  to.put(name + ".layers", int64_t(net.layer.size()));
  for (size_t l = 0; l < net.layer.size(); l++) {
    to.put(name + "." + std::to_string(l) + ".weight", net.layer[l].weight);
    to.put(name + "." + std::to_string(l) + ".bias", net.layer[l].bias);
  }
}
Mlp get_layers(const CheckpointReader& from, const std::string& name, int in) {
  Mlp net;
  const int64_t layers = from.get<int64_t>(name + ".layers");
  for (int64_t l = 0; l < layers; l++) {
    Layer a;
    a.bias = from.get<std::vector<double>>(name + "." + std::to_string(l) + ".bias");
    a.in = in, a.out = static_cast<int>(a.bias.size());
    a.weight = from.get<std::vector<double>>(name + "." + std::to_string(l) + ".weight", size_t(a.in) * a.out);
    in = a.out;
    net.layer.push_back(std::move(a));
  }
  return net;
}

void put_policy(CheckpointWriter& to, const Policy& p) {
  to.put("policy.body", p.body);
  to.put("policy.nobs", p.nobs), to.put("policy.nact", p.nact);
  put_layers(to, "actor", p.actor), put_layers(to, "critic", p.critic);
  to.put("log_std", p.log_std);
  to.put("normaliser.mean", p.normaliser.mean), to.put("normaliser.var", p.normaliser.var);
  to.put("normaliser.count", p.normaliser.count);
}
Policy get_policy(const CheckpointReader& from) {
  Policy p;
  p.body = from.get<std::string>("policy.body");
  p.nobs = int(from.get<int64_t>("policy.nobs")), p.nact = int(from.get<int64_t>("policy.nact"));
  p.actor = get_layers(from, "actor", p.nobs), p.critic = get_layers(from, "critic", p.nobs);
  p.log_std = from.get<std::vector<double>>("log_std", p.nact);
  p.normaliser.mean = from.get<std::vector<double>>("normaliser.mean", p.nobs);
  p.normaliser.var = from.get<std::vector<double>>("normaliser.var", p.nobs);
  p.normaliser.count = from.get<double>("normaliser.count");
  return p;
}

void put_settings(CheckpointWriter& to, const PpoSettings& s) {
  to.put("ppo.hidden", std::vector<int64_t>(s.hidden.begin(), s.hidden.end()));
#define X(type, name, value, doc) to.put("ppo." #name, double(s.name));
  STANCE_PPO(X)
#undef X
}
PpoSettings get_settings(const CheckpointReader& from) {
  PpoSettings s;
  const auto hidden = from.get<std::vector<int64_t>>("ppo.hidden");
  s.hidden.assign(hidden.begin(), hidden.end());
#define X(type, name, value, doc) s.name = static_cast<type>(from.get<double>("ppo." #name));
  STANCE_PPO(X)
#undef X
  return s;
}

// changes when anything in the model does
uint64_t fingerprint(const mjModel* m) {
  std::string bytes(mj_sizeModel(m), '\0');
  mj_saveModel(m, nullptr, bytes.data(), static_cast<int>(bytes.size()));
  return crc64(bytes);
}

// ---- the log

// times come last and are named after what they are, so that two runs can be compared without them
const std::vector<std::string> kColumns = {"iteration",         "control_steps",  "amplitude",   "window_falls", "window_episodes",
                                           "window_fall_share", "window_length",  "episodes",    "fall_share",   "episode_length",
                                           "episode_return",    "reward",         "rms_balance", "rms_pose",     "rms_height",
                                           "rms_tilt",          "rms_soles",      "kl",          "surrogate",    "value_loss",
                                           "learning_rate",     "noise_std",      "actor_norm",  "critic_norm",  "epochs",
                                           "bad_states",        "worlds_dropped", "ncon_peak",   "nefc_peak",    "time_elapsed",
                                           "time_rollout",      "time_update",    "time_fps"};

double per(double sum, double n) { return n ? sum / n : 0; }

std::vector<double> columns(const Iteration& it, const Curriculum::Episodes& w, double seconds, double fps) {
  const EnvStats& e = it.env;
  const UpdateStats& u = it.update;
  const double ended = double(e.falls + e.truncations), n = double(e.steps);
  const auto rms = [&](double sum) { return std::sqrt(per(sum, n)); };
  return {double(it.index),
          double(it.control_steps),
          it.level / (task::levels - 1),
          double(w.falls),
          double(w.ended()),
          w.fall_share(),
          w.mean_length(),
          ended,
          per(e.falls, ended),
          per(task::control_step * e.length, ended),
          per(e.episode_return, ended),
          per(e.reward, n),
          rms(e.balance),
          rms(e.pose),
          rms(e.height),
          rms(e.tilt),
          rms(e.soles),
          u.kl,
          u.surrogate,
          u.value_loss,
          u.actor_rate,
          u.noise_std,
          u.actor_norm,
          u.critic_norm,
          double(u.epochs),
          double(e.bad_states),
          double(e.worlds_dropped),
          double(e.ncon_peak),
          double(e.nefc_peak),
          seconds,
          it.rollout_seconds,
          it.update_seconds,
          fps};
}

// rsl_rl's names, so that its users find their curves
void add_scalars(TensorBoard& board, const Iteration& it, const Curriculum::Episodes& w, double fps,
                 const Evaluation* examination) {
  const EnvStats& e = it.env;
  const double ended = double(e.falls + e.truncations);
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto add = [&](const char* tag, double value) { board.scalar(tag, value, it.index, now); };
  add("Loss/value_function", it.update.value_loss);
  add("Loss/surrogate", it.update.surrogate);
  add("Loss/learning_rate", it.update.actor_rate);
  add("Policy/mean_noise_std", it.update.noise_std);
  add("Perf/total_fps", fps);
  add("Perf/collection time", it.rollout_seconds);
  add("Perf/learning_time", it.update_seconds);
  if (ended) {
    add("Train/mean_reward", e.episode_return / ended);
    add("Train/mean_episode_length", e.length / ended);
  }
  add("Episode/fall_share", w.fall_share());
  if (examination) add("Episode/examination_fall_share", examination->fall_share());
  add("Curriculum/amplitude", it.level / (task::levels - 1));
  board.flush();
}

std::string overflow_message(const EnvStats& e) {
  if (!e.worlds_dropped) return "";
  return "OVERFLOW in " + std::to_string(e.worlds_dropped) + " worlds: start anew with --nconmax " + std::to_string(e.ncon_peak) +
         " --njmax " + std::to_string(e.nefc_peak) + " or more";
}

void check_options(const RunOptions& o) {
  const auto refuse = [](const std::string& what, const std::string& value, const std::string& allowed) {
    throw Error(Error::kInput, what + " is " + value + "; allowed are " + allowed);
  };
  if (o.nworld < 0 || o.nworld > 1000000) refuse("worlds", std::to_string(o.nworld), "1 ... 1000000, or 0 for the body's default");
  if (o.nthread < 0 || o.nthread > 4096)
    refuse("threads", std::to_string(o.nthread), "1 ... 4096, or 0 for one a logical processor");
  if (!(o.max_minutes >= 0)) refuse("max-minutes", std::to_string(o.max_minutes), "positive numbers, or 0 for no limit");
  if (o.examine < 0 || o.examine > 1000000) refuse("examine", std::to_string(o.examine), "0 ... 1000000 episodes");
  if (o.checkpoint_every < 1) refuse("checkpoint-every", std::to_string(o.checkpoint_every), "1 or more");
  if (o.out.empty()) throw Error(Error::kInput, "there is no folder to write to; name one with --out");
}

template <class T>
RunResult train_as(const RunOptions& o, const Body& body, const PpoSettings& settings, const CheckpointReader* from,
                   const std::function<void(const Shown&)>& show, const std::function<bool()>& stop) {
  const auto start = Clock::now();
  const auto seconds_since = [](Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); };
  const std::string path = o.out + "/checkpoint.bss";
  Trainer<T> trainer(body, settings,
                     {.nworld = o.nworld,
                      .device = o.device,
                      .nthread = o.nthread,
                      .nconmax = o.nconmax,
                      .njmax = o.njmax,
                      .seed = o.seed,
                      .separate_tables = o.separate_tables},
                     o.graphs);
  double before = 0;  // seconds of earlier processes
  if (from) {
    trainer.restore(*from);
    before = from->get<double>("seconds");
  }
  const uint64_t model = fingerprint(body.model.mjmodel());
  if (from && from->get<uint64_t>("model") != model)
    throw Error(Error::kInput,
                path + " was made with another model than " + body.model.source() + " is now; start anew with another --out");

  Csv csv(o.out + "/log.csv", kColumns, trainer.curriculum().iteration());
  TensorBoard board(o.out, trainer.curriculum().iteration());

  const auto write_checkpoint = [&] {
    csv.sync();  // a resumed run keeps the rows up to here
    CheckpointWriter to;
    to.put("body", body.model.source());
    to.put("device", o.device);
    to.put("precision", std::string(o.f64 ? "f64" : "f32"));
    to.put("seed", o.seed), to.put("nworld", o.nworld), to.put("nconmax", o.nconmax), to.put("njmax", o.njmax),
        to.put("separate_tables", o.separate_tables);
    to.put("model", model);
    to.put("seconds", before + seconds_since(start));
    to.put("iterations", double(trainer.curriculum().iteration()));
    put_settings(to, settings);
    put_policy(to, trainer.learner().policy());
    trainer.save(to);
    to.write(path);
  };

  RunResult result;
  // by the number of the iteration alone, so that a run that was killed is examined when one that was not is
  const auto passes = [&] {
    const Curriculum& c = trainer.curriculum();
    if (!c.solved() || !o.examine) return c.solved();
    if (c.iteration() % kExamineEvery) return false;
    result.examination = evaluate(body, trainer.learner().policy(),
                                  {.nworld = o.examine,
                                   .seed = uint64_t(task::eval_seed) + 1,
                                   .device = o.device,
                                   .nthread = o.nthread,
                                   .nconmax = o.nconmax,
                                   .njmax = o.njmax});
    return result.examination.fall_share() <= task::solved_fall;
  };
  int saved = trainer.curriculum().iteration();
  const auto ends = [&] {
    if (result.solved) return true;
    if (o.iterations && trainer.curriculum().iteration() >= o.iterations) return true;
    if (o.max_minutes && seconds_since(start) > 60 * o.max_minutes) return true;
    return result.interrupted = stop && stop();
  };
  result.solved = from && passes();
  if (!from) write_checkpoint();  // a folder that cannot be written is told before the work
  while (!ends()) {
    const auto begin = Clock::now();
    const Iteration it = trainer.iterate();
    // the curriculum's episodes as they were before a raise cleared them would say nothing of the new level
    const Curriculum::Episodes window = it.episodes;
    const double fps = double(settings.horizon) * o.nworld / seconds_since(begin), elapsed = before + seconds_since(start);
    if (!std::isfinite(it.update.value_loss) || !std::isfinite(it.update.surrogate) || !std::isfinite(it.env.reward)) {
      throw Error(Error::kInput, "iteration " + std::to_string(it.index) +
                                     ": reward or loss is not finite; the checkpoint of iteration " + std::to_string(saved) +
                                     " in " + o.out + " is still good, go on from it with a lower learning rate");
    }
    result.examination = {};
    result.solved = passes();
    const Evaluation* examination = result.examination.episodes ? &result.examination : nullptr;
    csv.row(columns(it, window, elapsed, fps));
    add_scalars(board, it, window, fps, examination);
    if (show) show({it, trainer.curriculum(), elapsed, fps, overflow_message(it.env), examination});
    if (trainer.curriculum().iteration() % o.checkpoint_every == 0) {
      write_checkpoint();
      saved = trainer.curriculum().iteration();
    }
  }
  if (saved != trainer.curriculum().iteration()) write_checkpoint();
  result.iterations = trainer.curriculum().iteration();
  result.control_steps = int64_t(result.iterations) * settings.horizon * o.nworld;
  result.seconds = before + seconds_since(start);
  return result;
}

}  // namespace

std::string checkpoint_path(const std::string& path) { return fs::is_directory(path) ? path + "/checkpoint.bss" : path; }

Trained load_trained(const std::string& path) {
  const CheckpointReader from(checkpoint_path(path));
  return {get_policy(from), from.get<std::string>("body"), from.get<double>("iterations")};
}

RunResult train(const RunOptions& given, const std::function<void(const Shown&)>& show, const std::function<bool()>& stop) {
  RunOptions o = given;
  check_options(o);
  make_folder(o.out);
  const std::string path = o.out + "/checkpoint.bss";
  if (!o.resume && fs::exists(path))
    throw Error(Error::kInput, o.out + " holds a run already; go on with it by --resume, or name another folder with --out");

  std::optional<CheckpointReader> from;
  if (o.resume) {
    from.emplace(path);
    o.body = from->get<std::string>("body");
    o.device = from->get<std::string>("device");
    o.f64 = from->get<std::string>("precision") == "f64";
    o.seed = from->get<uint64_t>("seed");
    o.nworld = int(from->get<int64_t>("nworld"));
    o.nconmax = int(from->get<int64_t>("nconmax")), o.njmax = int(from->get<int64_t>("njmax"));
    o.separate_tables = from->get<int64_t>("separate_tables") != 0;
  }
  const Body body = load_body(o.body);
  PpoSettings settings = from ? get_settings(*from) : default_settings(body.stick);
  for (const std::string& assignment : o.ppo) change_setting(settings, assignment);
  if (!o.nworld) o.nworld = default_worlds(body.stick);
  if (!o.nthread) o.nthread = int(std::max(1u, std::thread::hardware_concurrency()));
  const CheckpointReader* saved = from ? &*from : nullptr;
  return o.f64 ? train_as<double>(o, body, settings, saved, show, stop) : train_as<float>(o, body, settings, saved, show, stop);
}

}  // namespace stance

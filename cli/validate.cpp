// batchsim validate: a batch beside CPU MuJoCo.
#include "validate.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "arguments.h"
#include "commands.h"

using namespace batchsim;
using namespace batchsim::tools;

namespace {

constexpr int kResyncSteps = 8000;  // of all worlds, at least: shares of 99.9 % need as many
constexpr int kOpenWorlds = 16, kOpenWorldsF64 = 20;

struct Options : ValidateOptions {
  std::string model, case_path, json, precision_name, situation_name = "none", controls_name;
  bool resync = false;
};

// sine and zero make all worlds alike without a situation
int default_worlds(const Options& o, const mjModel* m) {
  if (o.situation == Situation::none && o.controls != Controls::noise) return 1;
  if (!o.resync) return o.precision == Precision::f64 ? kOpenWorldsF64 : kOpenWorlds;
  const double seconds = o.seconds > 0 ? o.seconds : default_seconds(m, o.situation);
  return std::max(4, int(kResyncSteps * m->opt.timestep / seconds + 0.999));
}

int cmd_validate(Options& o) {
  o.situation = situation_named(o.situation_name);
  if (o.precision_name.empty()) o.precision_name = o.device == "check" ? "f64" : "f32";
  o.precision = o.precision_name == "f64" ? Precision::f64 : Precision::f32;
  if (o.controls_name == "sine") o.controls = Controls::sine;
  if (o.controls_name == "noise") o.controls = Controls::noise;
  if (o.controls_name == "zero") o.controls = Controls::zero;

  JsonFile file(o.json, o.model);
  Json json;
  if (!o.case_path.empty()) {
    const CaseReplay r = replay_case(o.case_path, o);
    file.write(show(r, o.case_path, o));
    return r.good ? kGood : kOutOfTolerance;
  }
  if (o.model.empty()) throw Error(Error::kInput, "validate: give a MODEL, or --case DIR/ID");

  const Model model = Model::from_file(o.model);
  Sides sides(model.mjmodel(), o, default_worlds(o, model.mjmodel()));
  for (const std::string& w : model.warnings()) std::printf("warning: %s\n", w.c_str());
  std::printf("%s\n  %s, %s, situation %s\n", model.source().c_str(), sides.batch.device_name().c_str(), o.precision_name.c_str(),
              name_of(o.situation));
  bool good;
  if (o.resync) {
    const Resync r = validate_resync(sides, o);
    json = show(r, o);
    good = r.good;
  } else {
    const OpenLoop r = validate_open_loop(sides, o);
    json = show(r, o);
    good = r.good;
  }
  const long races = show_races();
  json["races"] = races;
  json["model"] = model.source();
  json["device"] = sides.batch.device_name();
  json["precision"] = o.precision_name;
  json["situation"] = name_of(o.situation);
  file.write(json);
  return good && !races ? kGood : kOutOfTolerance;
}

}  // namespace

void add_validate(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("validate", "Steps a model beside CPU MuJoCo, and says how far apart they are");
  CLI::Option* model = sub->add_option("MODEL", o->model, "MJCF, URDF or .mjb file");
  sub->add_option("--seconds", o->seconds, "Simulated time; default: the situation's window (10, stand 1.6, none 2)")
      ->check(check_seconds);
  sub->add_option("--precision", o->precision_name, "f32 (default) or f64")->check(CLI::IsMember({"f32", "f64"}));
  sub->add_flag("--resync", o->resync, "Start every step from MuJoCo's exact state, warm start and controls");
  sub->add_option("--controls", o->controls_name, "sine (default without a situation), noise or zero")
      ->check(CLI::IsMember({"sine", "noise", "zero"}));
  sub->add_option("--situation", o->situation_name,
                  "free, stand, push or heap, for a floating body; none (default): from keyframe 0 or qpos0")
      ->check(CLI::IsMember({"free", "stand", "push", "heap", "none"}));
  sub->add_option("--worlds", o->nworld, "Worlds; default: as many as the promise needs")->check(CLI::Range(1, 100000));
  sub->add_option("--device", o->device, "cpu, cuda, cuda:N or check (finds races between a team's threads; f64)");
  sub->add_option("--nconmax", o->nconmax, "Contact slots a world")->check(check_count);
  sub->add_option("--njmax", o->njmax, "Constraint row slots a world")->check(check_count);
  sub->add_option("--threads", o->nthread, "Threads on the CPU; default: one a logical processor")->check(check_count);
  sub->add_option("--seed", o->seed, "Of the situation's random numbers")->check(check_seed);
  sub->add_option("--case", o->case_path, "Replay case ID of the folder DIR (cases.json, models, expected) instead of a MODEL")
      ->type_name("DIR/ID")
      ->excludes(model);
  sub->add_option("--json", o->json, "Write the result there; - is stdout")->type_name("FILE");
  sub->add_flag("--progress", o->progress, "Show progress where stderr is not a terminal, too");
  sub->footer(
      "Exit codes: 0 good; 1 out of the promised tolerance; 2 batchsim refuses the model; 3 MuJoCo rejects it, or bad usage.\n"
      "Examples:\n"
      "  batchsim validate models/simple.xml --situation stand --resync\n"
      "  batchsim validate models/muscular.xml --precision f64 --situation push --seconds 10\n"
      "  batchsim validate mine.xml --controls noise --seconds 4 --json result.json\n");
  sub->callback([o, &exit_code] { exit_code = cmd_validate(*o); });
}

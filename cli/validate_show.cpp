#include <algorithm>
#include <cstdio>
#include <limits>

#include "../tests/tolerances.h"
#include "common/stats.h"
#include "common/table.h"
#include "validate.h"
#include "world/counted.h"

using namespace batchsim;
using namespace batchsim::tools;

namespace {

constexpr int kShownExcesses = 12;

const char* class_name(FieldClass c) {
  return c == FieldClass::integer ? "equal" : c == FieldClass::smooth ? "smooth" : "iterative";
}
std::string percent(double share) { return format("%.4g %%", 100 * share); }
std::string margin(double tolerance, double reached) {
  if (reached == 0) return "exact";
  return reached <= tolerance ? format("%.3g times within", tolerance / reached) : format("%.3g times beyond", reached / tolerance);
}

Json show_fields(const OpenLoop& r) {
  const FieldTable& t = r.fields;
  Json json = Json::array();
  std::printf("\nFields, %s: %d states, %d of them with contacts, %d at limits\n",
              r.exact_states ? "from MuJoCo's exact states" : "along the run", t.states(), t.states_with_contact(),
              t.states_with_limit());
  const bool judged = r.exact_states;
  Table table(judged ? std::vector<std::string>{"field", "values", "class", "relative", "absolute", "tolerance", "margin", "where"}
                     : std::vector<std::string>{"field", "values", "worst, absolute"});
  for (const FieldError& f : t.fields()) {
    if (!f.compared) continue;
    const bool equal = f.kind == FieldClass::integer;
    const std::string tolerance = equal ? "equal" : error_number(f.tolerance());
    const std::string values = short_number(double(f.compared)), absolute = error_number(f.absolute);
    if (judged)
      table.add({f.name, values, class_name(f.kind), equal ? "" : error_number(f.worst), absolute, tolerance,
                 f.worst == 0 ? "exact"
                 : f.good()   ? format("%.3g", f.tolerance() / f.worst)
                              : "OUT",
                 f.good() ? "" : f.where});
    else
      table.add({f.name, values, absolute});
    json.push_back({{"field", f.name},
                    {"class", class_name(f.kind)},
                    {"values", f.compared},
                    {"worst", json_number(f.worst)},
                    {"absolute", json_number(f.absolute)},
                    {"tolerance", f.tolerance()},
                    {"where", f.where}});
  }
  table.print();
  if (r.exact_states) std::printf("  worst field at %.2g of its tolerance\n", t.worst_of_tolerance());
  return json;
}

void show_report(const Report& r) {
  const std::string message = r.message();
  if (!message.empty()) std::printf("\n%s", message.c_str());
}

int within(const Crossing& c) { return int(std::count(c.first.begin(), c.first.end(), std::numeric_limits<double>::infinity())); }

// f64: every world that left, beside MuJoCo's twin
void show_left(const OpenLoop& r) {
  if (r.left.empty()) return;
  std::printf("\nWorlds that leave %s rad, and when MuJoCo beside itself, started %s away, does\n", error_number(r.promise).c_str(),
              error_number(tolerances::kTwinStart).c_str());
  Table table({"world", "batchsim", "MuJoCo", "fell"});
  for (size_t i = 0; i < r.left.size(); i++)
    table.add({std::to_string(r.left[i]), seconds_or(r.crossings[0].first[r.left[i]], "never"), seconds_or(r.twin_left[i], "never"),
               r.fell.empty() ? "" : seconds_or(r.fell[r.left[i]], "never")});
  table.print();
}

}  // namespace

Json show(const OpenLoop& r, const ValidateOptions& o) {
  const bool f64 = o.precision == Precision::f64;
  const char* joint = r.hinges ? "joint angle" : "root pose";
  std::printf("\nOpen loop: %s, %s, %.3g s\n", counted(r.nworld, "world").c_str(), counted(r.nstep, "step").c_str(),
              r.nstep * r.timestep);
  Table over_time({"time", std::string(joint) + ", median", "worst", "root m", "root rad", "qvel"});
  for (const auto& s : r.samples)
    over_time.add({format("%.3f s", s.time), error_number(s.joint_median), error_number(s.joint), error_number(s.pos),
                   error_number(s.rot), error_number(s.qvel)});
  over_time.print();

  std::printf("\nWhen %ss leave a bound\n", joint);
  Table bounds({"rad", "first world", "median world", "worlds within to the end"});
  Json crossings = Json::array();
  for (const Crossing& c : r.crossings) {
    const double first = *std::min_element(c.first.begin(), c.first.end());
    bounds.add({error_number(c.bound), seconds_or(first, "never"), seconds_or(median(c.first), "never"),
                format("%d of %d", within(c), r.nworld)});
    crossings.push_back({{"bound", c.bound},
                         {"first", json_number(first)},
                         {"median", json_number(median(c.first))},
                         {"within", within(c)},
                         {"times", json_number(c.first)}});
  }
  bounds.print();
  if (!r.fell.empty()) {
    const auto fell = std::count_if(r.fell.begin(), r.fell.end(), [](double t) { return std::isfinite(t); });
    if (fell)
      std::printf("  %ld of %d worlds fell, the first at %.3f s\n", long(fell), r.nworld,
                  *std::min_element(r.fell.begin(), r.fell.end()));
    else
      std::printf("  all worlds stood to the end\n");
  }
  if (f64) show_left(r);
  const Json fields = show_fields(r);
  show_report(r.report);

  std::printf("\n");
  if (f64) {
    std::printf("%s: joints within %s rad to the end in %d of %d worlds (promised %s, the rest chaotic): %s; fields: %s\n",
                r.good ? "good" : "OUT OF TOLERANCE", error_number(r.promise).c_str(), within(r.crossings[0]), r.nworld,
                percent(tolerances::kJointF64Share).c_str(), r.joints_good ? "good" : "OUT", r.fields.good() ? "good" : "OUT");
    std::printf("margin: worst joint %s; worst field %s\n", margin(r.promise, r.reached).c_str(),
                margin(1, r.fields.worst_of_tolerance()).c_str());
  } else {
    std::printf("median world at the end %s rad; MuJoCo with its state rounded to float each step %s\n",
                error_number(r.reached).c_str(), error_number(median(r.floor_end)).c_str());
    if (r.promised)
      std::printf("%s: promised %s rad, %s\n", r.good ? "good" : "OUT OF TOLERANCE", error_number(r.promise).c_str(),
                  margin(r.promise, r.reached).c_str());
    else
      std::printf("%s: nothing is promised for float in an open loop of this kind\n", r.good ? "good" : "OUT OF TOLERANCE");
  }
  Json samples = Json::array();
  for (const auto& s : r.samples)
    samples.push_back({{"time", s.time},
                       {"joint_median", json_number(s.joint_median)},
                       {"joint", json_number(s.joint)},
                       {"pos", json_number(s.pos)},
                       {"rot", json_number(s.rot)},
                       {"qvel", json_number(s.qvel)}});
  return {{"kind", "open loop"},
          {"worlds", r.nworld},
          {"steps", r.nstep},
          {"timestep", r.timestep},
          {"samples", samples},
          {"crossings", crossings},
          {"joint_end", json_number(r.joint_end)},
          {"floor_end", json_number(r.floor_end)},
          {"fell", json_number(r.fell)},
          {"left", r.left},
          {"twin_left", json_number(r.twin_left)},
          {"fields", fields},
          {"report", to_json(r.report)},
          {"promised", r.promised},
          {"promise", r.promise},
          {"reached", json_number(r.reached)},
          {"good", r.good}};
}

Json show(const Resync& r, const ValidateOptions& o) {
  const bool f32 = o.precision == Precision::f32;
  std::printf("\nEach step from MuJoCo's exact state, warm start and controls: %s, %s each\n", counted(r.nworld, "world").c_str(),
              counted(r.nstep, "step").c_str());
  const std::string bound = "under " + error_number(r.bound);
  Table table({r.hinges ? "joint angles of the step, rad" : "root pose of the step", bound, "p50", "p99", "max"});
  const auto row = [&](const char* name, const std::vector<double>& e, double share) {
    table.add({name, percent(share), error_number(median(e)), error_number(quantile(e, 0.99)), error_number(largest(e))});
  };
  row("batchsim", r.joint, r.share);
  if (f32) row("MuJoCo from the float-rounded state", r.floor, r.floor_share);
  table.print();
  std::printf("  worst of the root %s m, %s rad; of qvel %s\n", error_number(r.pos).c_str(), error_number(r.rot).c_str(),
              error_number(r.qvel).c_str());

  Json list = Json::array();
  for (const Excess& x : r.excess)
    list.push_back({{"world", x.world},
                    {"step", x.step},
                    {"error", json_number(x.error)},
                    {"floor", x.floor},
                    {"differs", x.differs},
                    {"floor_differs", x.floor_differs}});
  if (!r.excess.empty()) {
    std::printf(
        "\nSteps beyond %s: %zu. Contacts or active rows differ from MuJoCo's: %d (explained); nothing differs: %d (bug). "
        "MuJoCo from the rounded state is beyond too: %d\n",
        error_number(r.bound).c_str(), r.excess.size(), r.explained, r.bugs, r.floor_too);
    Table steps({"world", "step", "error", "floor", "what differs", "what differs for the floor"});
    // bugs first, then the largest
    std::vector<Excess> shown = r.excess;
    std::stable_sort(shown.begin(), shown.end(), [](const Excess& a, const Excess& b) {
      return a.differs.empty() != b.differs.empty() ? a.differs.empty() : a.error > b.error;
    });
    for (size_t i = 0; i < shown.size() && i < kShownExcesses; i++) {
      const Excess& x = shown[i];
      steps.add({std::to_string(x.world), std::to_string(x.step), error_number(x.error), error_number(x.floor),
                 x.differs.empty() ? "nothing: a bug" : x.differs, x.floor_differs.empty() ? "nothing" : x.floor_differs});
    }
    steps.print();
    if (shown.size() > kShownExcesses) std::printf("  and %zu more\n", shown.size() - kShownExcesses);
  }
  show_report(r.report);
  std::printf("\n%s: %s of steps within %s rad, promised %s; explained %d, bug %d\n", r.good ? "good" : "OUT OF TOLERANCE",
              percent(r.share).c_str(), error_number(r.bound).c_str(), percent(r.promised_share).c_str(), r.explained, r.bugs);
  return {{"kind", "resync"},
          {"worlds", r.nworld},
          {"steps", r.nstep},
          {"bound", r.bound},
          {"share", r.share},
          {"promised_share", r.promised_share},
          {"p50", json_number(median(r.joint))},
          {"p99", json_number(quantile(r.joint, 0.99))},
          {"max", json_number(largest(r.joint))},
          {"floor_share", r.floor_share},
          {"floor_p50", json_number(median(r.floor))},
          {"floor_p99", json_number(quantile(r.floor, 0.99))},
          {"floor_max", json_number(largest(r.floor))},
          {"pos", json_number(r.pos)},
          {"rot", json_number(r.rot)},
          {"qvel", json_number(r.qvel)},
          {"explained", r.explained},
          {"bugs", r.bugs},
          {"floor_too", r.floor_too},
          {"excess", list},
          {"report", to_json(r.report)},
          {"good", r.good}};
}

Json show(const CaseReplay& r, const std::string& path, const ValidateOptions& o) {
  std::printf("%s\n  %s, %s\n", path.c_str(), r.device.c_str(), o.precision == Precision::f32 ? "f32" : "f64");
  Table table({"step", "qpos error", "allowed", "noise", "contacts: missing", "apart, m", "ncon", "nefc", ""});
  Json list = Json::array();
  const auto beside = [](int ours, int recorded) {
    return ours == recorded ? std::to_string(ours) : format("%d, recorded %d", ours, recorded);
  };
  for (const CaseRecord& x : r.records) {
    table.add({std::to_string(x.step), error_number(x.error), x.judged ? error_number(x.allowed) : "", error_number(x.noise),
               x.has_contacts ? std::to_string(x.missing) : "", x.has_contacts ? error_number(x.apart) : "",
               beside(x.ncon, x.ncon_recorded), beside(x.nefc, x.nefc_recorded),
               !x.judged ? "skipped: noise"
               : x.good  ? ""
                         : "OUT"});
    list.push_back({{"step", x.step},
                    {"error", json_number(x.error)},
                    {"allowed", x.allowed},
                    {"noise", x.noise},
                    {"judged", x.judged},
                    {"good", x.good},
                    {"contacts_missing", x.missing},
                    {"contacts_apart", json_number(x.apart)},
                    {"ncon", x.ncon},
                    {"nefc", x.nefc}});
  }
  table.print();
  show_report(r.report);
  std::printf("\n%s: %d of %zu recorded steps compared, worst at %.2g of what is allowed\n", r.good ? "good" : "OUT OF TOLERANCE",
              r.judged, r.records.size(), r.worst);
  return {{"kind", "case"},
          {"case", path},
          {"device", r.device},
          {"precision", o.precision == Precision::f32 ? "f32" : "f64"},
          {"records", list},
          {"worst", json_number(r.worst)},
          {"report", to_json(r.report)},
          {"good", r.good}};
}

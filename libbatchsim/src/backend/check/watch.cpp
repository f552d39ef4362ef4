#include "backend/check/watch.h"

#include <mutex>
#include <set>
#include <sstream>
#include <utility>

namespace batchsim {
namespace {

std::mutex mutex;
RaceReport races;
std::set<Site> barriers;
Site left_out;

std::string base_name(const char* path) {
  const std::string p = path;
  return p.substr(p.rfind('/') + 1);
}

std::string lane_name(int lane) {
  return lane == Watch::kEverybody ? "several lanes" : lane == Watch::kNobody ? "all lanes" : "lane " + std::to_string(lane);
}

}  // namespace

Watch& watch() {
  thread_local Watch w;
  return w;
}

void Watch::race(const char* what, const void* element, int other) {
  std::lock_guard lock(mutex);
  races.count++;
  if (races.first.size() >= 20) return;
  std::ostringstream s;
  const char* p = static_cast<const char*>(element);
  const Name* name = nullptr;
  for (const Name& n : names)
    if (p >= n.begin && p < n.end) name = &n;
  s << base_name(where.file_name()) << ":" << where.line() << ": " << (name ? name->field : "?");
  if (name) s << " + " << (p - name->begin) << " bytes";
  s << " " << what << " by " << lane_name(lane) << ", touched in the same phase by " << lane_name(other);
  races.first.push_back(s.str());
}

void Watch::barrier(const std::source_location& at) {
  std::lock_guard lock(mutex);
  const Site site{base_name(at.file_name()), at.line()};
  barriers.insert(site);
  if (site.line == left_out.line && site.file == left_out.file) return;
  epoch++;
}

void leave_out(const Site& barrier) {
  std::lock_guard lock(mutex);
  left_out = barrier;
}

std::vector<Site> take_barriers() {
  std::lock_guard lock(mutex);
  const std::set<Site> s = std::exchange(barriers, {});
  return {s.begin(), s.end()};
}

RaceReport take_races() {
  std::lock_guard lock(mutex);
  return std::exchange(races, {});
}

}  // namespace batchsim

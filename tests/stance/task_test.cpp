// The numbers of the task are those that docs/stance.md gives.
#include "task.h"

#include <fstream>
#include <map>
#include <sstream>

#include "catch.h"

namespace {

// rows of the tables of a page, by the name in their first column
std::map<std::string, std::vector<std::string>> rows_of(const std::string& path) {
  std::map<std::string, std::vector<std::string>> rows;
  std::ifstream file(path);
  bool numbers = false;  // the page has other tables before
  for (std::string line; std::getline(file, line);) {
    numbers = numbers || line == "## The numbers";
    if (!numbers || line.rfind("| `", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream s(line.substr(1));
    for (std::string cell; std::getline(s, cell, '|');) {
      const size_t a = cell.find_first_not_of(" `"), b = cell.find_last_not_of(" `");
      cells.push_back(a == std::string::npos ? "" : cell.substr(a, b - a + 1));
    }
    rows[cells.at(0)] = cells;
  }
  return rows;
}

}  // namespace

TEST_CASE("the task's numbers are those of its page") {
  auto rows = rows_of(BATCHSIM_SOURCE "/docs/stance.md");
  int compared = 0;
  const auto number = [&](const std::string& name, double value, const std::string& unit) {
    INFO(name);
    REQUIRE(rows.count(name) == 1);
    CHECK(std::stod(rows[name].at(1)) == value);
    CHECK(rows[name].at(2) == unit);
    rows.erase(name);
    compared++;
  };
#define X(name, value, unit, doc) number(#name, stance::task::name, unit);
  STANCE_NUMBERS(X)
#undef X
  for (const stance::Target& t : stance::kTargets) {
    INFO(t.joint);
    REQUIRE(rows.count(t.joint) == 1);
    const double value[] = {t.fixed, t.amplitude, t.bottom, t.sine};
    for (int i = 0; i < 4; i++) CHECK(std::stod(rows[t.joint].at(1 + i)) == value[i]);
    rows.erase(t.joint);
    compared++;
  }
  CHECK(compared > 80);
  for (const auto& [name, cells] : rows) FAIL("docs/stance.md has a number that the task does not: " << name);
}

TEST_CASE("the terms of the reward add up to one") {
  using namespace stance::task;
  CHECK(weight_balance + weight_pose + weight_velocity + weight_height + weight_orientation + weight_soles + weight_drift +
            weight_pelvis_velocity ==
        Approx(1));
}

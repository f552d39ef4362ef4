// When the amplitude is raised, and when the stance is solved: decided between iterations, from the episodes of the present level.
#pragma once

#include <cmath>
#include <deque>

#include "env/env.h"
#include "task.h"

namespace stance {

class Curriculum {
 public:
  /// Iterations that hold two episodes a world: in the first those of the old level end.
  static int window(int horizon) { return static_cast<int>(std::ceil(2 * task::episode_steps / horizon)); }

  Curriculum(int nworld, int horizon) : nworld_(nworld), window_(window(horizon)) {}

  struct Episodes {
    int64_t falls = 0, truncations = 0, length = 0;
    int64_t ended() const { return falls + truncations; }
    double fall_share() const { return ended() ? double(falls) / ended() : 0; }
    double mean_length() const { return ended() ? task::control_step * length / ended() : 0; }  ///< s
  };

  /// Takes in what an iteration counted; raises the level or finds the task solved.
  void add(const EnvStats& s) {
    iteration_++;
    recent_.push_back({s.level_falls, s.level_truncations, s.level_length});
    if (static_cast<int>(recent_.size()) > window_) recent_.pop_front();
    const Episodes e = episodes();
    if (iteration_ - last_raise_ < window_ || e.ended() < nworld_) return;
    if (level_ < int(task::levels) - 1) {
      if (e.fall_share() > task::raise_fall) return;
      level_++;
      last_raise_ = iteration_;
      recent_.clear();
    } else {
      solved_ = e.fall_share() <= task::solved_fall && e.mean_length() >= task::solved_length;
    }
  }

  int level() const { return level_; }
  double amplitude() const { return level_ / (task::levels - 1); }
  bool solved() const { return solved_; }
  int iteration() const { return iteration_; }  ///< iterations taken in
  /// Episodes of the present level that ended in the last iterations, since its raise.
  Episodes episodes() const {
    Episodes sum;
    for (const Episodes& e : recent_) sum.falls += e.falls, sum.truncations += e.truncations, sum.length += e.length;
    return sum;
  }

  std::vector<double> save() const {
    std::vector<double> v = {double(level_), double(iteration_), double(last_raise_), double(solved_)};
    for (const Episodes& e : recent_) v.insert(v.end(), {double(e.falls), double(e.truncations), double(e.length)});
    return v;
  }
  void restore(const std::vector<double>& v) {
    level_ = int(v.at(0)), iteration_ = int(v.at(1)), last_raise_ = int(v.at(2)), solved_ = v.at(3) != 0;
    recent_.clear();
    for (size_t i = 4; i + 2 < v.size(); i += 3) recent_.push_back({int64_t(v[i]), int64_t(v[i + 1]), int64_t(v[i + 2])});
  }

 private:
  int nworld_, window_;
  int level_ = 0, iteration_ = 0, last_raise_ = 0;
  bool solved_ = false;
  std::deque<Episodes> recent_;
};

}  // namespace stance

#include "ppo/settings.h"

#include <batchsim/error.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

namespace stance {
namespace {

using batchsim::Error;

[[noreturn]] void refuse(const std::string& name, const std::string& value, const std::string& allowed) {
  throw Error(Error::kInput, "PPO's " + name + " is '" + value + "'; allowed are " + allowed);
}

double number(const std::string& name, const std::string& value) {
  char* end = nullptr;
  const double x = std::strtod(value.c_str(), &end);
  if (value.empty() || *end || !std::isfinite(x)) refuse(name, value, "numbers");
  return x;
}

std::vector<int> layers(const std::string& value) {
  std::vector<int> sizes;
  std::istringstream s(value);
  for (std::string part; std::getline(s, part, 'x');) {
    const double n = number("hidden", part);
    if (n != std::floor(n) || n < 1 || n > 4096) refuse("hidden", value, "sizes from 1 to 4096 with x between, such as 256x128");
    sizes.push_back(static_cast<int>(n));
  }
  if (sizes.empty() || value.back() == 'x') refuse("hidden", value, "sizes with x between, such as 256x128");
  return sizes;
}

void check(const PpoSettings& s, const std::string& name, const std::string& value) {
  if (s.horizon < 1 || s.horizon > 500) refuse(name, value, "1 ... 500: an episode may run out of time once a rollout");
  if (s.epochs < 1 || s.epochs > 1000) refuse(name, value, "1 ... 1000");
  if (s.minibatches < 1 || s.minibatches > 1000) refuse(name, value, "1 ... 1000");
  if (s.log_std < -20 || s.log_std > 5) refuse(name, value, "-20 ... 5");
  if (s.rate_factor < 1) refuse(name, value, "1 or more");
  if (s.gamma < 0 || s.gamma > 1 || s.lambda < 0 || s.lambda > 1) refuse(name, value, "0 ... 1");
  for (double positive : {s.actor_rate, s.least_rate, s.most_rate, s.target_kl, s.stop_kl, s.critic_rate, s.clip, s.grad_norm})
    if (positive <= 0) refuse(name, value, "numbers above 0");
}

}  // namespace

PpoSettings default_settings(bool stick) {
  PpoSettings s;
  if (!stick) {
    s.hidden = {128, 64};
    s.log_std = -2.0;
    s.actor_rate = 2e-4;
    s.gamma = 0.98;  // a fall comes two seconds after the shove that it is due to
    s.epochs = 3;
  }
  return s;
}

int default_worlds(bool stick) { return stick ? 32 : 256; }

void change_setting(PpoSettings& settings, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  const std::string name = assignment.substr(0, equals), value = equals == std::string::npos ? "" : assignment.substr(equals + 1);
  std::string names = "hidden";
  bool known = name == "hidden";
  PpoSettings s = settings;
  if (known) s.hidden = layers(value);
#define X(type, field, start, doc)                                                                                    \
  names += ", " #field;                                                                                               \
  if (name == #field) {                                                                                               \
    const double x = number(name, value);                                                                             \
    if (std::is_same_v<type, int> && (x != std::floor(x) || std::abs(x) > 1e6)) refuse(name, value, "whole numbers"); \
    s.field = static_cast<type>(x);                                                                                   \
    known = true;                                                                                                     \
  }
  STANCE_PPO(X)
#undef X
  if (!known) throw Error(Error::kInput, "PPO has no setting '" + name + "'; there are " + names + ", each as name=value");
  check(s, name, value);
  settings = s;
}

}  // namespace stance

#include "ppo/settings.h"

namespace stance {

PpoSettings default_settings(bool stick) {
  PpoSettings s;
  if (!stick) {
    s.hidden = {256, 128};
    s.log_std = -2.0;
    s.actor_rate = 2e-4;
  }
  return s;
}

int default_worlds(bool stick) { return stick ? 64 : 128; }

}  // namespace stance

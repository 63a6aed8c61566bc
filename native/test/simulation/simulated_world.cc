#include "test/simulation/simulated_world.h"

#include <bit>

namespace nereid::simulation {

int64_t SimulatedWorld::now_ns_ = 0;

// The finaliser of MurmurHash3 over a counter.
uint64_t Chance::Next() {
  state_ += 0x9E3779B97F4A7C15;
  uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return mixed ^ (mixed >> 31);
}

int64_t Chance::Spread(int64_t least, int64_t most) {
  const auto bits = static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(most / least)));
  const int64_t ceiling = least << Below(bits + 1);
  return least + static_cast<int64_t>(Below(static_cast<uint64_t>(std::min(ceiling, most))));
}

Event SimulatedWorld::Take() {
  Require(!events_.empty(), "nothing happens any more, and something has not come to its end");
  const Event event = events_.top();
  events_.pop();
  now_ns_ = event.time_ns;
  return event;
}

}  // namespace nereid::simulation

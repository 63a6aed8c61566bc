#include "faults.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

namespace rehearsal::faults {
namespace {

struct Fault {
  std::string call;
  std::int64_t at;  // the call that fails, by its count; 0: each
  int code;
};

// For the life of the process: streams' threads come here until its end.
struct State {
  std::mutex mutex;
  std::map<std::string, std::int64_t, std::less<>> counts;
  std::vector<Fault> faults;
  std::mt19937_64 random;
  std::uint32_t most_us = 0;

  State();
};

std::uint64_t NumberOf(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

[[noreturn]] void BadSetting(const std::string& fault) {
  std::fprintf(stderr, "rehearsal: REHEARSAL_FAULTS: expected CALL:NTH:CODE, got '%s'\n",
               fault.c_str());
  std::_Exit(2);
}

Fault Parse(const std::string& text) {
  // From behind: calls of TensorRT's interfaces have colons in their names.
  const auto second = text.rfind(':');
  const auto first =
      second == std::string::npos || second == 0 ? std::string::npos : text.rfind(':', second - 1);
  if (first == std::string::npos) {
    BadSetting(text);
  }
  const std::string nth = text.substr(first + 1, second - first - 1);
  const std::int64_t at = nth == "*" ? 0 : std::strtoll(nth.c_str(), nullptr, 10);
  const int code = std::atoi(text.c_str() + second + 1);
  if (code == 0 || (at <= 0 && nth != "*")) {
    BadSetting(text);
  }
  return {text.substr(0, first), at, code};
}

State::State() {
  if (const char* const text = std::getenv("REHEARSAL_FAULTS")) {
    std::istringstream all(text);
    for (std::string fault; std::getline(all, fault, ',');) {
      faults.push_back(Parse(fault));
    }
  }
  most_us = static_cast<std::uint32_t>(NumberOf("REHEARSAL_DELAY_US", 0));
  if (most_us > 0) {
    const std::uint64_t seed = NumberOf("REHEARSAL_SEED", std::random_device{}());
    random.seed(seed);
    std::fprintf(stderr, "rehearsal: completions are delayed by up to %u us, REHEARSAL_SEED=%llu\n",
                 most_us, static_cast<unsigned long long>(seed));
  }
}

State& TheState() {
  static State* const state = new State();
  return *state;
}

}  // namespace

int Check(const char* call) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  auto entry = state.counts.find(std::string_view(call));
  if (entry == state.counts.end()) {
    entry = state.counts.emplace(call, 0).first;
  }
  const std::int64_t count = ++entry->second;
  for (const Fault& fault : state.faults) {
    if ((fault.at == 0 || fault.at == count) && fault.call == call) {
      return fault.code;
    }
  }
  return 0;
}

void Inject(const std::string& call, std::int64_t nth, int code) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  state.faults.push_back({call, nth == 0 ? 0 : state.counts[call] + nth, code});
}

void Clear() {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  state.faults.clear();
  state.most_us = 0;
}

void Delay(std::uint64_t seed, std::uint32_t most_us) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  state.random.seed(seed);
  state.most_us = most_us;
}

std::int64_t Count(const std::string& call) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  const auto entry = state.counts.find(call);
  return entry == state.counts.end() ? 0 : entry->second;
}

std::string Calls() {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  std::string lines;
  for (const auto& [call, count] : state.counts) {
    lines += call + ' ' + std::to_string(count) + '\n';
  }
  return lines;
}

void WaitAtRandom() {
  State& state = TheState();
  std::chrono::microseconds time{0};
  {
    const std::lock_guard lock(state.mutex);
    if (state.most_us == 0) {
      return;
    }
    time = std::chrono::microseconds(state.random() % (state.most_us + 1ULL));
  }
  std::this_thread::sleep_for(time);
}

}  // namespace rehearsal::faults

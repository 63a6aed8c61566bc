// Tests the rate limiter alone: the order of turns, and that no holder gets more than there is.
#include "core/schedule/rate_limiter.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>

#include "doctest/doctest.h"

namespace nereid::test {
namespace {

using Holder = RateLimiter::Holder;
using State = RateLimiter::State;

struct Nobody final : RateLimiter::Observer {
  void Changed(Holder& /*holder*/) override {}
};

ResourceCount Some(const char* name, uint32_t count, int32_t device = ResourceCount::kNoDevice) {
  return {.name = name, .count = count, .device = device};
}

const RateLimiter::Resource& Named(const RateLimiter& limiter, std::string_view name,
                                   int32_t device = ResourceCount::kNoDevice) {
  const auto& all = limiter.resources();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& resource) {
    return resource.name == name && resource.device == device;
  });
  REQUIRE(found != all.end());
  return *found;
}

TEST_CASE("there is as much of a resource as the holder needs that needs most") {
  Nobody nobody;
  RateLimiter limiter(nobody);
  std::array<Holder, 3> holders;
  REQUIRE(limiter.Add(holders[0], {Some("R1", 4, 0), Some("R2", 4, 0)}, 1).ok());
  REQUIRE(limiter.Add(holders[1], {Some("R2", 5, 0), Some("R3", 10, 0)}, 1).ok());
  REQUIRE(limiter.Add(holders[2], {Some("R1", 1, 1), Some("R3", 7, 0)}, 1).ok());
  CHECK(Named(limiter, "R1", 0).total == 4);
  CHECK(Named(limiter, "R1", 1).total == 1);
  CHECK(Named(limiter, "R2", 0).total == 5);
  CHECK(Named(limiter, "R3", 0).total == 10);
  limiter.Remove(holders[1]);
  CHECK(Named(limiter, "R2", 0).total == 4);
  CHECK(Named(limiter, "R3", 0).total == 7);
  limiter.Remove(holders[1]);  // again: nothing
  limiter.Remove(holders[0]);
  CHECK(Named(limiter, "R1", 0).wanted == 0);
}

TEST_CASE("what was limited has that much, on each device or on one") {
  Nobody nobody;
  RateLimiter limiter(nobody);
  REQUIRE(limiter.Limit({Some("R1", 10), Some("R2", 5, 0), Some("R2", 8, 1), Some("R3", 2)}).ok());
  Holder zero;
  Holder one;
  REQUIRE(limiter.Add(zero, {Some("R1", 1, 0), Some("R2", 1, 0), Some("R3", 1)}, 1).ok());
  REQUIRE(limiter.Add(one, {Some("R1", 1, 1), Some("R2", 1, 1)}, 1).ok());
  CHECK(Named(limiter, "R1", 0).total == 10);
  CHECK(Named(limiter, "R1", 1).total == 10);
  CHECK(Named(limiter, "R2", 0).total == 5);
  CHECK(Named(limiter, "R2", 1).total == 8);
  CHECK(Named(limiter, "R3").total == 2);
  CHECK(limiter.Limit({Some("R1", 1)}).code() == NRD_FAILED_PRECONDITION);
}

TEST_CASE("who has to begin first comes first, and before those that need not") {
  Nobody nobody;
  RateLimiter limiter(nobody);
  limiter.SetTotal("share", 1);
  std::array<Holder, 4> holders;
  for (Holder& holder : holders) {
    REQUIRE(limiter.Add(holder, {Some("share", 1)}, 1).ok());
  }
  CHECK(limiter.AcquireOrWait(holders[0]));
  CHECK(!limiter.AcquireOrWait(holders[1]));
  CHECK(!limiter.AcquireOrWait(holders[2], 900));
  CHECK(!limiter.AcquireOrWait(holders[3], 700));
  CHECK(!limiter.AcquireOrWait(holders[2], 500));  // something more urgent came
  limiter.Leave(holders[0]);
  CHECK(holders[2].state() == State::kGranted);
  limiter.Leave(holders[2]);
  CHECK(holders[3].state() == State::kGranted);
  limiter.Leave(holders[3]);
  CHECK(holders[1].state() == State::kGranted);
  limiter.SetTotal("share", 2);
  CHECK(limiter.AcquireOrWait(holders[0]));
}

TEST_CASE("needs that can never be met are refused, and leave nothing") {
  Nobody nobody;
  RateLimiter limiter(nobody);
  REQUIRE(limiter.Limit({Some("R1", 3)}).ok());
  Holder refused;
  const Status status = limiter.Add(refused, {Some("R2", 1), Some("R1", 4)}, 1);
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(status.message() ==
        "Resource count for \"R1\" is limited to 3 which will prevent scheduling of one or more "
        "model instances, the minimum required count is 4");
  CHECK(limiter.resources().empty());

  Holder there;
  REQUIRE(limiter.Add(there, {Some("R2", 1, 0)}, 1).ok());
  CHECK(limiter.Add(refused, {Some("R2", 1)}, 1).message() ==
        "Resource \"R2\" is present as both global and device-specific resource in the model "
        "configuration.");
  CHECK(limiter.Add(refused, {Some("R4", 1), Some("R4", 2)}, 1).message() ==
        "resource 'R4' is there twice");
  CHECK(limiter.Add(refused, {Some("", 1)}, 1).message() == "a resource has no name");
  CHECK(limiter.Add(refused, {Some("R4", 1, -2)}, 1).code() == NRD_INVALID_ARGUMENT);
  limiter.Remove(there);
  CHECK(limiter.Add(refused, {Some("R2", 1)}, 1).ok());  // nobody needs it by device any more
}

TEST_CASE("where two wait all the time, priority 2 executes half as often as priority 1") {
  Nobody nobody;
  RateLimiter limiter(nobody);
  std::array<Holder, 3> holders;
  const std::array<uint32_t, 3> priorities = {1, 2, 0};  // 0 is 1
  std::map<const Holder*, int> executions;
  for (size_t i = 0; i < holders.size(); ++i) {
    REQUIRE(limiter.Add(holders[i], {Some("R1", 1)}, priorities[i]).ok());
    limiter.AcquireOrWait(holders[i]);
  }
  for (int round = 0; round < 5000; ++round) {
    const auto holding = std::find_if(holders.begin(), holders.end(), [](const Holder& holder) {
      return holder.state() != State::kWaits;
    });
    REQUIRE(holding != holders.end());
    if (holding->state() == State::kGranted) {
      REQUIRE(limiter.AcquireOrWait(*holding));
    }
    ++executions[&*holding];
    limiter.AcquireOrWait(*holding);  // it has the next request already
  }
  CHECK(executions[&holders[0]] == 2000);
  CHECK(executions[&holders[1]] == 1000);
  CHECK(executions[&holders[2]] == 2000);
}

TEST_CASE("the last priorities come after all others, and put nobody's turn off") {
  Nobody nobody;
  RateLimiter limiter(nobody);
  std::array<Holder, 4> holders;
  auto& [often, seldom, last, idle] = holders;
  REQUIRE(limiter.Add(often, {Some("R1", 1)}, 1).ok());
  REQUIRE(limiter.Add(seldom, {Some("R1", 1)}, 1000).ok());
  REQUIRE(limiter.Add(last, {Some("R1", 1)}, NRD_PRIORITY_LAST).ok());
  REQUIRE(limiter.Add(idle, {Some("R1", 1)}, NRD_PRIORITY_IDLE).ok());
  REQUIRE(limiter.AcquireOrWait(idle));  // nobody else wants it
  CHECK_FALSE(limiter.AcquireOrWait(last, 5));
  CHECK_FALSE(limiter.AcquireOrWait(seldom));
  CHECK_FALSE(limiter.AcquireOrWait(often));
  CHECK_FALSE(limiter.AcquireOrWait(idle));
  REQUIRE(limiter.AcquireOrWait(seldom));  // it came before `often`
  CHECK_FALSE(limiter.AcquireOrWait(seldom));
  for (int round = 0; round < 100; ++round) {
    REQUIRE(limiter.AcquireOrWait(often));
    REQUIRE(last.state() == State::kWaits);
  }
  limiter.Leave(often);
  REQUIRE(limiter.AcquireOrWait(seldom));
  limiter.Leave(seldom);
  REQUIRE(limiter.AcquireOrWait(last));
  CHECK_FALSE(limiter.AcquireOrWait(often));
  limiter.Leave(last);
  REQUIRE(limiter.AcquireOrWait(often));
  limiter.Leave(often);
  CHECK(idle.state() == State::kGranted);
}

TEST_CASE("who comes late, or was idle, owes nothing and is owed nothing") {
  Nobody nobody;
  RateLimiter limiter(nobody);
  Holder old;
  REQUIRE(limiter.Add(old, {Some("R1", 1)}, 1).ok());
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(limiter.TryAcquire(old));
    limiter.Leave(old);
  }
  Holder fresh;
  REQUIRE(limiter.Add(fresh, {Some("R1", 1)}, 1).ok());
  REQUIRE(limiter.AcquireOrWait(fresh));
  CHECK_FALSE(limiter.AcquireOrWait(old));
  int row = 0;
  while (limiter.AcquireOrWait(fresh)) {
    REQUIRE(++row < 3);
  }
  CHECK(old.state() == State::kGranted);
}

TEST_CASE("a turn that is not used does not count") {
  Nobody nobody;
  RateLimiter limiter(nobody);
  std::array<Holder, 3> holders;
  for (Holder& holder : holders) {
    REQUIRE(limiter.Add(holder, {Some("R1", 1)}, 1).ok());
  }
  REQUIRE(limiter.AcquireOrWait(holders[0]));
  CHECK_FALSE(limiter.AcquireOrWait(holders[1]));
  limiter.Leave(holders[0]);
  REQUIRE(holders[1].state() == State::kGranted);
  CHECK_FALSE(limiter.AcquireOrWait(holders[0]));
  CHECK_FALSE(limiter.TryAcquire(holders[2]));
  CHECK_FALSE(limiter.AcquireOrWait(holders[2]));
  limiter.Leave(holders[1]);  // it had nothing to execute after all
  REQUIRE(holders[2].state() == State::kGranted);
  CHECK_FALSE(limiter.AcquireOrWait(holders[1]));
  limiter.Leave(holders[2]);
  CHECK(holders[1].state() == State::kGranted);  // its turn is still before the next of the first
  CHECK(holders[0].state() == State::kWaits);
}

TEST_CASE("a claim ends with the wait") {
  Nobody nobody;
  RateLimiter limiter(nobody);
  REQUIRE(limiter.Limit({Some("R1", 4)}).ok());
  Holder first;
  Holder large;
  Holder small;
  REQUIRE(limiter.Add(first, {Some("R1", 3)}, 1).ok());
  REQUIRE(limiter.Add(large, {Some("R1", 4)}, 1).ok());
  REQUIRE(limiter.Add(small, {Some("R1", 1)}, 1).ok());
  REQUIRE(limiter.AcquireOrWait(first));
  CHECK_FALSE(limiter.AcquireOrWait(large));
  CHECK_FALSE(limiter.AcquireOrWait(small));
  CHECK(limiter.AwaitedBy(large)->free() == 1);
  CHECK(limiter.NeedOf(large, *limiter.AwaitedBy(large)) == 4);
  CHECK(limiter.AwaitedBy(small)->name == "R1");
  SUBCASE("because it leaves") { limiter.Leave(large); }
  SUBCASE("because it is removed") { limiter.Remove(large); }
  CHECK(small.state() == State::kGranted);
  CHECK(small.waits() == 1);
  CHECK(limiter.AwaitedBy(small) == nullptr);
}

TEST_CASE("a total that falls below what is held lets nobody in until that is given back") {
  Nobody nobody;
  RateLimiter limiter(nobody);
  Holder large;
  std::array<Holder, 3> pairs;
  REQUIRE(limiter.Add(large, {Some("R1", 4)}, 1).ok());
  for (Holder& holder : pairs) {
    REQUIRE(limiter.Add(holder, {Some("R1", 2)}, 1).ok());
  }
  REQUIRE(limiter.AcquireOrWait(pairs[0]));
  REQUIRE(limiter.AcquireOrWait(pairs[1]));
  limiter.Remove(large);
  CHECK(Named(limiter, "R1").total == 2);
  CHECK(Named(limiter, "R1").free() == 0);
  CHECK_FALSE(limiter.AcquireOrWait(pairs[2]));
  limiter.Leave(pairs[0]);
  CHECK(pairs[2].state() == State::kWaits);
  limiter.Leave(pairs[1]);
  CHECK(pairs[2].state() == State::kGranted);
}

// Holders that come and go, wait, execute and give up, in an order that a seed chooses.
class Play {
 public:
  explicit Play(uint32_t seed) : random_(seed), limiter_(nobody_) {
    if (Below(2) == 0) {
      REQUIRE(limiter_.Limit({Some("A", 5), Some("B", 4)}).ok());
    }
  }

  void Step() {
    if (players_.size() < 3 || (players_.size() < 12 && Below(20) == 0)) {
      Join();
    }
    Player& player = *players_[Below(players_.size())];
    const bool executes = player.holder.state() == State::kExecutes;
    switch (Below(executes ? 4 : 8)) {
      case 0:
        limiter_.Leave(player.holder);
        break;
      case 1:
        if (!executes) {
          limiter_.TryAcquire(player.holder);
          break;
        }
        [[fallthrough]];
      default:
        limiter_.AcquireOrWait(player.holder);
    }
    if (Below(40) == 0) {
      const size_t leaving = Below(players_.size());
      limiter_.Remove(players_[leaving]->holder);
      players_.erase(players_.begin() + static_cast<std::ptrdiff_t>(leaving));
    }
    Check();
  }

  // Checks that every holder gets a turn as long as executions end.
  void CheckNobodyStarves() {
    for (const auto& waiting : players_) {
      limiter_.AcquireOrWait(waiting->holder);
      for (int i = 0; i < 2000 && waiting->holder.state() == State::kWaits; ++i) {
        Player& other = *players_[Below(players_.size())];
        if (other.holder.state() != State::kWaits) {
          limiter_.AcquireOrWait(other.holder);  // again and again
        }
      }
      REQUIRE(waiting->holder.state() != State::kWaits);
    }
  }

 private:
  struct Player {
    std::vector<ResourceCount> needs;
    Holder holder;
  };

  size_t Below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }

  void Join() {
    auto player = std::make_unique<Player>();
    for (const char* name : {"A", "B", "C"}) {
      if (Below(2) == 0) {
        player->needs.push_back(Some(name, static_cast<uint32_t>(1 + Below(4))));
      }
    }
    REQUIRE(limiter_.Add(player->holder, player->needs, static_cast<uint32_t>(Below(4))).ok());
    players_.push_back(std::move(player));
  }

  void Check() {
    std::map<std::string, uint64_t> held;
    bool first = true;
    for (const auto& player : players_) {
      const bool holds =
          player->holder.state() == State::kGranted || player->holder.state() == State::kExecutes;
      for (const ResourceCount& need : player->needs) {
        held[need.name] += holds ? need.count : 0;
      }
      first = first && !holds;
    }
    bool anybody_waits = false;
    for (const auto& player : players_) {
      anybody_waits = anybody_waits || player->holder.state() == State::kWaits;
    }
    REQUIRE_FALSE((first && anybody_waits));  // somebody is always served
    for (const RateLimiter::Resource& resource : limiter_.resources()) {
      REQUIRE(resource.held == held[resource.name]);
      // A total can fall below the held amount only if it depends on the present holders.
      if (resource.held > resource.total) {
        REQUIRE(resource.free() == 0);
        REQUIRE(resource.total == resource.wanted);
      }
    }
  }

  Nobody nobody_;
  std::mt19937 random_;
  RateLimiter limiter_;
  std::vector<std::unique_ptr<Player>> players_;
};

TEST_CASE("whatever happens, the books are right, somebody is served, and nobody starves") {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Play play(seed);
    for (int step = 0; step < 1500; ++step) {
      play.Step();
    }
    play.CheckNobodyStarves();
  }
}

}  // namespace
}  // namespace nereid::test

// Processes of isolated models die in every possible way while other models serve.
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "test/core/failing_heap.h"
#include "test/isolation/isolation_fixture.h"

namespace nereid::test {
namespace {

// The rounds of each command; NEREID_ISOLATION_ROUNDS=200 makes a long run.
int Rounds() {
  const char* const wanted = std::getenv("NEREID_ISOLATION_ROUNDS");
  return wanted == nullptr ? 4 : std::atoi(wanted);
}

// Sanitizers need more address space than any limit allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr char kMemoryMb[] = "0";
constexpr bool kHasLimit = false;
#else
constexpr char kMemoryMb[] = "256";
constexpr bool kHasLimit = true;
#endif

// A client that sends requests one after another and checks each answer.
class Neighbour {
 public:
  explicit Neighbour(TestModel& model)
      : thread_([this, &model] {
          for (int32_t i = 0; !stops_; ++i) {
            TestRequest request(model, 1 + i % 3, -1 - i);
            const bool right =
                request.SubmitAndWait() == NRD_OK &&
                request.output() ==
                    std::vector<int32_t>(static_cast<size_t>(4 * (1 + i % 3)), -1 - i);
            (right ? right_ : wrong_).fetch_add(1);
          }
        }) {}
  ~Neighbour() {
    stops_ = true;
    thread_.join();
    CHECK(wrong_ == 0);
    CHECK(right_ > 0);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

 private:
  std::atomic<bool> stops_{false};
  std::atomic<uint64_t> right_{0};
  std::atomic<uint64_t> wrong_{0};
  std::thread thread_;
};

void LetDieInAnyWay(const std::string& backend) {
  TestRuntime runtime;
  FunctionBackend in_process{.run = CopyInputs};
  TestModel first(runtime, in_process);
  TestModel second(Isolated(runtime));
  // Scribbling may look like an answer that never ends.
  TestModel victim(Isolated(runtime, {.backend = backend,
                                      .parameters = {{"isolation_timeout_ms", "300"},
                                                     {"isolation_memory_mb", kMemoryMb},
                                                     {"isolation_deaths", "1000000"}}}));
  const Belongings before = CountBelongings();
  {
    const Neighbour one(first);
    const Neighbour other(second);
    for (int32_t round = 0; round < Rounds(); ++round) {
      for (int32_t i = 1; i < static_cast<int32_t>(Command::kCount); ++i) {
        const auto command = static_cast<Command>(i);
        if (command == Command::kEatMemory && !kHasLimit) {
          continue;
        }
        CommandRequest request(victim, command, 1 + round);
        const int32_t code = request.SubmitAndWait();
        CAPTURE(i);
        CAPTURE(round);
        if (command < Command::kFail) {
          CHECK(code == NRD_UNAVAILABLE);
        }
        // An answer that the child overwrites may be lost, refused or changed; the next request may
        // meet a process that is about to be killed, or one that reports too much.
        TestRequest next(victim, 1, -7);
        int32_t after = RunWithinLimit(next);
        for (int tries = 0; command > Command::kFail && after != NRD_OK && tries < 3; ++tries) {
          after = RunWithinLimit(next);
        }
        CHECK_MESSAGE(after == NRD_OK, std::string(next.message()));
      }
    }
  }
  const Belongings after = CountBelongings();
  CHECK(after.descriptors == before.descriptors);
  CHECK(after.children == before.children);
  CHECK(IsolationStats(second).restarts == 0);
}

TEST_CASE("a model that dies in any way takes nobody along, and comes back") {
  LetDieInAnyWay("identity");
}

TEST_CASE("an answer that is lost for lack of memory does not reach the next request") {
  bool happened = true;
  for (int64_t number = 1; happened; ++number) {
    CAPTURE(number);
    TestRuntime runtime;
    TestModel model(Isolated(runtime));
    TestRequest lost(model, 1, -111);
    {
      const FailingAllocation failing(number);
      if (lost.Submit() == NRD_PENDING) {
        nrd_request_wait(lost.get(), In(kPatienceMs));
      }
      happened = failing.happened();
    }
    for (const int32_t value : {-222, -333}) {
      TestRequest next(model, 1, value);
      REQUIRE(next.SubmitAndWait() == NRD_OK);
      CHECK(next.output() == std::vector<int32_t>(4, value));
    }
  }
}

TEST_CASE("a model that answers each request by itself dies alone, too") {
  LetDieInAnyWay("triton");
}

}  // namespace
}  // namespace nereid::test

// Sequences from many threads over real instances: every sum is right in spite of cancels and
// failures. The fixtures check that no buffer, record or model is left.
#include <atomic>
#include <random>
#include <thread>

#include "test/core/sequence_fixture.h"

namespace nereid::test {
namespace {

constexpr int kClients = 8;
constexpr int kSequencesOfAClient = 60;

struct Outcome {
  std::atomic<uint64_t> answered{0};
  std::atomic<uint64_t> cancelled{0};
  std::atomic<uint64_t> wrong{0};
};

// One sequence after another, each with an id of its own: three requests are sent before the first
// answer is waited for, and now and then one is given up.
void Converse(SequenceModel& model, uint64_t client, Outcome& outcome) {
  std::mt19937_64 random(client);
  for (uint64_t i = 0; i < kSequencesOfAClient; ++i) {
    const uint64_t id = client * 1'000'000 + i + 1;
    const auto length = static_cast<int>(1 + random() % 12);
    const bool gives_up = random() % 6 == 0;
    std::vector<std::unique_ptr<SequenceRequest>> requests;
    std::vector<int32_t> sums;
    int32_t sum = 0;
    for (int n = 0; n < length; ++n) {
      const auto value = static_cast<int32_t>(random() % 1000);
      const uint32_t flags = (n == 0 ? kStart : 0U) | (n == length - 1 ? kEnd : 0U);
      requests.push_back(std::make_unique<SequenceRequest>(model, id, value, flags));
      sum += value;
      sums.push_back(sum);
    }
    bool broken = false;
    size_t waited = 0;
    const auto wait_for = [&](size_t end) {
      for (; waited < end; ++waited) {
        const int32_t code = requests[waited]->Wait();
        broken |= code != NRD_OK;
        outcome.cancelled += code == NRD_CANCELLED;
        outcome.answered += code == NRD_OK;
        outcome.wrong +=
            code == NRD_OK && !gives_up && requests[waited]->output()[0] != sums[waited];
        outcome.wrong += code != NRD_OK && !gives_up;
      }
    };
    for (size_t n = 0; n < requests.size() && !broken; ++n) {
      if (requests[n]->Submit() != NRD_PENDING && (*requests[n])->status != NRD_OK) {
        outcome.wrong += !gives_up;
        requests.resize(n);
        break;
      }
      if (gives_up && random() % 3 == 0) {
        nrd_request_cancel(requests[n]->get());
      }
      if (n >= 2) {
        wait_for(n - 1);
      }
      if (broken) {
        requests.resize(n + 1);
      }
    }
    wait_for(requests.size());
    if (gives_up) {  // otherwise the sequence would keep its slot until it times out
      SequenceRequest last(model, id, 7, kStart | kEnd);
      outcome.wrong += last.SubmitAndWait() != NRD_OK || last.output()[0] != 7;
    }
  }
}

}  // namespace

TEST_CASE("sums of sequences are right under many threads") {
  for (const int32_t strategy : {NRD_SEQUENCES_DIRECT, NRD_SEQUENCES_OLDEST}) {
    for (const bool with_state : {false, true}) {
      TestRuntime runtime;
      SequenceModel model(runtime, {.strategy = strategy,
                                    .max_batch_size = 4,
                                    .instance_count = 2,
                                    .candidates = 3,
                                    .flags = with_state ? 0U : uint32_t{NRD_MODEL_NO_INLINE},
                                    .with_state = with_state,
                                    .state_flags = NRD_STATE_SAME_BUFFER});
      Outcome outcome;
      std::vector<std::thread> clients;
      for (uint64_t client = 1; client <= kClients; ++client) {
        clients.emplace_back([&, client] { Converse(model, client, outcome); });
      }
      for (std::thread& client : clients) {
        client.join();
      }
      CHECK(outcome.wrong == 0);
      CHECK((with_state || outcome.cancelled > 0));
      CHECK(outcome.answered > kClients * kSequencesOfAClient);
      CHECK(model.stats().backlog == 0);
      const nrd_sequence_stats stats = model.stats();
      CHECK(stats.active == 0);
      CHECK(stats.started == stats.ended);
      CHECK(stats.state_bytes == 0);
    }
  }
}

}  // namespace nereid::test

// Fuzzes the answers of an isolated model's child: records in the ring, and texts and tensors in
// the shared memory. The core handles them as it handles any child's.
#define DOCTEST_CONFIG_IMPLEMENT
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "isolation/answer_check.h"
#include "isolation/answer_taker.h"
#include "isolation/shared_channel.h"
#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

constexpr uint64_t kAreaBytes = 4096;
constexpr uint8_t kMostRecords = 16;

// A child process played by the fuzzer. Used by one thread at a time.
class Child {
 public:
  Child() {
    error_.struct_size = sizeof(error_);
    REQUIRE(SharedChannel::Create(kAreaBytes, &channel_).ok());
    REQUIRE(SharedChannel::Map(dup(channel_->descriptor()), kAreaBytes, &own_).ok());
  }

  // Answers with `count` records, followed by `bytes` in the child's memory.
  void Answer(size_t count, std::string_view bytes) {
    ChannelControl& control = *own_->control();
    control.to_parent.read.store(0);
    RingWriter to(&control.to_parent);
    count = std::min(count, bytes.size() / sizeof(Record));
    for (size_t i = 0; i < count; ++i) {
      Record record;
      std::memcpy(&record, bytes.data() + i * sizeof(Record), sizeof(Record));
      REQUIRE(to.Put(record));
    }
    to.Publish();
    bytes.remove_prefix(count * sizeof(Record));
    std::memset(own_->outputs(), 0, kAreaBytes);
    bytes.copy(reinterpret_cast<char*>(own_->outputs()), kAreaBytes);
    bytes.copy(control.message, sizeof(control.message));
  }

  // Handles the answer as IsolatedInstance does; IsolatedInstance kills the child on
  // NRD_UNAVAILABLE.
  Status Execute(nrd_batch* batch) {
    ChannelControl& control = *channel_->control();
    RingReader from(&control.to_parent);
    check_.Begin(*batch, kAreaBytes, sizeof(control.message));
    Status failed;
    for (;;) {
      Record record;
      if (from.Take(&record) != RingReader::Taken::kRecord) {
        return Status::Unavailable("the child is gone");
      }
      if (const char* const wrong = check_.Check(record); wrong != nullptr) {
        return Status::Unavailable(wrong);
      }
      if (record.kind == RecordKind::kEnd) {
        WriteError(&error_, record.datatype, {control.message, record.byte_size});
        Status ended = StatusFromCallback(record.datatype, error_, "the backend");
        return ended.ok() ? std::move(failed) : std::move(ended);
      }
      Status taken = taker_.Take(record, *channel_, batch);
      failed = failed.ok() ? std::move(taken) : std::move(failed);
    }
  }

 private:
  std::unique_ptr<SharedChannel> channel_;
  std::unique_ptr<SharedChannel> own_;
  AnswerCheck check_;
  AnswerTaker taker_;
  nrd_error error_{};
};

// A plain and a decoupled model whose instances are that child, each alone and in batches.
struct Server {
  static constexpr int64_t kRows = 2;
  static constexpr size_t kTogether = 3;
  static constexpr uint64_t kUntilFullNs = 60'000'000'000;

  Child child;
  FunctionBackend backend{.run = [this](nrd_batch* batch, nrd_error* error) {
    return Report(child.Execute(batch), error);
  }};
  TestRuntime runtime{0, {.respond = [](void*, uint64_t, nrd_tensor*, uint32_t) {}}};
  TestModel plain{runtime, backend, {.flags = 0, .output_count = 2}};
  TestModel decoupled{runtime, backend, {.flags = NRD_MODEL_DECOUPLED, .output_count = 2}};
  TestModel plain_batches{runtime, backend, Batches(0)};
  TestModel decoupled_batches{runtime, backend, Batches(NRD_MODEL_DECOUPLED)};

  static ModelSettings Batches(uint32_t flags) {
    return {.max_batch_size = kRows * static_cast<int64_t>(kTogether),
            .flags = NRD_MODEL_NO_INLINE | flags,
            .max_queue_delay_ns = kUntilFullNs,
            .output_count = 2};
  }

  void Serve(uint8_t first, std::string_view bytes) {
    child.Answer(first % kMostRecords, bytes);
    const bool is_plain = first / kMostRecords % 2 == 0;
    if (first / kMostRecords / 2 % 2 == 0) {
      Ask(is_plain ? plain : decoupled, 1);
    } else {
      Ask(is_plain ? plain_batches : decoupled_batches, kTogether);
    }
    REQUIRE(runtime.live_bytes() == 0);
  }

  static void Ask(TestModel& model, size_t count) {
    std::vector<TestRequest> requests;
    std::vector<int32_t> codes;
    for (size_t i = 0; i < count; ++i) {
      requests.emplace_back(model, kRows);
      codes.push_back(requests.back().Submit());
    }
    for (size_t i = 0; i < count; ++i) {
      TestRequest& request = requests[i];
      if ((codes[i] == NRD_PENDING ? request.Wait() : codes[i]) == NRD_OK) {
        for (uint32_t j = 0; j < 2; ++j) {
          (void)request.output(j);
        }
      }
      REQUIRE(request->status != NRD_PENDING);
    }
  }
};

// Outside of a test a check that fails ends the process.
Server* NewServer() {
  static doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  context.setAssertHandler([](const doctest::AssertData& check) {
    if (check.m_failed) {
      std::abort();
    }
  });
  return new Server();
}

}  // namespace
}  // namespace nereid::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static nereid::test::Server* const server = nereid::test::NewServer();
  if (size > 0) {
    server->Serve(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  }
  return 0;
}

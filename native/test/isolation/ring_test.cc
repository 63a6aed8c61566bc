// Tests of a child's records, as an attacker would write them.
#include "isolation/ring.h"

#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "base/clock.h"
#include "doctest/doctest.h"
#include "isolation/answer_check.h"
#include "isolation/message.h"
#include "isolation/options_message.h"

namespace nereid::test {
namespace {

Record Numbered(int64_t number) {
  Record record{};
  record.kind = RecordKind::kRun;
  record.number = number;
  return record;
}

TEST_CASE("a ring hands on every record in order, and wakes who sleeps") {
  auto ring = std::make_unique<RingMemory>();
  constexpr int64_t kCount = 100'000;
  std::thread writer([&] {
    RingWriter to(ring.get());
    for (int64_t i = 0; i < kCount; ++i) {
      while (!to.Put(Numbered(i))) {
        to.Publish();
        std::this_thread::yield();
      }
      if (i % 7 == 0 || i == kCount - 1) {
        to.Publish();
      }
      if (i % 1000 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  });
  RingReader from(ring.get());
  int64_t wrong = 0;
  for (int64_t i = 0; i < kCount;) {
    Record record{};
    if (from.Take(&record) == RingReader::Taken::kRecord) {
      wrong += record.number == i ? 0 : 1;
      ++i;
    } else {
      from.Wait(MonotonicNowNs() + 1'000'000'000);
    }
  }
  writer.join();
  CHECK(wrong == 0);
}

TEST_CASE("a reader that nobody wakes comes back at its time") {
  auto ring = std::make_unique<RingMemory>();
  RingReader from(ring.get());
  const int64_t start_ns = MonotonicNowNs();
  from.Wait(start_ns + 2'000'000);
  CHECK(MonotonicNowNs() >= start_ns + 1'000'000);
}

TEST_CASE("a ring that says more than it holds is broken, whatever it says") {
  auto ring = std::make_unique<RingMemory>();
  std::mt19937 random(48);
  RingReader from(ring.get());
  uint32_t taken = 0;
  for (int i = 0; i < 200'000; ++i) {
    ring->written.store(random() % 3 == 0 ? static_cast<uint32_t>(random())
                                          : taken + random() % (2 * kRingRecords));
    const uint32_t unread = ring->written.load() - taken;
    Record record{};
    const RingReader::Taken found = from.Take(&record);
    REQUIRE(found == (unread == 0             ? RingReader::Taken::kNothing
                      : unread > kRingRecords ? RingReader::Taken::kBroken
                                              : RingReader::Taken::kRecord));
    taken += found == RingReader::Taken::kRecord ? 1 : 0;
  }
}

TEST_CASE("what a check lets through lies where the parent reads, and comes once") {
  std::mt19937_64 random(480);
  const auto wild = [&]() -> uint64_t {
    switch (random() % 5) {
      case 0:
        return random() % 4;
      case 1:
        return 4096 - 8 + random() % 16;
      case 2:
        return ~uint64_t{0} - random() % 4096;
      default:
        return random();
    }
  };
  uint64_t passed = 0;
  for (int i = 0; i < 100'000; ++i) {
    nrd_tensor outputs[3]{};
    outputs[0].flags = NRD_TENSOR_SELECTED;
    outputs[2].flags = NRD_TENSOR_SELECTED;
    nrd_batch batch{};
    batch.request_count = 3;
    batch.input_count = 2;
    batch.output_count = 3;
    batch.outputs = outputs;
    AnswerCheck check;
    check.Begin(batch, 4096, 1024);
    uint32_t seen = 0;
    for (int j = 0; j < 6; ++j) {
      Record record;
      auto* const words = reinterpret_cast<uint64_t*>(&record);
      for (size_t k = 0; k < sizeof(record) / sizeof(uint64_t); ++k) {
        words[k] = wild();
      }
      record.kind = static_cast<RecordKind>(random() % (kRecordKinds + 2));
      record.index = static_cast<uint32_t>(random() % 4 == 0 ? wild() : random() % 4);
      record.request = static_cast<uint32_t>(random() % 4 == 0 ? wild() : random() % 5);
      if (check.Check(record) != nullptr) {
        continue;
      }
      ++passed;
      const bool output = record.kind == RecordKind::kOutput;
      const bool forward = record.kind == RecordKind::kForward;
      const bool text = record.kind == RecordKind::kValue || record.kind == RecordKind::kFail ||
                        record.kind == RecordKind::kRespondError;
      const bool of_request =
          text || record.kind == RecordKind::kRespond || record.kind == RecordKind::kReschedule;
      REQUIRE((output || forward || of_request || record.kind == RecordKind::kComputed ||
               record.kind == RecordKind::kEnd));
      if (output || text) {
        REQUIRE(record.byte_size <= 4096);
        REQUIRE(record.offset <= 4096 - record.byte_size);
      }
      if (output) {
        REQUIRE(record.rank <= NRD_MAX_RANK);
        REQUIRE(record.index < 3);
        REQUIRE(record.request <= 3);
      }
      if (of_request) {
        REQUIRE((record.request >= 1 && record.request <= 3));
      }
      if ((output && record.request == 0) || forward) {
        REQUIRE((record.index == 0 || record.index == 2));
        REQUIRE((seen & (1U << record.index)) == 0);
        seen |= 1U << record.index;
      }
      if (forward) {
        REQUIRE((record.number == 0 || record.number == 1));
      }
      if (record.kind == RecordKind::kEnd) {
        REQUIRE(record.byte_size <= 1024);
      }
    }
  }
  CHECK(passed > 1000);
}

TEST_CASE("options that come in pieces are told from whole ones") {
  nrd_tensor_spec spec{};
  spec.name = AsNrdString("INPUT0");
  spec.datatype = NRD_TYPE_FP32;
  spec.rank = 1;
  spec.dims[0] = 16;
  const nrd_parameter parameter{AsNrdString("key"), AsNrdString("value")};
  nrd_control control{};
  control.kind = NRD_CONTROL_READY;
  const int32_t initial[2] = {1, 2};
  nrd_state state{};
  state.rank = 1;
  state.dims[0] = 2;
  state.initial = initial;
  state.initial_size = sizeof(initial);
  nrd_sequence_options sequences{};
  sequences.strategy = NRD_SEQUENCES_DIRECT;
  sequences.controls = &control;
  sequences.control_count = 1;
  sequences.states = &state;
  sequences.state_count = 1;
  nrd_model_options options{};
  options.name = AsNrdString("m");
  options.version = AsNrdString("1");
  options.inputs = &spec;
  options.outputs = &spec;
  options.input_count = 1;
  options.output_count = 1;
  options.max_batch_size = 8;
  options.parameters = &parameter;
  options.parameter_count = 1;
  options.sequences = &sequences;
  MessageWriter writer;
  WriteOptions(options, &writer);
  ReadOptions whole;
  REQUIRE(whole.Read(writer.bytes()).ok());
  CHECK(View(whole.options().inputs[0].name) == "INPUT0");
  CHECK(whole.options().max_batch_size == 8);
  CHECK(View(whole.options().parameters[0].value) == "value");
  CHECK(std::memcmp(whole.options().sequences->states[0].initial, initial, sizeof(initial)) == 0);
  for (size_t size = 0; size < writer.bytes().size(); ++size) {
    ReadOptions piece;
    REQUIRE_FALSE(piece.Read(std::string_view(writer.bytes()).substr(0, size)).ok());
  }
  std::mt19937 random(4);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = writer.bytes();
    damaged[random() % damaged.size()] = static_cast<char>(random());
    ReadOptions any;
    (void)any.Read(damaged);  // no crash, and no memory out of proportion
  }
}

}  // namespace
}  // namespace nereid::test

// Tests that wrong configurations of ragged inputs, hidden tensors, batch inputs and batch outputs
// are refused.
#include <functional>

#include "test/core/ragged_fixture.h"

namespace nereid::test {
namespace {

using Change = std::function<void(RaggedOptions&)>;

// Loads good options after `change`; the message must contain `text`.
void CheckRefused(const RaggedSettings& settings, std::string_view text, const Change& change) {
  TestRuntime runtime;
  FunctionBackend backend;
  RaggedOptions options(backend, settings);
  change(options);
  const std::string message = options.Refused(runtime);
  CHECK_MESSAGE(message.find(text) != std::string::npos, message);
}

const RaggedSettings kOneCount = {.combined = {{NRD_COMBINE_ELEMENT_COUNT}}};

TEST_CASE("ragged config: unchanged it loads") {
  TestRuntime runtime;
  FunctionBackend backend;
  CHECK(RaggedOptions(backend, kOneCount).Refused(runtime).empty());
}

TEST_CASE("ragged config: hidden tensors come last, are made once, and are never optional") {
  CheckRefused(kOneCount, "input 'ROWS' is behind hidden input 'VALUES'", [](RaggedOptions& o) {
    o.inputs[0].flags = NRD_SPEC_HIDDEN;
    o.combined.clear();
    o.scattered.clear();
  });
  CheckRefused(kOneCount, "output 'ROWS_OUT' is behind hidden output 'OUT'",
               [](RaggedOptions& o) { o.outputs[0].flags = NRD_SPEC_HIDDEN; });
  CheckRefused(kOneCount, "hidden input 'HIDDEN2' is made by 0 things",
               [](RaggedOptions& o) { o.combined.clear(); });
  CheckRefused(kOneCount, "hidden input 'HIDDEN2' is made by 2 things",
               [](RaggedOptions& o) { o.combined.push_back(o.combined[0]); });
  CheckRefused(kOneCount, "input 'HIDDEN2' is optional, which a hidden one cannot be",
               [](RaggedOptions& o) { o.inputs[2].flags |= NRD_SPEC_OPTIONAL; });
  CheckRefused(kOneCount, "input 'VALUES' is optional, which a ragged one cannot be",
               [](RaggedOptions& o) { o.inputs[0].flags |= NRD_SPEC_OPTIONAL; });
  CheckRefused(kOneCount, "input 'HIDDEN2' is ragged, which only what requests bring can be",
               [](RaggedOptions& o) { o.inputs[2].flags |= NRD_SPEC_RAGGED; });
  CheckRefused(kOneCount, "output 'OUT' is ragged, which only what requests bring can be",
               [](RaggedOptions& o) { o.outputs[0].flags |= NRD_SPEC_RAGGED; });
  CheckRefused(kOneCount, "at least one input and one output, got 2 and 0", [](RaggedOptions& o) {
    o.outputs[0].flags = o.outputs[1].flags = NRD_SPEC_HIDDEN;
    o.scattered.clear();
  });
}

TEST_CASE("ragged config: batch inputs") {
  CheckRefused(kOneCount, "combined input 1 of source 0",
               [](RaggedOptions& o) { o.combined[0].input = 1; });
  CheckRefused(kOneCount, "combined input 2 of source 2",
               [](RaggedOptions& o) { o.combined[0].source = 2; });
  CheckRefused(kOneCount, "batch input 'HIDDEN2' has unknown kind 6",
               [](RaggedOptions& o) { o.combined[0].kind = 6; });
  CheckRefused(kOneCount, "batch input 'HIDDEN2' has datatype INT64, expected INT32 or FP32",
               [](RaggedOptions& o) { o.inputs[2].datatype = NRD_TYPE_INT64; });
  CheckRefused(kOneCount, "batch input 'HIDDEN2' has dims [3], expected []", [](RaggedOptions& o) {
    o.inputs[2].rank = 1;
    o.inputs[2].dims[0] = 3;
  });
  CheckRefused(kOneCount, "batch input 'HIDDEN2' has dims [], expected [1]",
               [](RaggedOptions& o) { o.combined[0].kind = NRD_COMBINE_ITEM_SHAPE; });
  CheckRefused(kOneCount, "batch input 'HIDDEN2' has source 'ROWS', which is optional",
               [](RaggedOptions& o) {
                 o.inputs[1].flags = NRD_SPEC_OPTIONAL;
                 o.combined[0].source = 1;
               });
  for (const int32_t kind : {NRD_COMBINE_ITEM_SHAPE, NRD_COMBINE_ITEM_SHAPE_FLATTEN}) {
    CheckRefused({.max_batch_size = 0, .combined = {{kind}}, .flags = 0},
                 "has a shape for each row of the batch, but the model has no batch dimension",
                 [](RaggedOptions&) {});
  }
}

TEST_CASE("ragged config: rows that are slots of sequences rule it out") {
  nrd_sequence_options sequences{};
  sequences.strategy = NRD_SEQUENCES_DIRECT;
  const RaggedSettings only_ragged = {.scattered = false, .flags = 0};
  const RaggedSettings only_scattered = {.value_flags = 0, .flags = 0};
  const RaggedSettings only_combined = {
      .value_flags = 0, .combined = {{}}, .scattered = false, .flags = 0};
  for (const RaggedSettings& settings : {only_ragged, only_scattered, only_combined}) {
    CheckRefused(settings, "the rows of a batch are slots",
                 [&](RaggedOptions& o) { o.options.sequences = &sequences; });
  }
}

TEST_CASE("ragged config: batch outputs") {
  CheckRefused(kOneCount, "scattered output 2 of source 0",
               [](RaggedOptions& o) { o.scattered[0].output = 2; });
  CheckRefused(kOneCount, "scattered output 0 of source 2",
               [](RaggedOptions& o) { o.scattered[0].source = 2; });
  CheckRefused(kOneCount, "batch output 'OUT' has unknown kind 1",
               [](RaggedOptions& o) { o.scattered[0].kind = 1; });
  CheckRefused(kOneCount, "batch output 'OUT' is there twice",
               [](RaggedOptions& o) { o.scattered.push_back(o.scattered[0]); });
  CheckRefused(kOneCount, "batch output 'OUT' has source 'ROWS', which is optional",
               [](RaggedOptions& o) {
                 o.inputs[1].flags = NRD_SPEC_OPTIONAL;
                 o.scattered[0].source = 1;
               });
  CheckRefused(kOneCount, "batch output 'OUT' has a free dimension at place 1",
               [](RaggedOptions& o) {
                 o.outputs[0].rank = 2;
                 o.outputs[0].dims[1] = -1;
               });
}

}  // namespace
}  // namespace nereid::test

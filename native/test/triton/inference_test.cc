// Tests of inferences that a plug-in starts by itself.
#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "test/triton/inference_fixture.h"

namespace nereid::test {
namespace {

using Elements = std::vector<int32_t>;

// The last request of a target, as it saw it.
struct Seen {
  std::string id;
  std::string sequence;
  uint32_t flags = 0;
  uint32_t priority = 0;
  uint64_t timeout_ns = 0;
  std::map<std::string, Value> values;
};

Target::Execute Notes(Seen* seen) {
  return [seen](nrd_batch* batch, nrd_error* error_out) {
    const nrd_request& request = *batch->requests[0];
    seen->id = Text(request.id);
    seen->sequence = Text(request.sequence_name) + std::to_string(request.sequence_id);
    seen->flags = request.flags;
    seen->priority = request.priority;
    seen->timeout_ns = request.timeout_ns;
    seen->values.clear();
    for (uint32_t i = 0; i < request.value_count; ++i) {
      seen->values[Text(request.values[i].name)] = ValueOf(request.values[i]);
    }
    return Target::Copy(batch, error_out);
  };
}

}  // namespace

TEST_CASE("a plug-in asks another model and gets its answer") {
  const Target target("target", Target::Copy);
  Asker asker("target");
  Works(TRITONSERVER_InferenceRequestSetId(asker.get(), "mine"));
  asker.Run();
  CHECK(asker.answer().error == "");
  CHECK(asker.answer().output == Elements{1, 2, 3});
  CHECK(asker.answer().model == "target");
  CHECK(asker.answer().version == 1);
  CHECK(asker.answer().id == "mine");
  CHECK(asker.starts == 1);
  CHECK(asker.live_bytes() == 0);
  // The plug-in owns the request again and can reuse it.
  asker.Run();
  CHECK(asker.answer().output == Elements{1, 2, 3});
}

TEST_CASE("an inference reaches its model with all that was set") {
  Seen seen;
  const Target target("target", Notes(&seen));
  Asker asker("target");
  TRITONSERVER_InferenceRequest* const request = asker.get();
  Works(TRITONSERVER_InferenceRequestSetId(request, "mine"));
  Works(TRITONSERVER_InferenceRequestSetFlags(
      request, TRITONSERVER_REQUEST_FLAG_SEQUENCE_START | TRITONSERVER_REQUEST_FLAG_SEQUENCE_END));
  Works(TRITONSERVER_InferenceRequestSetCorrelationIdString(request, "a tune"));
  Works(TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(request, 20'000'000));
  Works(TRITONSERVER_InferenceRequestSetPriorityUInt64(request, 2));
  Works(TRITONSERVER_InferenceRequestSetStringParameter(request, "text", "words"));
  Works(TRITONSERVER_InferenceRequestSetIntParameter(request, "number", -7));
  Works(TRITONSERVER_InferenceRequestSetBoolParameter(request, "truth", true));
  Works(TRITONSERVER_InferenceRequestSetDoubleParameter(request, "real", 0.5));
  asker.Run();
  CHECK(asker.answer().error == "");
  CHECK(seen.id == "mine");
  CHECK(seen.sequence == "a tune0");
  CHECK((seen.flags & NRD_REQUEST_SEQUENCE_START) != 0);
  CHECK((seen.flags & NRD_REQUEST_SEQUENCE_END) != 0);
  CHECK(seen.timeout_ns == 20'000'000'000);
  CHECK(seen.priority == 2);
  CHECK(seen.values == std::map<std::string, Value>{{"text", std::string("words")},
                                                    {"number", int64_t{-7}},
                                                    {"truth", true},
                                                    {"real", 0.5}});
}

TEST_CASE("what was set is read back") {
  const Target target("target", Target::Copy);
  Asker asker("target");
  TRITONSERVER_InferenceRequest* const request = asker.get();
  const char* text = nullptr;
  uint32_t small = 1;
  uint64_t large = 1;
  bool cancelled = true;
  Works(TRITONSERVER_InferenceRequestSetId(request, "mine"));
  Works(TRITONSERVER_InferenceRequestId(request, &text));
  CHECK(std::string(text) == "mine");
  Works(TRITONSERVER_InferenceRequestSetFlags(request, 2));
  Works(TRITONSERVER_InferenceRequestFlags(request, &small));
  CHECK(small == 2);
  Works(TRITONSERVER_InferenceRequestSetPriority(request, 9));
  Works(TRITONSERVER_InferenceRequestPriority(request, &small));
  CHECK(small == 9);
  Works(TRITONSERVER_InferenceRequestSetPriorityUInt64(request, uint64_t{1} << 40));
  Works(TRITONSERVER_InferenceRequestPriorityUInt64(request, &large));
  CHECK(large == uint64_t{1} << 40);
  Works(TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(request, 12));
  Works(TRITONSERVER_InferenceRequestTimeoutMicroseconds(request, &large));
  CHECK(large == 12);
  Works(TRITONSERVER_InferenceRequestSetCorrelationId(request, 5));
  Works(TRITONSERVER_InferenceRequestCorrelationId(request, &large));
  CHECK(large == 5);
  CHECK(Refused(TRITONSERVER_InferenceRequestCorrelationIdString(request, &text)) ==
        "Invalid argument: [request id: mine] correlation ID in request is not a string");
  Works(TRITONSERVER_InferenceRequestSetCorrelationIdString(request, "tune"));
  Works(TRITONSERVER_InferenceRequestCorrelationIdString(request, &text));
  CHECK(std::string(text) == "tune");
  CHECK(Refused(TRITONSERVER_InferenceRequestCorrelationId(request, &large)) ==
        "Invalid argument: [request id: mine] correlation ID in request is not an unsigned int");
  Works(TRITONSERVER_InferenceRequestIsCancelled(request, &cancelled));
  CHECK_FALSE(cancelled);
}

TEST_CASE("inputs and outputs are added, taken away and gathered") {
  const Target target("target", Target::Copy);
  Asker asker("target");
  TRITONSERVER_InferenceRequest* const request = asker.get();
  const std::array<int32_t, 4> more = {4, 5, 6, 7};
  const int64_t shape = 6;
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  Works(TRITONSERVER_BufferAttributesNew(&attributes));
  Works(TRITONSERVER_BufferAttributesSetByteSize(attributes, 8));
  Works(TRITONSERVER_InferenceRequestRemoveAllInputs(request));
  Works(
      TRITONSERVER_InferenceRequestAddInput(request, "INPUT0", TRITONSERVER_TYPE_INT32, &shape, 1));
  Works(TRITONSERVER_InferenceRequestAppendInputData(request, "INPUT0", more.data(), 16,
                                                     TRITONSERVER_MEMORY_CPU, 0));
  Works(TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes(request, "INPUT0",
                                                                         more.data(), attributes));
  // The same data in another place, for some instances.
  Works(TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
      request, "INPUT0", more.data(), 16, TRITONSERVER_MEMORY_CPU, 0, "numa_0"));
  Works(TRITONSERVER_InferenceRequestAddRequestedOutput(request, "OUTPUT0"));
  asker.Run();
  CHECK(asker.answer().error == "");
  CHECK(asker.answer().output == Elements{4, 5, 6, 7, 4, 5});
  Works(TRITONSERVER_InferenceRequestRemoveAllInputData(request, "INPUT0"));
  CHECK(Refused(TRITONSERVER_ServerInferAsync(Server(), request, nullptr)) ==
        "Invalid argument: [request id: <id_unknown>] input byte size mismatch for input 'INPUT0' "
        "for model 'target'. Expected 24, got 0");
  Works(TRITONSERVER_InferenceRequestRemoveInput(request, "INPUT0"));
  CHECK(Refused(TRITONSERVER_InferenceRequestRemoveInput(request, "INPUT0")) ==
        "Invalid argument: [request id: <id_unknown>] input 'INPUT0' does not exist in request");
  Works(TRITONSERVER_InferenceRequestRemoveRequestedOutput(request, "OUTPUT0"));
  Works(TRITONSERVER_InferenceRequestAddRequestedOutput(request, "OUTPUT9"));
  CHECK(Refused(TRITONSERVER_ServerInferAsync(Server(), request, nullptr)) ==
        "Invalid argument: [request id: <id_unknown>] unexpected inference output 'OUTPUT9' for "
        "model 'target'");
  Works(TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs(request));
  Works(TRITONSERVER_BufferAttributesDelete(attributes));
}

TEST_CASE("empty tensors are passed on") {
  const Target target("target", Target::Copy);
  Asker asker("target", {});
  asker.Run();
  CHECK(asker.answer().error == "");
  CHECK(asker.answer().output.empty());
}

TEST_CASE("a decoupled model answers as often as it wants") {
  const Target target("counter", Target::Count, true);
  Asker asker("counter", {3});
  asker.Run();
  REQUIRE(asker.answers().size() == 4);
  for (int32_t i = 0; i < 3; ++i) {
    const Answer& answer = asker.answers()[static_cast<size_t>(i)];
    CHECK(answer.error == "");
    CHECK_FALSE(answer.is_final);
    CHECK(answer.output == Elements{i});
    CHECK(std::get<int64_t>(answer.values.at("index")) == i);
  }
  CHECK(asker.answers()[3].is_null);
  CHECK(asker.answers()[3].is_final);
  CHECK(asker.starts == 3);

  Asker none("counter", {0});
  none.Run();
  CHECK(none.answer().is_null);
}

TEST_CASE("an error may be one answer of a decoupled model, and others follow") {
  const Target counter("counter", Target::Count, true);
  Asker asker("counter", {3, 1});
  asker.Run();
  REQUIRE(asker.answers().size() == 4);
  CHECK(asker.answers()[0].output == Elements{0});
  CHECK(asker.answers()[1].error == "Not found: COUNT leaves one out");
  CHECK(asker.answers()[1].output.empty());
  CHECK(std::get<int64_t>(asker.answers()[1].values.at("index")) == 1);
  CHECK_FALSE(asker.answers()[1].is_final);
  CHECK(asker.answers()[2].error == "");
  CHECK(asker.answers()[2].output == Elements{2});
  CHECK(asker.answers()[3].is_null);
  CHECK(asker.answers()[3].is_final);
}

TEST_CASE("what a model fails with is the response's error") {
  const Target counter("counter", Target::Count, true);
  Asker asker("counter", {-1});
  asker.Run();
  CHECK(asker.answer().error == "Internal: COUNT is below 0");
  const Target failing("failing", [](nrd_batch* batch, nrd_error* error_out) {
    nrd_value value{};
    value.name = View("day");
    value.kind = NRD_VALUE_INT;
    value.number = 7;
    nrd_batch_request_value(batch, 0, &value, error_out);
    return Fail(error_out, NRD_UNAVAILABLE, "not today");
  });
  Asker other("failing");
  other.Run();
  CHECK(other.answer().error == "Unavailable: not today");
  CHECK(other.answer().output.empty());
  CHECK(std::get<int64_t>(other.answer().values.at("day")) == 7);
}

TEST_CASE("a request that does not fit its model stays the plug-in's") {
  const Target target("target", Target::Copy);
  TRITONSERVER_InferenceRequest* request = nullptr;
  CHECK(Refused(TRITONSERVER_InferenceRequestNew(&request, Server(), "nobody", -1)) ==
        "Not found: there is no model 'nobody'");
  CHECK(request == nullptr);
  Asker asker("target");
  request = asker.get();
  const int64_t shape = 1;
  Works(
      TRITONSERVER_InferenceRequestAddInput(request, "INPUT9", TRITONSERVER_TYPE_INT32, &shape, 1));
  CHECK(Refused(TRITONSERVER_ServerInferAsync(Server(), request, nullptr)) ==
        "Invalid argument: [request id: <id_unknown>] unexpected inference input 'INPUT9' for "
        "model 'target'");
  CHECK(Refused(TRITONSERVER_InferenceRequestAddInput(request, "INPUT9", TRITONSERVER_TYPE_INT32,
                                                      &shape, 1)) ==
        "Invalid argument: [request id: <id_unknown>] input 'INPUT9' already exists in request");
  CHECK(Refused(TRITONSERVER_InferenceRequestAppendInputData(request, "INPUT9", nullptr, 4,
                                                             TRITONSERVER_MEMORY_CPU, 0)) ==
        "Invalid argument: [request id: <id_unknown>] input 'INPUT9' has NULL for 4 bytes");
  Works(TRITONSERVER_InferenceRequestRemoveInput(request, "INPUT9"));
  asker.Run();
  CHECK(asker.answer().error == "");
  // Unloaded meanwhile.
  PluginHost::Get().Withdraw("target");
  CHECK(Refused(TRITONSERVER_ServerInferAsync(Server(), request, nullptr)) ==
        "Not found: there is no model 'target'");
}

TEST_CASE("a request without callbacks is not sent") {
  const Target target("target", Target::Copy);
  Asker asker("target");
  TRITONSERVER_InferenceRequest* const request = asker.get();
  Works(TRITONSERVER_InferenceRequestSetResponseCallback(request, asker.allocator(), nullptr,
                                                         nullptr, nullptr));
  CHECK(Refused(TRITONSERVER_ServerInferAsync(Server(), request, nullptr)) ==
        "Invalid argument: [request id: <id_unknown>] the request has no response callback");
  Works(TRITONSERVER_InferenceRequestSetReleaseCallback(request, nullptr, nullptr));
  CHECK(Refused(TRITONSERVER_ServerInferAsync(Server(), request, nullptr)) ==
        "Invalid argument: [request id: <id_unknown>] the request has no release callback");
  CHECK(Refused(TRITONSERVER_InferenceRequestSetResponseCallback(request, nullptr, nullptr, nullptr,
                                                                 nullptr))
            .find("NULL for a response allocator") != std::string::npos);
}

TEST_CASE("an allocator that fails makes the response an error") {
  const Target target("target", Target::Copy);
  Asker asker("target");
  asker.fails_with = "no memory";
  asker.Run();
  CHECK(asker.answer().error == "Unavailable: no memory");
  asker.fails_with = "";
  asker.gives_nothing = true;
  asker.Run();
  CHECK(asker.answer().error.find("gave no memory for output 'OUTPUT0' of model 'target'") !=
        std::string::npos);
  asker.gives_nothing = false;
  asker.gives_device_memory = true;
  asker.Run();
  CHECK(asker.answer().error.find("gave memory of a GPU for output 'OUTPUT0'") !=
        std::string::npos);
}

TEST_CASE("an allocator's other functions are asked") {
  const Target target("target", Target::Copy);
  Asker asker("target");
  Works(TRITONSERVER_ResponseAllocatorSetQueryFunction(
      asker.allocator(),
      [](TRITONSERVER_ResponseAllocator*, void* self, const char*, size_t* byte_size,
         TRITONSERVER_MemoryType* type, int64_t*) -> TRITONSERVER_Error* {
        ++static_cast<Asker*>(self)->queries;
        CHECK(*byte_size == 12);
        *byte_size = 1;  // the allocator may choose this
        CHECK(*type == TRITONSERVER_MEMORY_CPU);
        return nullptr;
      }));
  Works(TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction(
      asker.allocator(),
      [](TRITONSERVER_ResponseAllocator*, const char*, TRITONSERVER_BufferAttributes* attributes,
         void* self, void* userp) -> TRITONSERVER_Error* {
        ++static_cast<Asker*>(self)->attributes;
        CHECK(userp == self);
        size_t byte_size = 0;
        Works(TRITONSERVER_BufferAttributesByteSize(attributes, &byte_size));
        CHECK(byte_size == 12);
        return nullptr;
      }));
  Works(TRITONSERVER_InferenceRequestSetResponseCallback(asker.get(), asker.allocator(), &asker,
                                                         Asker::OnResponse, &asker));
  asker.Run();
  CHECK(asker.answer().output == Elements{1, 2, 3});
  CHECK(asker.queries == 1);
  CHECK(asker.attributes == 1);
}

}  // namespace nereid::test

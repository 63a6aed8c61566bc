// Tests of plug-ins' calls to the server, and of traces of inferences that they start.
#include <algorithm>
#include <utility>

#include "test/triton/inference_fixture.h"

namespace nereid::test {
namespace {

std::string TakeJson(TRITONSERVER_Message* message) {
  const char* json = nullptr;
  size_t size = 0;
  Works(TRITONSERVER_MessageSerializeToJson(message, &json, &size));
  std::string text(json, size);
  Works(TRITONSERVER_MessageDelete(message));
  return text;
}

// A trace's activities, and its model and request when it ended.
struct Recorded {
  std::vector<std::string> activities;
  std::vector<uint64_t> times;
  std::vector<std::string> tensors;
  std::string about;
  uint64_t parent = 0;
  int ended = 0;

  static void OnActivity(TRITONSERVER_InferenceTrace*, TRITONSERVER_InferenceTraceActivity activity,
                         uint64_t time_ns, void* self) {
    auto* const me = static_cast<Recorded*>(self);
    me->activities.emplace_back(TRITONSERVER_InferenceTraceActivityString(activity));
    me->times.push_back(time_ns);
  }
  static void OnTensor(TRITONSERVER_InferenceTrace*, TRITONSERVER_InferenceTraceActivity activity,
                       const char* name, TRITONSERVER_DataType, const void*, size_t byte_size,
                       const int64_t*, uint64_t, TRITONSERVER_MemoryType, int64_t, void* self) {
    static_cast<Recorded*>(self)->tensors.push_back(
        std::string(TRITONSERVER_InferenceTraceActivityString(activity)) + " " + name + " " +
        std::to_string(byte_size));
  }
  static void OnRelease(TRITONSERVER_InferenceTrace* trace, void* self) {
    auto* const me = static_cast<Recorded*>(self);
    const char* model = nullptr;
    const char* id = nullptr;
    int64_t version = 0;
    Works(TRITONSERVER_InferenceTraceModelName(trace, &model));
    Works(TRITONSERVER_InferenceTraceModelVersion(trace, &version));
    Works(TRITONSERVER_InferenceTraceRequestId(trace, &id));
    Works(TRITONSERVER_InferenceTraceParentId(trace, &me->parent));
    me->about = std::string(model) + " " + std::to_string(version) + " " + id;
    Works(TRITONSERVER_InferenceTraceDelete(trace));
    ++me->ended;
  }
};

TRITONSERVER_InferenceTrace* NewTrace(Recorded* recorded) {
  TRITONSERVER_InferenceTrace* trace = nullptr;
  Works(TRITONSERVER_InferenceTraceTensorNew(
      &trace,
      static_cast<TRITONSERVER_InferenceTraceLevel>(TRITONSERVER_TRACE_LEVEL_TIMESTAMPS |
                                                    TRITONSERVER_TRACE_LEVEL_TENSORS),
      0, Recorded::OnActivity, Recorded::OnTensor, Recorded::OnRelease, recorded));
  return trace;
}

}  // namespace

TEST_CASE("a plug-in asks what state the server and its models are in") {
  const Target target("target", Target::Copy);
  const Target counter("counter", Target::Count, true);
  bool answer = false;
  uint32_t flags = 0;
  void* reserved = &answer;
  Works(TRITONSERVER_ServerIsLive(Server(), &answer));
  CHECK(answer);
  answer = false;
  Works(TRITONSERVER_ServerIsReady(Server(), &answer));
  CHECK(answer);
  Works(TRITONSERVER_ServerModelIsReady(Server(), "nobody", -1, &answer));
  CHECK_FALSE(answer);
  Works(TRITONSERVER_ServerModelIsReady(Server(), "target", 1, &answer));
  CHECK(answer);
  Works(TRITONSERVER_ServerModelTransactionProperties(Server(), "target", -1, &flags, &reserved));
  CHECK(flags == TRITONSERVER_TXN_ONE_TO_ONE);
  CHECK(reserved == nullptr);
  Works(TRITONSERVER_ServerModelTransactionProperties(Server(), "counter", -1, &flags, nullptr));
  CHECK(flags == TRITONSERVER_TXN_DECOUPLED);
  CHECK(Refused(TRITONSERVER_ServerModelTransactionProperties(
            Server(), "nobody", -1, &flags, nullptr)) == "Not found: there is no model 'nobody'");
  Works(TRITONSERVER_ServerModelBatchProperties(Server(), "batched", -1, &flags, nullptr));
  CHECK(flags == TRITONSERVER_BATCH_FIRST_DIM);
  Works(TRITONSERVER_ServerModelBatchProperties(Server(), "target", -1, &flags, &reserved));
  CHECK(flags == TRITONSERVER_BATCH_UNKNOWN);
  CHECK(PluginHost::Get().pins() == 0);
}

TEST_CASE("a plug-in gets the server's documents") {
  TRITONSERVER_Message* message = nullptr;
  const auto json = [](int kind, const std::string& name, int version) {
    return "{\"kind\":" + std::to_string(kind) + ",\"name\":\"" + name +
           "\",\"version\":" + std::to_string(version) + ",\"max_batch_size\":0}";
  };
  Works(TRITONSERVER_ServerMetadata(Server(), &message));
  CHECK(TakeJson(message) == json(NRT_SERVER_METADATA, "", -1));
  Works(TRITONSERVER_ServerModelMetadata(Server(), "m", 2, &message));
  CHECK(TakeJson(message) == json(NRT_MODEL_METADATA, "m", 2));
  Works(TRITONSERVER_ServerModelConfig(Server(), "m", -1, 1, &message));
  CHECK(TakeJson(message) == json(NRT_MODEL_CONFIG, "m", -1));
  CHECK(Refused(TRITONSERVER_ServerModelConfig(Server(), "m", -1, 2, &message)) ==
        "Invalid argument: model configuration version 2 not supported, supported versions are: 1");
  Works(TRITONSERVER_ServerModelStatistics(Server(), "", -1, &message));
  CHECK(TakeJson(message) == json(NRT_MODEL_STATISTICS, "", -1));
  Works(TRITONSERVER_ServerModelIndex(Server(), 0, &message));
  CHECK(TakeJson(message) == json(NRT_REPOSITORY_INDEX, "", -1));
  Works(TRITONSERVER_ServerModelIndex(Server(), TRITONSERVER_INDEX_FLAG_READY, &message));
  CHECK(TakeJson(message) == json(NRT_READY_INDEX, "", -1));
}

TEST_CASE("a plug-in has models loaded and unloaded") {
  Server();  // started before handles are counted
  TRITONSERVER_Parameter* const config =
      TRITONSERVER_ParameterNew("config", TRITONSERVER_PARAMETER_STRING, "{}");
  TRITONSERVER_Parameter* const file = TRITONSERVER_ParameterBytesNew("file:1/model.x", "abc", 3);
  const TRITONSERVER_Parameter* parameters[] = {config, file};
  Works(TRITONSERVER_ServerLoadModel(Server(), "loadable"));
  Works(TRITONSERVER_ServerLoadModelWithParameters(Server(), "loadable", parameters, 2));
  Works(TRITONSERVER_ServerUnloadModel(Server(), "loadable"));
  Works(TRITONSERVER_ServerUnloadModelAndDependents(Server(), "loadable"));
  CHECK(PluginHost::Get().TakeLoads() ==
        "load loadable\nload loadable config={} file:1/model.x=abc\nunload loadable\n"
        "unload all loadable\n");
  CHECK(Refused(TRITONSERVER_ServerLoadModel(Server(), "other")) ==
        "Unsupported: nothing is loaded here");
  CHECK(Refused(TRITONSERVER_ServerLoadModelWithParameters(Server(), "loadable", nullptr, 1)) ==
        "Invalid argument: load parameters are not provided while parameter count is non-zero");
  CHECK(Refused(TRITONSERVER_ServerLoadModel(Server(), nullptr)) ==
        "Invalid argument: TRITONSERVER_ServerLoadModel: the model's name is NULL");
  TRITONSERVER_ParameterDelete(config);
  TRITONSERVER_ParameterDelete(file);
}

TEST_CASE("a trace tells the course of an inference") {
  const Target target("target", Target::Copy);
  Asker asker("target");
  Works(TRITONSERVER_InferenceRequestSetId(asker.get(), "mine"));
  Recorded recorded;
  asker.Send(NewTrace(&recorded));
  asker.Wait();
  CHECK(asker.answer().error == "");
  CHECK(recorded.activities == std::vector<std::string>{"REQUEST_START", "QUEUE_START",
                                                        "COMPUTE_START", "COMPUTE_INPUT_END",
                                                        "COMPUTE_OUTPUT_START", "COMPUTE_END",
                                                        "REQUEST_END"});
  CHECK(std::is_sorted(recorded.times.begin(), recorded.times.end()));
  CHECK(recorded.tensors == std::vector<std::string>{"TENSOR_QUEUE_INPUT INPUT0 12",
                                                     "TENSOR_BACKEND_OUTPUT OUTPUT0 12"});
  CHECK(recorded.about == "target 1 mine");
  // The trace ends, too, when the request is refused.
  Works(TRITONSERVER_InferenceRequestRemoveAllInputs(asker.get()));
  Refused(TRITONSERVER_ServerInferAsync(Server(), asker.get(), NewTrace(&recorded)));
  Refused(TRITONSERVER_ServerInferAsync(Server(), nullptr, NewTrace(&recorded)));
  CHECK(recorded.ended == 3);
}

TEST_CASE("traces have children, contexts and activities of their own") {
  const Target target("target", Target::Copy);
  Recorded recorded;
  TRITONSERVER_InferenceTrace* const trace = NewTrace(&recorded);
  TRITONSERVER_InferenceTrace* child = trace;
  const char* context = nullptr;
  uint64_t id = 0;
  uint64_t other = 0;
  Works(TRITONSERVER_InferenceTraceSpawnChildTrace(nullptr, &child));
  CHECK(child == nullptr);
  Works(TRITONSERVER_InferenceTraceReportActivity(nullptr, 1, "of no request"));
  Works(TRITONSERVER_InferenceTraceSpawnChildTrace(trace, &child));
  Works(TRITONSERVER_InferenceTraceId(trace, &id));
  Works(TRITONSERVER_InferenceTraceId(child, &other));
  CHECK(other != id);
  Works(TRITONSERVER_InferenceTraceReportActivity(trace, 12, "a \"quoted\" one"));
  Works(TRITONSERVER_InferenceTraceReportActivity(trace, 13, "two"));
  CHECK(recorded.activities == std::vector<std::string>{"CUSTOM_ACTIVITY", "CUSTOM_ACTIVITY"});
  Works(TRITONSERVER_InferenceTraceContext(trace, &context));
  CHECK(std::string(context) == R"({"12":"a \"quoted\" one","13":"two"})");
  Works(TRITONSERVER_InferenceTraceSetContext(child, "{}"));
  Works(TRITONSERVER_InferenceTraceReportActivity(child, 14, "three"));
  Works(TRITONSERVER_InferenceTraceContext(child, &context));
  CHECK(std::string(context) == R"({"14":"three"})");
  Asker asker("target");
  asker.Send(child);
  asker.Wait();
  CHECK(recorded.ended == 1);
  CHECK(recorded.parent == id);
  Works(TRITONSERVER_InferenceTraceDelete(trace));
  CHECK(Refused(TRITONSERVER_InferenceTraceDelete(trace)).find("is no inference trace") !=
        std::string::npos);
  CHECK(Refused(TRITONSERVER_ServerInferAsync(Server(), asker.get(), trace))
            .find("is no inference trace") != std::string::npos);
  Works(TRITONSERVER_InferenceTraceNew(&child, TRITONSERVER_TRACE_LEVEL_TIMESTAMPS, 3,
                                       Recorded::OnActivity, Recorded::OnRelease, &recorded));
  Works(TRITONSERVER_InferenceTraceParentId(child, &other));
  CHECK(other == 3);
  Works(TRITONSERVER_InferenceTraceDelete(child));
  CHECK(Refused(TRITONSERVER_InferenceTraceNew(&child, TRITONSERVER_TRACE_LEVEL_TIMESTAMPS, 0,
                                               nullptr, Recorded::OnRelease, nullptr)) ==
        "Invalid argument: a trace has to have functions for activities and release");
  CHECK(std::string(TRITONSERVER_InferenceTraceLevelString(TRITONSERVER_TRACE_LEVEL_TENSORS)) ==
        "TENSORS");
}

}  // namespace nereid::test

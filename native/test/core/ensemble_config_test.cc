// Tests that wrong ensembles are refused, with the reason.
#include "test/core/ensemble_fixture.h"

namespace nereid::test {
namespace {

// Two models of different datatypes, for making graphs.
struct Graphs {
  TestRuntime runtime;
  FunctionBackend backend = Adder(1);
  TestModel model{runtime, backend, {.name = "ints", .with_optional_input = true}};
  TestModel floats{runtime, backend, {.name = "floats", .datatype = NRD_TYPE_FP32}};
  TestModel wide{runtime, backend, {.name = "wide", .dim = 5}};
  TestModel any{runtime, backend, {.name = "any", .dim = -1}};

  // The message of loading; "" if it succeeds.
  std::string Load(const EnsembleSettings& settings) {
    nrd_model* loaded = nullptr;
    std::string message;
    const int32_t code = LoadEnsemble(runtime, settings, &loaded, &message);
    if (code == NRD_OK) {
      nrd_model_release(loaded);
      return "";
    }
    CHECK(code == NRD_INVALID_ARGUMENT);
    return message;
  }
  EnsembleSettings TwoSteps() { return Chain({model.get(), model.get()}); }
};

TEST_CASE("an ensemble has nothing of its own but its steps") {
  Graphs graphs;
  CHECK(graphs.Load(graphs.TwoSteps()) == "");
  const nrd_backend table = graphs.backend.Table();
  EnsembleSettings settings = graphs.TwoSteps();
  settings.backend = &table;
  CHECK(graphs.Load(settings) == "an ensemble has no backend: its steps do the work");
  settings = graphs.TwoSteps();
  settings.instance_count = 1;
  CHECK(graphs.Load(settings) == "");
  settings.instance_count = 2;
  CHECK(graphs.Load(settings) ==
        "an ensemble has no instances of its own, but its instance count is 2");
  settings = graphs.TwoSteps();
  settings.flags = NRD_MODEL_DYNAMIC_BATCHING;
  CHECK(graphs.Load(settings) ==
        "an ensemble cannot have dynamic batching: its steps' models batch");
  settings.flags = NRD_MODEL_PRESERVE_ORDERING;
  CHECK(graphs.Load(settings) == "an ensemble cannot preserve the order of its requests");
}

TEST_CASE("a step's model must be one of the runtime") {
  Graphs graphs;
  EnsembleSettings settings = graphs.TwoSteps();
  settings.steps[1].model = nullptr;
  CHECK(graphs.Load(settings) == "step 1 has no model of the ensemble's runtime");

  nrd_runtime_options options{};
  options.struct_size = sizeof(options);
  nrd_runtime* other = nullptr;
  REQUIRE(nrd_runtime_create(&options, &other, nullptr) == NRD_OK);
  nrd_model* stranger = nullptr;
  REQUIRE(LoadModel(other, graphs.backend.Table(), {}, &stranger, nullptr) == NRD_OK);
  settings.steps[1].model = stranger;
  CHECK(graphs.Load(settings) == "step 1 has no model of the ensemble's runtime");
  nrd_model_release(stranger);
  CHECK(nrd_runtime_release(other, nullptr) == NRD_OK);
}

TEST_CASE("links stay within the model and the values") {
  Graphs graphs;
  EnsembleSettings settings = graphs.TwoSteps();
  settings.steps[0].inputs[0].position = 2;
  CHECK(graphs.Load(settings) == "step 'ints' links input 2, but its model has 2");
  settings = graphs.TwoSteps();
  settings.steps[1].outputs[0].position = 1;
  CHECK(graphs.Load(settings) == "step 'ints' links output 1, but its model has 1");
  settings = graphs.TwoSteps();
  settings.steps[0].inputs[0].value = 3;
  CHECK(graphs.Load(settings) == "input 'INPUT0' of step 'ints' is linked to value 3 of 3");
  settings = graphs.TwoSteps();
  settings.steps[0].outputs[0].value = 0xFFFFFFFF;
  CHECK(graphs.Load(settings) ==
        "output 'OUTPUT0' of step 'ints' is linked to value 4294967295 of 3");
  settings = graphs.TwoSteps();
  settings.output_values = {3};
  CHECK(graphs.Load(settings) == "output 'OUTPUT0' of the ensemble is value 3 of 3");
  settings = graphs.TwoSteps();
  for (const int64_t value_count : {0L, 2L, 4L, 0xFFFFFFFFL}) {
    settings.value_count = value_count;
    CHECK(graphs.Load(settings) == "value_count is " + std::to_string(value_count) +
                                       ", but the ensemble's inputs and the steps' outputs make 3");
  }
}

TEST_CASE("each value has one producer, and steps come after what they need") {
  Graphs graphs;
  EnsembleSettings settings = graphs.TwoSteps();
  settings.steps[1].outputs[0].value = 1;
  CHECK(graphs.Load(settings) ==
        "output 'OUTPUT0' of step 'ints' produces value 1, which output 'OUTPUT0' of step 'ints' "
        "already is");
  settings = graphs.TwoSteps();
  settings.steps[0].outputs[0].value = 0;
  CHECK(graphs.Load(settings) ==
        "output 'OUTPUT0' of step 'ints' produces value 0, which input 'INPUT0' of the ensemble "
        "already is");
  const std::string too_early =
      ", which is neither an input of the ensemble nor an output of an earlier step";
  settings = graphs.TwoSteps();
  std::swap(settings.steps[0], settings.steps[1]);
  CHECK(graphs.Load(settings) == "input 'INPUT0' of step 'ints' takes value 1" + too_early);
  settings = graphs.TwoSteps();
  settings.steps[1].inputs[0].value = 2;  // its own
  CHECK(graphs.Load(settings) == "input 'INPUT0' of step 'ints' takes value 2" + too_early);
  settings = graphs.TwoSteps();
  settings.output_values = {0};
  CHECK(graphs.Load(settings) ==
        "output 'OUTPUT0' of the ensemble is input 'INPUT0' of the ensemble itself: a step must "
        "produce it");
}

TEST_CASE("a step's required inputs are linked, and none twice") {
  Graphs graphs;
  EnsembleSettings settings = graphs.TwoSteps();
  settings.steps[1].inputs = {{1, 1}};  // only the optional one
  CHECK(graphs.Load(settings) ==
        "input 'INPUT0' of step 'ints' is required, but nothing is linked to it");
  settings = graphs.TwoSteps();
  settings.steps[1].inputs = {{0, 1}, {0, 0}};
  CHECK(graphs.Load(settings) == "input 'INPUT0' of step 'ints' is linked twice");
  settings = graphs.TwoSteps();
  settings.steps[1].outputs = {{0, 2}, {0, 3}};
  CHECK(graphs.Load(settings) == "output 'OUTPUT0' of step 'ints' is linked twice");
}

TEST_CASE("linked tensors have one datatype and shapes that can meet") {
  Graphs graphs;
  EnsembleSettings settings = graphs.TwoSteps();
  settings.steps[1].model = graphs.floats.get();
  CHECK(graphs.Load(settings) ==
        "output 'OUTPUT0' of step 'ints' has datatype INT32, but input 'INPUT0' of step 'floats' "
        "expects FP32");
  settings.steps[1].model = graphs.wide.get();
  CHECK(graphs.Load(settings) ==
        "output 'OUTPUT0' of step 'ints' has shape [-1,4], but input 'INPUT0' of step 'wide' "
        "expects [-1,5] (batch dimensions included)");
  settings.steps[1].model = graphs.any.get();
  CHECK(graphs.Load(settings) == "");
  settings.steps[0].model = graphs.floats.get();
  CHECK(graphs.Load(settings) ==
        "input 'INPUT0' of the ensemble has datatype INT32, but input 'INPUT0' of step 'floats' "
        "expects FP32");
  settings = graphs.TwoSteps();
  settings.outputs[0].datatype = NRD_TYPE_UINT32;
  CHECK(graphs.Load(settings) ==
        "output 'OUTPUT0' of step 'ints' has datatype INT32, but output 'OUTPUT0' of the ensemble "
        "expects UINT32");
  settings = graphs.TwoSteps();
  settings.max_batch_size = 0;  // its steps batch
  CHECK(graphs.Load(settings) == "");
  settings.inputs[0].dims[0] = 5;
  CHECK(graphs.Load(settings) ==
        "input 'INPUT0' of the ensemble has shape [5], but input 'INPUT0' of step 'ints' expects "
        "[-1,4] (batch dimensions included)");
}

TEST_CASE("ensembles are nested only so deep") {
  Graphs graphs;
  std::vector<std::unique_ptr<TestModel>> nested;
  nrd_model* inner = graphs.any.get();
  for (int depth = 0; depth < 32; ++depth) {
    EnsembleSettings settings = Chain({inner});
    settings.name = "level" + std::to_string(depth);
    nested.push_back(std::make_unique<TestModel>(LoadEnsemble(graphs.runtime, settings)));
    inner = nested.back()->get();
  }
  TestRequest request(*nested.back());
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(graphs.Load(Chain({inner})) == "step 'level31' nests ensembles more than 32 deep");
  while (!nested.empty()) {
    nested.pop_back();
  }
}

}  // namespace
}  // namespace nereid::test

// Tests of models that are opened before their configuration is known.
#include <string>
#include <vector>

#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

std::string Text(const nrd_error& error) { return {error.message, error.message_size}; }

// A backend with one input and one output that proposes a configuration.
struct SourceBackend : FunctionBackend {
  SourceBackend() : FunctionBackend{.run = CopyInputs} {}

  int configured = 0;
  int instances_when_configured = -1;
  bool fail_configure = false;

  nrd_backend Table() {
    nrd_backend table = FunctionBackend::Table();
    table.describe = Describe;
    table.configure = Configure;
    return table;
  }

 private:
  static SourceBackend& Self(void* state) {
    return *static_cast<SourceBackend*>(static_cast<FunctionBackend*>(state));
  }
  static int32_t Describe(void* /*state*/, int32_t kind, uint32_t index, nrd_tensor_spec* spec) {
    if (index > 0) {
      return NRD_NOT_FOUND;
    }
    spec->name = AsNrdString(kind == NRD_TENSOR_INPUT ? "INPUT0" : "OUTPUT0");
    spec->datatype = NRD_TYPE_INT32;
    spec->rank = 2;
    spec->dims[0] = -1;
    spec->dims[1] = 4;
    return NRD_OK;
  }
  static int32_t Configure(void* state, const nrd_model_options* options, nrd_error* error) {
    SourceBackend& self = Self(state);
    ++self.configured;
    self.instances_when_configured = self.open_instances;
    if (self.fail_configure) {
      return Report(Status::InvalidArgument("does not fit"), error);
    }
    return View(options->inputs[0].name) == "INPUT0" ? int32_t{NRD_OK} : int32_t{NRD_INTERNAL};
  }
};

nrd_source* Open(TestRuntime& runtime, const nrd_backend& backend, const char* name = "m") {
  nrd_model_options options{};
  options.struct_size = sizeof(options);
  options.name = AsNrdString(name);
  options.version = AsNrdString("1");
  options.backend = &backend;
  nrd_error error{};
  nrd_source* source = nullptr;
  const int32_t code = nrd_source_open(runtime.get(), &options, &source, &error);
  REQUIRE_MESSAGE(code == NRD_OK, Text(error));
  return source;
}

uint64_t LiveModels() {
  nrd_handle_counts counts{};
  counts.struct_size = sizeof(counts);
  nrd_handle_counts_read(&counts);
  return counts.models;
}

TEST_CASE("a source tells its tensors, and holds the runtime until it is released") {
  TestRuntime runtime;
  SourceBackend backend;
  const nrd_backend table = backend.Table();
  nrd_source* const source = Open(runtime, table);
  CHECK(backend.open_models == 1);
  CHECK(LiveModels() == 1);
  nrd_tensor_spec spec{};
  CHECK(nrd_source_tensor(source, NRD_TENSOR_INPUT, 0, &spec) == NRD_OK);
  CHECK(View(spec.name) == "INPUT0");
  CHECK(nrd_source_tensor(source, NRD_TENSOR_OUTPUT, 0, &spec) == NRD_OK);
  CHECK(View(spec.name) == "OUTPUT0");
  CHECK(spec.datatype == NRD_TYPE_INT32);
  CHECK(spec.rank == 2);
  CHECK(nrd_source_tensor(source, NRD_TENSOR_OUTPUT, 1, &spec) == NRD_NOT_FOUND);
  CHECK(spec.rank == 0);
  CHECK(nrd_source_tensor(source, 2, 0, &spec) == NRD_INVALID_ARGUMENT);
  nrd_error error{};
  CHECK(nrd_runtime_release(runtime.get(), &error) == NRD_FAILED_PRECONDITION);
  CHECK(Text(error) == "the runtime is still in use: 0 models, 1 sources, 0 requests, 0 buffers");
  nrd_source_release(source);
  CHECK(backend.open_models == 0);
  CHECK(backend.configured == 0);
  CHECK(LiveModels() == 0);
}

TEST_CASE("a backend that cannot tell its tensors") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  const nrd_backend table = backend.Table();
  nrd_source* const source = Open(runtime, table);
  nrd_tensor_spec spec{};
  CHECK(nrd_source_tensor(source, NRD_TENSOR_INPUT, 0, &spec) == NRD_UNIMPLEMENTED);
  nrd_source_release(source);

  nrd_backend identity{};
  REQUIRE(nrd_backend_find("identity", 8, &identity, nullptr) == NRD_OK);
  nrd_source* const other = Open(runtime, identity);
  CHECK(nrd_source_tensor(other, NRD_TENSOR_INPUT, 0, &spec) == NRD_UNIMPLEMENTED);
  nrd_source_release(other);
}

TEST_CASE("a source that does not open") {
  TestRuntime runtime;
  SourceBackend backend;
  backend.fail_model = true;
  nrd_backend table = backend.Table();
  nrd_model_options options{};
  options.name = AsNrdString("m");
  options.backend = &table;
  nrd_error error{};
  nrd_source* source = nullptr;
  CHECK(nrd_source_open(runtime.get(), &options, &source, &error) == NRD_INVALID_ARGUMENT);
  CHECK(Text(error).find("nrd_model_options.struct_size is 0") == 0);
  options.struct_size = sizeof(options);
  CHECK(nrd_source_open(runtime.get(), &options, &source, &error) == NRD_INVALID_ARGUMENT);
  CHECK(Text(error) == "no such file");
  table.struct_size = 8;
  CHECK(nrd_source_open(runtime.get(), &options, &source, &error) == NRD_INVALID_ARGUMENT);
  CHECK(Text(error).find("table") != std::string::npos);
  CHECK(source == nullptr);
  CHECK(LiveModels() == 0);
}

TEST_CASE("a model is configured once, before its instances, with a source or without") {
  TestRuntime runtime;
  for (const bool with_source : {true, false}) {
    SourceBackend backend;
    const nrd_backend table = backend.Table();
    ModelSettings settings;
    settings.source = with_source ? Open(runtime, table) : nullptr;
    nrd_error error{};
    nrd_model* model = nullptr;
    REQUIRE_MESSAGE(LoadModel(runtime.get(), table, settings, &model, &error) == NRD_OK,
                    Text(error));
    CHECK(backend.open_models == 1);
    CHECK(backend.open_instances == 1);
    CHECK(backend.configured == 1);
    CHECK(backend.instances_when_configured == 0);
    CHECK(LiveModels() == 1);
    nrd_request* request = nullptr;
    REQUIRE(nrd_request_acquire(model, &request, &error) == NRD_OK);
    nrd_model_release(model);
    // The record outlives the backend.
    CHECK(backend.open_models == 0);
    CHECK(nrd_request_submit(request) != NRD_OK);
    nrd_request_release(request);
  }
}

TEST_CASE("loading takes the source over, also when it fails") {
  TestRuntime runtime;
  const auto fails = [&](SourceBackend& backend, const ModelSettings& wanted, const char* name) {
    const nrd_backend table = backend.Table();
    ModelSettings settings = wanted;
    settings.source = Open(runtime, table, name);
    nrd_error error{};
    nrd_model* model = nullptr;
    CHECK(LoadModel(runtime.get(), table, settings, &model, &error) != NRD_OK);
    CHECK(model == nullptr);
    CHECK(backend.open_models == 0);
    CHECK(backend.open_instances == 0);
    CHECK(LiveModels() == 0);
    return Text(error);
  };
  SourceBackend unfit;
  unfit.fail_configure = true;
  CHECK(fails(unfit, {}, "m") == "does not fit");
  SourceBackend poor;
  poor.fail_instance = 0;
  CHECK(fails(poor, {}, "m") == "no device memory");
  SourceBackend backend;
  CHECK(fails(backend, {.max_batch_size = -1}, "m").find("max_batch_size is -1") == 0);
  CHECK(
      fails(backend, {}, "other") ==
      "model 'm' version '1' cannot be loaded from what was opened for model 'other' version '1'");
  CHECK(backend.configured == 0);

  nrd_model_options options{};
  nrd_model* model = nullptr;
  nrd_error error{};
  const nrd_backend table = backend.Table();
  CHECK(nrd_model_load(runtime.get(), &options, Open(runtime, table), &model, &error) ==
        NRD_INVALID_ARGUMENT);
  CHECK(backend.open_models == 0);
}

}  // namespace
}  // namespace nereid::test

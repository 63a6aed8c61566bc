#include "test/core/core_fixture.h"

#include <chrono>
#include <utility>

namespace nereid::test {
namespace {

FunctionBackend* Self(void* pointer) { return static_cast<FunctionBackend*>(pointer); }

int32_t OpenModel(void* context, const nrd_model_options* /*options*/, void** state_out,
                  nrd_error* error_out) {
  if (Self(context)->fail_model) {
    return Report(Status::InvalidArgument("no such file"), error_out);
  }
  Self(context)->open_models.fetch_add(1);
  *state_out = context;
  return NRD_OK;
}

int32_t OpenInstance(void* state, uint32_t index, void** instance_out, nrd_error* error_out) {
  if (Self(state)->fail_instance == static_cast<int32_t>(index)) {
    return Report(Status(NRD_RESOURCE_EXHAUSTED, "no device memory"), error_out);
  }
  Self(state)->open_instances.fetch_add(1);
  *instance_out = state;
  return NRD_OK;
}

int32_t Execute(void* instance, nrd_batch* batch, nrd_error* error_out) {
  Self(instance)->executions.fetch_add(1);
  return Self(instance)->run(batch, error_out);
}

void CloseInstance(void* instance) { Self(instance)->open_instances.fetch_sub(1); }
void CloseModel(void* state) { Self(state)->open_models.fetch_sub(1); }
void ReleaseState(void* state, const nrd_tensor* kept) { Self(state)->release_state(kept); }

}  // namespace

nrd_backend FunctionBackend::Table() {
  return {.struct_size = sizeof(nrd_backend),
          .flags = flags,
          .context = this,
          .open_model = OpenModel,
          .describe = nullptr,
          .configure = nullptr,
          .memory_read = nullptr,
          .open_instance = OpenInstance,
          .execute = Execute,
          .close_instance = CloseInstance,
          .close_model = CloseModel,
          .release_state = release_state ? ReleaseState : nullptr};
}

int32_t CopyInputs(nrd_batch* batch, nrd_error* error) {
  for (uint32_t i = 0; i < batch->output_count; ++i) {
    const nrd_tensor& input = batch->inputs[i];
    void* data = nullptr;
    const int32_t code = nrd_batch_output(batch, i, input.datatype, input.rank, input.shape,
                                          input.byte_size, &data, error);
    if (code != NRD_OK) {
      return code;
    }
    std::memcpy(data, input.data, input.byte_size);
  }
  return NRD_OK;
}

void Gate::Enter() {
  std::unique_lock lock(mutex_);
  ++entered_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return open_; });
}

void Gate::Open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

void Gate::Close() {
  const std::lock_guard lock(mutex_);
  open_ = false;
}

void Gate::WaitForEntered(int count) {
  std::unique_lock lock(mutex_);
  REQUIRE(changed_.wait_for(lock, std::chrono::milliseconds(kPatienceMs),
                            [&] { return entered_ >= count; }));
}

TestRuntime::TestRuntime(uint64_t cache_byte_limit, nrd_runtime_options options) {
  options.struct_size = sizeof(nrd_runtime_options);
  options.cache_byte_limit = cache_byte_limit;
  nrd_error error{};
  REQUIRE(nrd_runtime_create(&options, &runtime_, &error) == NRD_OK);
}

uint64_t TestRuntime::live_bytes() const {
  nrd_pool_stats stats{};
  stats.struct_size = sizeof(stats);
  nrd_runtime_pool_stats(runtime_, &stats);
  return stats.live_bytes;
}

TestRuntime::~TestRuntime() {
  CHECK(live_bytes() == 0);
  nrd_error error{};
  const int32_t code = nrd_runtime_release(runtime_, &error);
  CHECK_MESSAGE(code == NRD_OK, std::string(error.message, error.message_size));
  nrd_handle_counts counts{};
  counts.struct_size = sizeof(counts);
  nrd_handle_counts_read(&counts);
  CHECK(counts.runtimes == 0);
  CHECK(counts.models == 0);
  CHECK(counts.requests == 0);
}

int32_t LoadModel(nrd_runtime* runtime, const nrd_backend& backend, const ModelSettings& settings,
                  nrd_model** model_out, nrd_error* error_out,
                  const std::vector<nrd_parameter>& parameters) {
  nrd_tensor_spec inputs[2]{};
  inputs[0].name = AsNrdString("INPUT0");
  inputs[0].datatype = settings.datatype;
  inputs[0].rank = 1;
  inputs[0].dims[0] = settings.dim;
  inputs[1] = inputs[0];
  inputs[1].name = AsNrdString("MAYBE");
  inputs[1].flags = NRD_SPEC_OPTIONAL;
  nrd_tensor_spec outputs[2] = {inputs[0], inputs[0]};
  outputs[0].name = AsNrdString("OUTPUT0");
  outputs[1].name = AsNrdString("OUTPUT1");

  nrd_model_options options{};
  options.struct_size = sizeof(options);
  options.flags = settings.flags;
  options.name = AsNrdString(settings.name);
  options.version = AsNrdString("1");
  options.backend = &backend;
  options.inputs = inputs;
  options.outputs = outputs;
  options.input_count = settings.with_optional_input ? 2 : 1;
  options.output_count = settings.output_count;
  options.max_batch_size = settings.max_batch_size;
  options.instance_count = settings.instance_count;
  options.preferred_batch_size_count = static_cast<uint32_t>(settings.preferred_sizes.size());
  options.preferred_batch_sizes = settings.preferred_sizes.data();
  options.max_queue_delay_ns = settings.max_queue_delay_ns;
  options.inline_budget_ns = settings.inline_budget_ns;
  options.batcher = settings.batcher;
  options.objective = settings.objective;
  options.default_queue_policy = settings.policy;
  options.priority_levels = settings.priority_levels;
  options.default_priority_level = settings.default_priority_level;
  options.level_queue_policies =
      settings.level_policies.empty() ? nullptr : settings.level_policies.data();
  options.parameters = parameters.data();
  options.parameter_count = parameters.size();
  options.instances = settings.instances.empty() ? nullptr : settings.instances.data();
  return nrd_model_load(runtime, &options, settings.source, model_out, error_out);
}

TestModel::TestModel(TestRuntime& runtime, FunctionBackend& backend,
                     const ModelSettings& settings) {
  nrd_error error{};
  const nrd_backend table = backend.Table();
  const int32_t code = LoadModel(runtime.get(), table, settings, &model_, &error);
  REQUIRE_MESSAGE(code == NRD_OK, std::string(error.message, error.message_size));
}

void TestModel::Release() {
  if (model_ != nullptr) {
    nrd_model_release(std::exchange(model_, nullptr));
  }
}

nrd_model_stats TestModel::stats() {
  nrd_model_stats stats{};
  stats.struct_size = sizeof(stats);
  nrd_model_stats_read(model_, &stats);
  return stats;
}

TestRequest::TestRequest(TestModel& model, int64_t rows, int32_t value, int64_t dim) {
  nrd_error error{};
  REQUIRE(nrd_request_acquire(model.get(), &record_, &error) == NRD_OK);
  nrd_tensor& input = record_->inputs[0];
  input.datatype = NRD_TYPE_INT32;
  input.rank = 2;
  input.shape[0] = rows;
  input.shape[1] = dim;
  const auto count = static_cast<size_t>(rows * dim);
  input.byte_size = count * sizeof(int32_t);
  REQUIRE(nrd_request_input_alloc(record_, 0) == NRD_OK);
  std::fill_n(static_cast<int32_t*>(input.data), count, value);
}

TestRequest::~TestRequest() {
  if (record_ != nullptr) {
    nrd_request_release(record_);
  }
}

int32_t TestRequest::SubmitAndWait() {
  const int32_t code = Submit();
  return code == NRD_PENDING ? Wait() : code;
}

bool Begins(TestRequest& request, const FunctionBackend& backend) {
  return request.Submit() == NRD_PENDING && Eventually([&] {
           return backend.executions > 0 ||
                  nrd_request_wait(request.get(), 1) != NRD_DEADLINE_EXCEEDED;
         }) &&
         backend.executions > 0;
}

std::vector<int32_t> TestRequest::output(uint32_t index) const {
  const nrd_tensor& tensor = record_->outputs[index];
  const auto* const data = static_cast<const int32_t*>(tensor.data);
  return {data, data + tensor.byte_size / sizeof(int32_t)};
}

}  // namespace nereid::test

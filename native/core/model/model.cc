#include "core/model/model.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/tensor.h"
#include "core/model/model_options.h"
#include "core/model/runtime.h"
#include "core/request/request_check.h"
#include "core/request/response_values.h"
#include "core/schedule/scheduler.h"

namespace nereid {
namespace {

constexpr std::align_val_t kRecordAlignment{64};

std::string CacheVersion(Runtime& runtime, const std::string& version) {
  static std::atomic<uint64_t> loads{0};
  if (runtime.cache() != nullptr && runtime.cache()->outlives_models()) {
    return version;
  }
  return version + '#' + std::to_string(loads.fetch_add(1, std::memory_order_relaxed));
}

// A request that names no outputs wants all of them; see NRD_BACKEND_OUTPUT_PER_INPUT.
inline void SelectOutputs(nrd_request& record, const nrd_backend& backend) {
  uint32_t selected = 0;
  for (uint32_t i = 0; i < record.output_count; ++i) {
    record.outputs[i].byte_size = 0;  // left from the record's last use
    selected |= record.outputs[i].flags;
  }
  if ((selected & NRD_TENSOR_SELECTED) != 0) {
    return;
  }
  // Outputs of hidden inputs, which are always there, may follow.
  const uint32_t paired = std::min(record.input_count, record.output_count);
  const bool per_input = (backend.flags & NRD_BACKEND_OUTPUT_PER_INPUT) != 0 &&
                         std::any_of(record.inputs, record.inputs + paired, IsSelected);
  for (uint32_t i = 0; i < record.output_count; ++i) {
    if (!per_input || i >= paired || IsSelected(record.inputs[i])) {
      record.outputs[i].flags |= NRD_TENSOR_SELECTED;
    }
  }
}

// The core cannot read the memory of a device: such a request has no key in the response cache, and
// its answer cannot be kept.
bool HasDeviceTensor(const nrd_request& record) {
  return std::any_of(record.inputs, record.inputs + record.input_count, IsOnDevice) ||
         std::any_of(record.outputs, record.outputs + record.output_count, IsOnDevice);
}

// Fails if the configuration asks for something that the backend cannot do.
Status CheckMeans(const ModelConfig& config, const nrd_backend& backend) {
  if (config.reshapes_inputs && !config.core_gathers &&
      (backend.flags & NRD_BACKEND_GATHERS) != 0) {
    return Status::InvalidArgument(
        "inputs have a reshape, which is not possible with a backend that reads the inputs of the "
        "requests as they are");
  }
  if ((backend.flags & NRD_BACKEND_DEVICE_TENSORS) != 0 &&
      (backend.flags & NRD_BACKEND_GATHERS) == 0) {
    return Status::InvalidArgument(
        "the backend takes tensors in the memory of devices, expected that it gathers inputs "
        "itself");
  }
  if ((backend.flags & NRD_BACKEND_OWN_STATES) != 0 && config.sequences) {
    for (const StateSpec& state : config.sequences->states) {
      if (config.inputs[state.input].datatype == NRD_TYPE_BYTES) {
        return Status::InvalidArgument("state '" + config.inputs[state.input].name +
                                       "' is of BYTES, which the backend cannot keep");
      }
    }
    if (backend.release_state == nullptr) {
      return Status::InvalidArgument("the backend keeps states, expected that it takes them back");
    }
  }
  return Status();
}

}  // namespace

Model::Model(Runtime& runtime, ModelConfig config, std::unique_ptr<ModelSource> source)
    : runtime_(runtime),
      config_(std::move(config)),
      cache_version_(CacheVersion(runtime, config_.version)),
      source_(std::move(source)),
      backend_(source_ == nullptr ? nrd_backend{} : source_->backend()),
      stats_(config_.instance_count, config_.max_batch_size, runtime.stage_histograms()),
      pool_account_(runtime.pool().accounts().Open()) {}

Status Model::Load(Runtime& runtime, const nrd_model_options& options,
                   std::unique_ptr<ModelSource> source, Model** model_out) {
  ModelConfig config;
  NRD_RETURN_IF_ERROR(ReadModelConfig(options, &config));
  if (source == nullptr) {
    NRD_RETURN_IF_ERROR(ModelSource::Open(runtime, options, &source));
  }
  NRD_RETURN_IF_ERROR(source->Configure(options));
  NRD_RETURN_IF_ERROR(CheckMeans(config, source->backend()));
  NRD_RETURN_IF_ERROR(runtime.CheckResponder(config));
  config.device_tensors =
      (source->backend().flags & NRD_BACKEND_DEVICE_TENSORS) != 0 && !config.core_gathers;
  config.free_outputs = (source->backend().flags & NRD_BACKEND_FREE_OUTPUTS) != 0;
  if (config.sequences && (source->backend().flags & NRD_BACKEND_OWN_STATES) != 0) {
    config.sequences->release_state = source->backend().release_state;
    config.sequences->model_state = source->state();
  }

  struct Deleter {
    void operator()(Model* model) const { model->Release(); }
  };
  std::unique_ptr<Model, Deleter> model(new Model(runtime, std::move(config), std::move(source)));
  auto scheduler = std::make_unique<Scheduler>(
      SchedulerContext{.config = model->config_,
                       .backend = model->backend_,
                       .model_state = model->source_->state(),
                       .pool = runtime.pool(),
                       .account = model->pool_account_,
                       .cache = model->config_.use_cache ? runtime.cache() : nullptr,
                       .stats = model->stats_,
                       .completion = runtime.completion(),
                       .responder = runtime.responder(),
                       .timer = runtime.timer(),
                       .limiter = runtime.limiter()});
  Scheduler& started = *scheduler;
  model->runner_ = std::move(scheduler);
  Status status = started.Start();
  if (status.ok()) {
    *model_out = model.release();
    runtime.CountModel(1);
  }
  return status;
}

std::unique_ptr<Model, ModelReleaser> Model::Around(Runtime& runtime, ModelConfig config,
                                                    const MakeRunner& make) {
  std::unique_ptr<Model, ModelReleaser> model(new Model(runtime, std::move(config), nullptr));
  model->runner_ = make(model->config_, model->stats_);
  return model;
}

void ModelReleaser::operator()(Model* model) const { model->Release(); }

void Model::Release() {
  if (runner_ != nullptr) {
    runner_->Stop();
  }
  source_.reset();
  if (config_.use_cache && runtime_.cache() != nullptr) {
    runtime_.cache()->EraseModel(config_.name, cache_version_);
  }
  {
    const MutexLock lock(records_mutex_);
    released_ = true;
  }
  Unref();
}

Model::~Model() {
  while (Request* const request = free_records_) {
    free_records_ = request->next;
    runner_->DeleteState(*request);
    delete request->response_values;
    ::operator delete(request, kRecordAlignment);
  }
  runtime_.pool().accounts().Close(pool_account_);
}

void Model::Unref() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete this;
  }
}

Request* Model::NewRequest() {
  const size_t tensor_count = size_t{config_.visible_inputs} + config_.visible_outputs;
  const size_t byte_size = sizeof(Request) + tensor_count * sizeof(nrd_tensor);
  void* const memory = ::operator new(byte_size, kRecordAlignment);
  std::memset(memory, 0, byte_size);
  Request* const request = new (memory) Request();
  auto* const tensors = reinterpret_cast<nrd_tensor*>(request + 1);
  request->model = this;
  request->config = &config_;
  nrd_request& record = request->record;
  record.struct_size = sizeof(nrd_request);
  record.input_count = config_.visible_inputs;
  record.output_count = config_.visible_outputs;
  record.inputs = tensors;
  record.outputs = tensors + record.input_count;
  record.error = &request->error;
  return request;
}

Status Model::Acquire(Request** request_out) {
  Request* request = nullptr;
  {
    const MutexLock lock(records_mutex_);
    if (released_) {
      return Status::Unavailable("model '" + config_.name + "' version " + config_.version +
                                 " was unloaded");
    }
    request = free_records_;
    if (request != nullptr) {
      free_records_ = request->next;
      request->next = nullptr;
    }
  }
  if (request == nullptr) {
    request = NewRequest();
  }
  Ref();
  runtime_.CountRequest(1);
  *request_out = request;
  return Status();
}

void Model::Reset(Request& request) {
  nrd_request& record = request.record;
  DropTensors(record.inputs, record.input_count);
  DropTensors(record.outputs, record.output_count);
  for (uint32_t i = 0; i < record.input_count; ++i) {
    record.inputs[i].flags = 0;
  }
  for (uint32_t i = 0; i < record.output_count; ++i) {
    record.outputs[i].flags = 0;
  }
  record.flags = 0;
  record.tag = 0;
  record.deadline_ns = 0;
  record.timeout_ns = 0;
  record.priority = 0;
  record.sequence_id = 0;
  record.sequence_name = {};
  record.id = {};
  record.values = nullptr;
  record.value_count = 0;
  record.status = NRD_OK;
  ClearResponseValues(request);
  request.continuation = nullptr;
  request.sink = nullptr;
  request.receiver = nullptr;
  request.cancelled.store(false, std::memory_order_relaxed);
  request.state.store(RequestState::kIdle, std::memory_order_release);
}

void Model::GiveBack(Request& request) {
  Reset(request);
  {
    const MutexLock lock(records_mutex_);
    request.next = free_records_;
    free_records_ = &request;
  }
  // A copy: the count of models keeps the runtime, which the last reference still needs.
  Runtime& runtime = runtime_;
  Unref();
  runtime.CountRequest(-1);
}

void Model::Receive(Request& request, const nrd_receiver* receiver) {
  request.receiver = receiver;
  request.continuation = nullptr;
  if (receiver != nullptr) {
    request.continuation = [](Request& answered) {
      answered.receiver->complete(answered.receiver->context, &answered.record);
    };
  }
}

// Makes a record ready for its next use. False: it is in flight.
bool Model::Begin(Request& request) {
  const RequestState state = request.state.load(std::memory_order_acquire);
  if (state == RequestState::kQueued || state == RequestState::kExecuting) {
    return false;
  }
  request.state.store(RequestState::kIdle, std::memory_order_relaxed);
  request.submit_ns = MonotonicNowNs();
  request.cacheable = false;
  nrd_request& record = request.record;
  DropTensors(record.outputs, record.output_count);
  record.cache_hit = 0;
  record.ran_inline = 0;
  record.executed_batch_size = 0;
  record.queue_ns = 0;
  record.compute_input_ns = 0;
  record.compute_infer_ns = 0;
  record.compute_output_ns = 0;
  return true;
}

int32_t Model::Submit(Request& request) {
  if (!Begin(request)) {
    return NRD_FAILED_PRECONDITION;
  }
  ClearResponseValues(request);
  try {
    return Admit(request);
  } catch (const std::exception&) {  // only memory for a message can be lacking on this path
    return Refuse(request, FailReason::kOther, NRD_RESOURCE_EXHAUSTED,
                  "the process is out of memory");
  }
}

int32_t Model::SubmitPart(Request& request) {
  Begin(request);
  try {
    for (uint32_t i = 0; i < request.record.output_count; ++i) {
      request.record.outputs[i].byte_size = 0;
    }
    return runner_->Submit(request);
  } catch (const std::exception&) {  // as in Submit
    return Refuse(request, FailReason::kOther, NRD_RESOURCE_EXHAUSTED,
                  "the process is out of memory");
  }
}

int32_t Model::Admit(Request& request) {
  nrd_request& record = request.record;
  if (const Status status = CheckRequest(config_, request); !status.ok()) {
    return Refuse(request, FailReason::kOther, status.code(), status.message());
  }
  SelectOutputs(record, backend_);
  if (config_.use_cache && AnswerFromCache(request)) {
    return record.status;
  }
  return runner_->Submit(request);
}

// A warm-up is a sequence by itself, which is not kept.
int32_t Model::WarmUp(Request& request) {
  if (!Begin(request)) {
    return NRD_FAILED_PRECONDITION;
  }
  ClearResponseValues(request);
  if (config_.sequences) {
    nrd_request& record = request.record;
    record.flags |= NRD_REQUEST_SEQUENCE_START | NRD_REQUEST_SEQUENCE_END;
    record.sequence_id = record.sequence_id == 0 ? 1 : record.sequence_id;
    request.sequence = nullptr;
    request.starts = true;
  }
  try {
    if (const Status status = CheckRequest(config_, request); !status.ok()) {
      request.state.store(RequestState::kDone, std::memory_order_relaxed);
      SetFailure(request, status.code(), status.message());
      return status.code();
    }
    SelectOutputs(request.record, backend_);
    return runner_->WarmUp(request);
  } catch (const std::exception&) {  // only memory for a message can be lacking on this path
    request.state.store(RequestState::kDone, std::memory_order_relaxed);
    SetFailure(request, NRD_RESOURCE_EXHAUSTED, "the process is out of memory");
    return NRD_RESOURCE_EXHAUSTED;
  }
}

// Answers a request that the runner does not have.
int32_t Model::Refuse(Request& request, FailReason reason, int32_t code, std::string_view message) {
  request.state.store(RequestState::kDone, std::memory_order_relaxed);
  SetFailure(request, code, message);
  stats_.RecordFail(reason, ElapsedNs(request.submit_ns, MonotonicNowNs()));
  return code;
}

bool Model::AnswerFromCache(Request& request) {
  nrd_request& record = request.record;
  AnswerCache* const cache = runtime_.cache();
  if (cache == nullptr || (record.flags & NRD_REQUEST_NO_CACHE) != 0 || HasDeviceTensor(record) ||
      !runner_->MayAnswerAtOnce()) {
    return false;
  }
  request.cache_key = cache->KeyOf(config_.name, cache_version_, record);
  const bool hit = cache->Lookup(request.cache_key, runtime_.pool(), &record, pool_account_);
  const uint64_t lookup_ns = ElapsedNs(request.submit_ns, MonotonicNowNs());
  if (!hit) {
    request.cacheable = true;
    request.cache_lookup_ns = lookup_ns;
    return false;
  }
  // A cancellation that finds the request done is too late; an earlier one holds.
  request.state.store(RequestState::kDone, std::memory_order_seq_cst);
  if (request.cancelled.load(std::memory_order_seq_cst)) {
    DropTensors(record.outputs, record.output_count);
    Refuse(request, FailReason::kCancelled, NRD_CANCELLED,
           "Request was cancelled before it was submitted");
    return true;
  }
  record.status = NRD_OK;
  record.cache_hit = 1;
  stats_.RecordCacheHit({.total_ns = lookup_ns}, lookup_ns);
  return true;
}

void Model::ReadStats(nrd_model_stats* stats_out) {
  stats_.Read(stats_out);
  runner_->ReadCounts(&stats_out->pending_count, &stats_out->executing_count);
  runner_->ReadBatchEnds(stats_out->batch_ends);
}

void Model::ReadSequenceStats(nrd_sequence_stats* stats_out) {
  *stats_out = nrd_sequence_stats{};
  stats_out->struct_size = sizeof(nrd_sequence_stats);
  runner_->ReadSequenceStats(stats_out);
}

bool Model::ReadInstance(uint32_t instance, nrd_instance_stats* stats_out) {
  *stats_out = nrd_instance_stats{};
  stats_out->struct_size = sizeof(nrd_instance_stats);
  const bool found = instance < config_.instance_count && source_ != nullptr;
  if (found) {
    runner_->ReadInstance(instance, stats_out);
  }
  return found;
}

bool Model::ReadObjective(nrd_objective_stats* stats_out) {
  *stats_out = nrd_objective_stats{};
  stats_out->struct_size = sizeof(nrd_objective_stats);
  return runner_->ReadObjective(stats_out);
}

void Model::ReadMemory(nrd_memory_stats* stats_out) const {
  *stats_out = nrd_memory_stats{};
  stats_out->struct_size = sizeof(nrd_memory_stats);
  stats_out->pool_bytes = pool_account_->LiveBytes();
  if (source_ != nullptr) {
    source_->ReadMemory(&stats_out->weight_bytes, &stats_out->working_bytes);
  }
}

}  // namespace nereid

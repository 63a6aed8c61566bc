// The C ABI: checks arguments, turns exceptions into errors, and calls the core's classes.
#include <memory>
#include <span>
#include <utility>

#include "base/guarded.h"
#include "core/api/runtime_handle.h"
#include "core/ensemble/load_ensemble.h"
#include "core/model/model.h"
#include "core/model/model_source.h"
#include "core/request/histogram.h"
#include "identity/identity_backend.h"
#include "nereid/nereid.h"
#include "onnxruntime/onnxruntime_backend.h"

namespace {

using nereid::BufferPool;
using nereid::Guarded;
using nereid::Model;
using nereid::ModelSource;
using nereid::Request;
using nereid::Runtime;
using nereid::Status;

Model* From(nrd_model* model) { return reinterpret_cast<Model*>(model); }
ModelSource* From(nrd_source* source) { return reinterpret_cast<ModelSource*>(source); }

// Takes the object out of a handle, which is gone afterwards; NULL stays null.
std::unique_ptr<ModelSource> Take(nrd_source* source) {
  if (source != nullptr) {
    From(source)->runtime().CountSource(-1);
  }
  return std::unique_ptr<ModelSource>(From(source));
}

Status WrongSize(const char* name, uint32_t size, size_t expected) {
  return Status::InvalidArgument(std::string(name) + ".struct_size is " + std::to_string(size) +
                                 ", this library expects " + std::to_string(expected));
}

Status CheckSize(const nrd_model_options& options) {
  return options.struct_size == sizeof(nrd_model_options)
             ? Status()
             : WrongSize("nrd_model_options", options.struct_size, sizeof(nrd_model_options));
}

int32_t IndexByName(std::span<const nereid::TensorSpec> specs, std::string_view name,
                    uint32_t* index_out) {
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name == name) {
      *index_out = static_cast<uint32_t>(i);
      return NRD_OK;
    }
  }
  return NRD_NOT_FOUND;
}

constexpr size_t kStructSizes[] = {sizeof(nrd_error),          sizeof(nrd_tensor),
                                   sizeof(nrd_request),        sizeof(nrd_batch),
                                   sizeof(nrd_backend),        sizeof(nrd_tensor_spec),
                                   sizeof(nrd_queue_policy),   sizeof(nrd_parameter),
                                   sizeof(nrd_model_options),  sizeof(nrd_runtime_options),
                                   sizeof(nrd_pool_stats),     sizeof(nrd_cache_stats),
                                   sizeof(nrd_model_stats),    sizeof(nrd_batch_stats),
                                   sizeof(nrd_handle_counts),  sizeof(nrd_string),
                                   sizeof(nrd_link),           sizeof(nrd_step),
                                   sizeof(nrd_memory_stats),   sizeof(nrd_control),
                                   sizeof(nrd_state),          sizeof(nrd_sequence_options),
                                   sizeof(nrd_combined_input), sizeof(nrd_scattered_output),
                                   sizeof(nrd_resource),       sizeof(nrd_instance_options),
                                   sizeof(nrd_batcher),        sizeof(nrd_sequence_stats),
                                   sizeof(nrd_resource_stats), sizeof(nrd_instance_stats),
                                   sizeof(nrd_value),          sizeof(nrd_receiver),
                                   sizeof(nrd_cache),          sizeof(nrd_cost_point),
                                   sizeof(nrd_objective),      sizeof(nrd_objective_stats),
                                   sizeof(nrd_isolation_stats)};
static_assert(sizeof(kStructSizes) / sizeof(size_t) == NRD_STRUCT_ISOLATION_STATS + 1);

}  // namespace

extern "C" {

uint32_t nrd_abi_version(void) { return NRD_ABI_VERSION; }

uint32_t nrd_abi_struct_size(uint32_t struct_id) {
  return struct_id <= NRD_STRUCT_ISOLATION_STATS ? static_cast<uint32_t>(kStructSizes[struct_id])
                                                 : 0;
}

int64_t nrd_clock_now_ns(void) { return nereid::MonotonicNowNs(); }

void nrd_handle_counts_read(nrd_handle_counts* counts_out) {
  Runtime::ReadHandleCounts(counts_out);
}

int32_t nrd_runtime_create(const nrd_runtime_options* options, nrd_runtime** runtime_out,
                           nrd_error* error_out) {
  return Guarded(error_out, [&] {
    if (options->struct_size != sizeof(nrd_runtime_options)) {
      return WrongSize("nrd_runtime_options", options->struct_size, sizeof(nrd_runtime_options));
    }
    if ((options->flags & ~uint32_t{NRD_RUNTIME_STAGE_HISTOGRAMS | NRD_RUNTIME_POISON_FREED}) !=
        0) {
      return Status::InvalidArgument("there is no such flag of nrd_runtime_options");
    }
    if ((options->allocate == nullptr) != (options->deallocate == nullptr)) {
      return Status::InvalidArgument("allocate and deallocate must both be set, or neither");
    }
    *runtime_out = new nrd_runtime(*options);
    return Status();
  });
}

int32_t nrd_runtime_release(nrd_runtime* runtime, nrd_error* error_out) {
  return Guarded(error_out, [&] {
    NRD_RETURN_IF_ERROR(runtime->Unused());
    delete runtime;
    return Status();
  });
}

int32_t nrd_runtime_lock_pages(nrd_runtime* runtime, void* context, nrd_lock_pages_fn lock_pages,
                               nrd_unlock_pages_fn unlock_pages, nrd_error* error_out) {
  return Guarded(error_out, [&] {
    if (lock_pages == nullptr || unlock_pages == nullptr) {
      return Status::InvalidArgument("lock_pages and unlock_pages must both be set");
    }
    if (!runtime->pool().LockPages(
            {.context = context, .lock = lock_pages, .unlock = unlock_pages})) {
      return Status(NRD_FAILED_PRECONDITION, "the pool's memory is being page-locked already");
    }
    return Status();
  });
}

int32_t nrd_runtime_limit(nrd_runtime* runtime, const struct nrd_resource* resources,
                          uint32_t count, nrd_error* error_out) {
  return Guarded(error_out,
                 [&] { return runtime->limiter().Limit(nereid::ReadResources(resources, count)); });
}

void nrd_runtime_resource_stats_read(nrd_runtime* runtime, nrd_resource_stats* stats_out,
                                     uint32_t capacity, uint32_t* count_out) {
  *count_out = runtime->limiter().ReadResources(stats_out, capacity);
}

void nrd_runtime_pool_stats(nrd_runtime* runtime, nrd_pool_stats* stats_out) {
  runtime->pool().ReadStats(stats_out);
}

void nrd_runtime_cache_stats(nrd_runtime* runtime, nrd_cache_stats* stats_out) {
  if (runtime->cache() != nullptr) {
    runtime->cache()->ReadStats(stats_out);
  } else {
    *stats_out = nrd_cache_stats{};
    stats_out->struct_size = sizeof(nrd_cache_stats);
  }
}

int32_t nrd_runtime_use_cache(nrd_runtime* runtime, const nrd_cache* cache, nrd_error* error_out) {
  return Guarded(error_out, [&] { return runtime->UseCache(*cache); });
}

int32_t nrd_buffer_alloc(nrd_runtime* runtime, uint64_t byte_size, void** buffer_out,
                         nrd_error* error_out) {
  return Guarded(error_out, [&] { return runtime->pool().Allocate(byte_size, buffer_out); });
}

void nrd_buffer_retain(void* buffer) { BufferPool::Retain(buffer); }

void nrd_buffer_release(void* buffer) { BufferPool::Release(buffer); }

int32_t nrd_request_acquire(nrd_model* model, nrd_request** request_out, nrd_error* error_out) {
  return Guarded(error_out, [&] {
    Request* request = nullptr;
    NRD_RETURN_IF_ERROR(From(model)->Acquire(&request));
    *request_out = &request->record;
    return Status();
  });
}

void nrd_request_reset(nrd_request* request) { Model::Reset(*Request::From(request)); }

void nrd_request_release(nrd_request* request) {
  Request* const own = Request::From(request);
  own->model->GiveBack(*own);
}

void nrd_request_drop_inputs(nrd_request* request) {
  nereid::DropTensors(request->inputs, request->input_count);
}

void nrd_request_drop_outputs(nrd_request* request) {
  nereid::DropTensors(request->outputs, request->output_count);
}

int32_t nrd_request_input_alloc(nrd_request* request, uint32_t index) {
  return Guarded(request->error, [&] {
    if (index >= request->input_count) {
      return Status::InvalidArgument("no input " + std::to_string(index) + ", the model has " +
                                     std::to_string(request->input_count));
    }
    nrd_tensor& tensor = request->inputs[index];
    nereid::DropTensors(&tensor, 1);
    const Model& model = *Request::From(request)->model;
    NRD_RETURN_IF_ERROR(
        model.runtime().pool().Allocate(tensor.byte_size, &tensor.slab, model.pool_account()));
    tensor.data = tensor.slab;
    tensor.flags |= NRD_TENSOR_SELECTED;
    return Status();
  });
}

void nrd_request_sent(const nrd_request* request, uint64_t took_ns) {
  const nereid::Request& answered = *nereid::Request::From(request);
  answered.model->Sent(answered, took_ns);
}

void nrd_request_receive(nrd_request* request, const nrd_receiver* receiver) {
  Model::Receive(*Request::From(request), receiver);
}

int32_t nrd_request_submit(nrd_request* request) {
  Request* const own = Request::From(request);
  return own->model->Submit(*own);
}

int32_t nrd_request_warm_up(nrd_request* request) {
  Request* const own = Request::From(request);
  return own->model->WarmUp(*own);
}

int32_t nrd_request_cancel(nrd_request* request) {
  Request* const own = Request::From(request);
  return own->model->Cancel(*own);
}

int32_t nrd_request_is_cancelled(const nrd_request* request) {
  return Request::From(request)->cancelled.load(std::memory_order_acquire) ? 1 : 0;
}

int32_t nrd_request_wait(nrd_request* request, int64_t deadline_ns) {
  Request* const own = Request::From(request);
  const int64_t until_ns = deadline_ns == 0 ? nereid::kNever : deadline_ns;
  return own->model->runtime().completion().Wait(*own, until_ns) ? request->status
                                                                 : NRD_DEADLINE_EXCEEDED;
}

int32_t nrd_backend_find(const char* name, uint64_t name_size, nrd_backend* backend_out,
                         nrd_error* error_out) {
  return Guarded(error_out, [&] {
    const std::string_view wanted = nereid::View({name, name_size});
    if (wanted == "identity") {
      *backend_out = nereid::IdentityBackend();
    } else if (wanted == "onnxruntime") {
      *backend_out = nereid::OnnxRuntimeBackend();
    } else {
      return Status(NRD_NOT_FOUND, "no built-in backend '" + std::string(wanted) +
                                       "', there are 'identity' and 'onnxruntime'");
    }
    return Status();
  });
}

int32_t nrd_source_open(nrd_runtime* runtime, const nrd_model_options* options,
                        nrd_source** source_out, nrd_error* error_out) {
  return Guarded(error_out, [&] {
    NRD_RETURN_IF_ERROR(CheckSize(*options));
    std::unique_ptr<ModelSource> source;
    NRD_RETURN_IF_ERROR(ModelSource::Open(*runtime, *options, &source));
    runtime->CountSource(1);
    *source_out = reinterpret_cast<nrd_source*>(source.release());
    return Status();
  });
}

int32_t nrd_source_tensor(nrd_source* source, int32_t kind, uint32_t index,
                          nrd_tensor_spec* spec_out) {
  return From(source)->Tensor(kind, index, spec_out);
}

void nrd_source_release(nrd_source* source) {
  Runtime& runtime = From(source)->runtime();
  delete From(source);
  runtime.CountSource(-1);
}

int32_t nrd_model_load(nrd_runtime* runtime, const nrd_model_options* options, nrd_source* source,
                       nrd_model** model_out, nrd_error* error_out) {
  return Guarded(error_out, [&] {
    std::unique_ptr<ModelSource> taken = Take(source);
    NRD_RETURN_IF_ERROR(CheckSize(*options));
    Model* model = nullptr;
    NRD_RETURN_IF_ERROR(options->step_count > 0
                            ? LoadEnsemble(*runtime, *options, &model)
                            : Model::Load(*runtime, *options, std::move(taken), &model));
    *model_out = reinterpret_cast<nrd_model*>(model);
    return Status();
  });
}

int32_t nrd_model_drain(nrd_model* model, int64_t deadline_ns, nrd_error* error_out) {
  return Guarded(error_out, [&] {
    if (From(model)->Drain(deadline_ns == 0 ? nereid::kNever : deadline_ns)) {
      return Status();
    }
    return Status(NRD_DEADLINE_EXCEEDED, "model '" + From(model)->config().name +
                                             "' still had requests at the drain's deadline");
  });
}

void nrd_model_release(nrd_model* model) {
  Runtime& runtime = From(model)->runtime();
  From(model)->Release();
  runtime.CountModel(-1);
}

int32_t nrd_model_input_index(nrd_model* model, const char* name, uint64_t name_size,
                              uint32_t* index_out) {
  return IndexByName(From(model)->config().VisibleInputs(), nereid::View({name, name_size}),
                     index_out);
}

int32_t nrd_model_output_index(nrd_model* model, const char* name, uint64_t name_size,
                               uint32_t* index_out) {
  return IndexByName(From(model)->config().VisibleOutputs(), nereid::View({name, name_size}),
                     index_out);
}

int32_t nrd_model_tensor(nrd_model* model, int32_t kind, uint32_t index,
                         nrd_tensor_spec* spec_out) {
  const nereid::ModelConfig& config = From(model)->config();
  const auto& specs = kind == NRD_TENSOR_INPUT ? config.inputs : config.outputs;
  if ((kind != NRD_TENSOR_INPUT && kind != NRD_TENSOR_OUTPUT) || index >= specs.size()) {
    return NRD_NOT_FOUND;
  }
  specs[index].Write(spec_out);
  return NRD_OK;
}

void nrd_model_stats_read(nrd_model* model, nrd_model_stats* stats_out) {
  From(model)->ReadStats(stats_out);
}

int32_t nrd_model_instance_stats_read(nrd_model* model, uint32_t instance,
                                      nrd_instance_stats* stats_out) {
  return From(model)->ReadInstance(instance, stats_out) ? NRD_OK : NRD_NOT_FOUND;
}

int32_t nrd_model_objective_read(nrd_model* model, nrd_objective_stats* stats_out) {
  return From(model)->ReadObjective(stats_out) ? NRD_OK : NRD_NOT_FOUND;
}

void nrd_model_cost_curve_read(nrd_model* model, nrd_cost_point* points_out, uint32_t capacity,
                               uint32_t* count_out) {
  *count_out = From(model)->ReadCostCurve(points_out, capacity);
}

void nrd_model_batch_stats_read(nrd_model* model, nrd_batch_stats* stats_out, uint32_t capacity,
                                uint32_t* count_out) {
  *count_out = From(model)->stats().ReadBatchStats(stats_out, capacity);
}

void nrd_model_memory_read(nrd_model* model, nrd_memory_stats* stats_out) {
  From(model)->ReadMemory(stats_out);
}

uint32_t nrd_histogram_bucket_count(void) { return nereid::Histogram::bucket_count(); }

uint64_t nrd_histogram_bucket_ns(uint32_t bucket) { return nereid::Histogram::bucket_ns(bucket); }

void nrd_model_sequence_stats_read(nrd_model* model, nrd_sequence_stats* stats_out) {
  From(model)->ReadSequenceStats(stats_out);
}

int32_t nrd_model_has_sequence(nrd_model* model, uint64_t id, nrd_string name) {
  return From(model)->KnowsSequence(id, nereid::View(name)) ? 1 : 0;
}

void nrd_model_finish_sequences(nrd_model* model) { From(model)->FinishSequences(); }

int32_t nrd_model_histogram_read(nrd_model* model, uint32_t histogram, uint64_t* counts_out,
                                 uint32_t capacity) {
  return Guarded(
      nullptr, [&] { return From(model)->stats().ReadHistogram(histogram, counts_out, capacity); });
}

}  // extern "C"

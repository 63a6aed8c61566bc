#include "test/triton/inference_fixture.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace nereid::test {
namespace {

std::string CodeAndMessage(TRITONSERVER_Error* error) {
  return std::string(TRITONSERVER_ErrorCodeString(error)) + ": " + TRITONSERVER_ErrorMessage(error);
}

Value ValueFrom(TRITONSERVER_ParameterType type, const void* value) {
  switch (type) {
    case TRITONSERVER_PARAMETER_INT:
      return *static_cast<const int64_t*>(value);
    case TRITONSERVER_PARAMETER_BOOL:
      return *static_cast<const bool*>(value);
    case TRITONSERVER_PARAMETER_DOUBLE:
      return *static_cast<const double*>(value);
    default:
      return std::string(static_cast<const char*>(value));
  }
}

nrd_tensor_spec Spec(std::string_view name) {
  nrd_tensor_spec spec{};
  spec.name = View(name);
  spec.datatype = NRD_TYPE_INT32;
  spec.rank = 1;
  spec.dims[0] = -1;
  return spec;
}

// The table of a target, which has its own backend.
nrd_backend Table(Target::Execute* execute) {
  nrd_backend table{};
  table.struct_size = sizeof(table);
  table.flags = NRD_BACKEND_OWN_THREAD;
  table.context = execute;
  table.open_model = [](void* context, const nrd_model_options*, void** state, nrd_error*) {
    *state = context;
    return static_cast<int32_t>(NRD_OK);
  };
  table.open_instance = [](void* state, uint32_t, void** instance, nrd_error*) {
    *instance = state;
    return static_cast<int32_t>(NRD_OK);
  };
  table.execute = [](void* instance, nrd_batch* batch, nrd_error* error_out) {
    return (*static_cast<Target::Execute*>(instance))(batch, error_out);
  };
  table.close_instance = [](void*) {};
  table.close_model = [](void*) {};
  return table;
}

int32_t RespondNumber(nrd_batch* batch, int32_t number, nrd_error* error_out) {
  const int64_t shape = 1;
  void* data = nullptr;
  const int32_t code = nrd_batch_request_output(batch, 0, 0, NRD_TYPE_INT32, 1, &shape,
                                                sizeof(number), &data, error_out);
  if (code != NRD_OK) {
    return code;
  }
  std::memcpy(data, &number, sizeof(number));
  return nrd_batch_request_respond(batch, 0, error_out);
}

}  // namespace

TRITONSERVER_Server* Server() {
  static TRITONSERVER_Server* const server = [] {
    Plugin plugin(NEREID_CALLER_PATH, "caller");
    const PluginModel model(plugin);
    void* const library = dlopen(NEREID_CALLER_PATH, RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(library != nullptr);
    using Function = TRITONSERVER_Server* (*)();
    TRITONSERVER_Server* const given =
        reinterpret_cast<Function>(dlsym(library, "caller_server"))();
    dlclose(library);
    return given;
  }();
  return server;
}

void Works(TRITONSERVER_Error* error) {
  if (error != nullptr) {
    FAIL_CHECK(CodeAndMessage(error));
    TRITONSERVER_ErrorDelete(error);
  }
}

std::string Refused(TRITONSERVER_Error* error) {
  REQUIRE(error != nullptr);
  std::string text = CodeAndMessage(error);
  TRITONSERVER_ErrorDelete(error);
  return text;
}

int32_t Fail(nrd_error* error_out, int32_t code, std::string_view message) {
  error_out->code = code;
  error_out->message_size = static_cast<uint32_t>(message.size());
  std::memcpy(error_out->message, message.data(), message.size());
  return code;
}

Target::Target(const std::string& name, Execute execute, bool decoupled)
    : name_(name), execute_(std::move(execute)) {
  Server();  // started before handles are counted
  const nrd_backend table = Table(const_cast<Execute*>(&execute_));
  const nrd_tensor_spec input = Spec("INPUT0");
  const nrd_tensor_spec output = Spec("OUTPUT0");
  nrd_model_options options{};
  options.struct_size = sizeof(options);
  options.flags = decoupled ? static_cast<uint32_t>(NRD_MODEL_DECOUPLED) : 0U;
  options.name = View(name_);
  options.version = View("1");
  options.backend = &table;
  options.inputs = &input;
  options.outputs = &output;
  options.input_count = options.output_count = 1;
  Errors errors;
  REQUIRE_MESSAGE(nrd_model_load(PluginHost::Get().runtime(), &options, nullptr, &model_,
                                 errors.out()) == NRD_OK,
                  errors.message());
  PluginHost::Get().Offer(name_, model_, decoupled);
}

Target::~Target() {
  PluginHost::Get().Withdraw(name_);
  Errors errors;
  CHECK_MESSAGE(nrd_model_drain(model_, 0, errors.out()) == NRD_OK, errors.message());
  nrd_model_release(model_);
}

int32_t Target::Copy(nrd_batch* batch, nrd_error* error_out) {
  return nrd_batch_output_forward(batch, 0, 0, error_out);
}

int32_t Target::Count(nrd_batch* batch, nrd_error* error_out) {
  const auto* const elements = static_cast<const int32_t*>(batch->inputs[0].data);
  if (elements[0] < 0) {
    return Fail(error_out, NRD_INTERNAL, "COUNT is below 0");
  }
  const bool fails = batch->inputs[0].byte_size > sizeof(int32_t);
  for (int32_t i = 0; i < elements[0]; ++i) {
    nrd_value value{};
    value.name = View("index");
    value.kind = NRD_VALUE_INT;
    value.number = i;
    int32_t code = nrd_batch_request_value(batch, 0, &value, error_out);
    if (code == NRD_OK && fails && i == elements[1]) {
      constexpr std::string_view kWhy = "COUNT leaves one out";
      code = nrd_batch_request_respond_error(batch, 0, NRD_NOT_FOUND, kWhy.data(), kWhy.size(),
                                             error_out);
    } else if (code == NRD_OK) {
      code = RespondNumber(batch, i, error_out);
    }
    if (code != NRD_OK) {
      return code;
    }
  }
  return NRD_OK;
}

Asker::Asker(const std::string& model, std::vector<int32_t> elements)
    : elements_(std::move(elements)) {
  Works(TRITONSERVER_ResponseAllocatorNew(
      &allocator_, Allocate, Release,
      [](TRITONSERVER_ResponseAllocator*, void* self) -> TRITONSERVER_Error* {
        ++static_cast<Asker*>(self)->starts;
        return nullptr;
      }));
  Works(TRITONSERVER_InferenceRequestNew(&request_, Server(), model.c_str(), -1));
  const auto count = static_cast<int64_t>(elements_.size());
  Works(TRITONSERVER_InferenceRequestAddInput(request_, "INPUT0", TRITONSERVER_TYPE_INT32, &count,
                                              1));
  Works(TRITONSERVER_InferenceRequestAppendInputData(request_, "INPUT0", elements_.data(),
                                                     elements_.size() * sizeof(int32_t),
                                                     TRITONSERVER_MEMORY_CPU, 0));
  Works(TRITONSERVER_InferenceRequestSetReleaseCallback(request_, OnRelease, this));
  Works(TRITONSERVER_InferenceRequestSetResponseCallback(request_, allocator_, this, OnResponse,
                                                         this));
}

Asker::~Asker() {
  if (!deletes_on_release) {
    Works(TRITONSERVER_InferenceRequestDelete(request_));
  }
  Works(TRITONSERVER_ResponseAllocatorDelete(allocator_));
  CHECK(live_bytes() == 0);
}

void Asker::Run() {
  Send();
  Wait();
}

void Asker::Send(TRITONSERVER_InferenceTrace* trace) {
  {
    const std::lock_guard lock(mutex_);
    answers_.clear();
    released_ = false;
  }
  Works(TRITONSERVER_ServerInferAsync(Server(), request_, trace));
}

void Asker::Wait() {
  std::unique_lock lock(mutex_);
  REQUIRE(changed_.wait_for(lock, std::chrono::seconds(30), [this] { return released_; }));
}

const std::vector<Answer>& Asker::answers() {
  const std::lock_guard lock(mutex_);
  return answers_;
}

const Answer& Asker::answer() {
  REQUIRE(answers().size() == 1);
  CHECK(answers()[0].is_final);
  return answers()[0];
}

int64_t Asker::live_bytes() {
  const std::lock_guard lock(mutex_);
  return live_bytes_;
}

TRITONSERVER_Error* Asker::Allocate(TRITONSERVER_ResponseAllocator* /*allocator*/, const char* name,
                                    size_t byte_size, TRITONSERVER_MemoryType type, int64_t id,
                                    void* self, void** buffer, void** buffer_userp,
                                    TRITONSERVER_MemoryType* actual_type, int64_t* actual_id) {
  auto* const me = static_cast<Asker*>(self);
  if (!me->fails_with.empty()) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, me->fails_with.c_str());
  }
  CHECK(std::string(name) == "OUTPUT0");
  *actual_type = me->gives_device_memory ? TRITONSERVER_MEMORY_GPU : type;
  *actual_id = id;
  *buffer = nullptr;
  *buffer_userp = me;
  if (!me->gives_nothing && byte_size > 0) {
    *buffer = std::malloc(byte_size);
    const std::lock_guard lock(me->mutex_);
    me->live_bytes_ += static_cast<int64_t>(byte_size);
  }
  return nullptr;
}

TRITONSERVER_Error* Asker::Release(TRITONSERVER_ResponseAllocator* /*allocator*/, void* buffer,
                                   void* self, size_t byte_size, TRITONSERVER_MemoryType /*type*/,
                                   int64_t /*id*/) {
  std::free(buffer);
  auto* const me = static_cast<Asker*>(self);
  const std::lock_guard lock(me->mutex_);
  me->live_bytes_ -= static_cast<int64_t>(byte_size);
  return nullptr;
}

Answer Asker::Read(TRITONSERVER_InferenceResponse* response) {
  Answer answer;
  const char* text = nullptr;
  uint32_t count = 0;
  if (TRITONSERVER_Error* const error = TRITONSERVER_InferenceResponseError(response)) {
    answer.error = CodeAndMessage(error);
  }
  Works(TRITONSERVER_InferenceResponseModel(response, &text, &answer.version));
  answer.model = text;
  Works(TRITONSERVER_InferenceResponseId(response, &text));
  answer.id = text;
  Works(TRITONSERVER_InferenceResponseParameterCount(response, &count));
  for (uint32_t i = 0; i < count; ++i) {
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_BYTES;
    const void* value = nullptr;
    Works(TRITONSERVER_InferenceResponseParameter(response, i, &text, &type, &value));
    answer.values[text] = ValueFrom(type, value);
  }
  Works(TRITONSERVER_InferenceResponseOutputCount(response, &count));
  for (uint32_t i = 0; i < count; ++i) {
    TRITONSERVER_DataType datatype = TRITONSERVER_TYPE_INVALID;
    TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_GPU;
    const int64_t* shape = nullptr;
    uint64_t rank = 0;
    const void* data = nullptr;
    size_t byte_size = 0;
    int64_t id = -1;
    void* userp = nullptr;
    Works(TRITONSERVER_InferenceResponseOutput(response, i, &text, &datatype, &shape, &rank, &data,
                                               &byte_size, &type, &id, &userp));
    CHECK(std::string(text) == "OUTPUT0");
    CHECK(datatype == TRITONSERVER_TYPE_INT32);
    CHECK(type == TRITONSERVER_MEMORY_CPU);
    CHECK(id == 0);
    REQUIRE(rank == 1);
    CHECK(static_cast<size_t>(shape[0]) * sizeof(int32_t) == byte_size);
    const auto* const elements = static_cast<const int32_t*>(data);
    answer.output.assign(elements, elements + shape[0]);
  }
  return answer;
}

void Asker::OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* self) {
  auto* const me = static_cast<Asker*>(self);
  Answer answer;
  answer.is_null = response == nullptr;
  if (response != nullptr) {
    answer = Read(response);
  }
  answer.is_final = (flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0;
  if (me->on_response) {
    me->on_response();
  }
  Works(TRITONSERVER_InferenceResponseDelete(response));
  const std::lock_guard lock(me->mutex_);
  me->answers_.push_back(std::move(answer));
}

void Asker::OnRelease(TRITONSERVER_InferenceRequest* request, uint32_t flags, void* self) {
  auto* const me = static_cast<Asker*>(self);
  CHECK(request == me->request_);
  CHECK(flags == TRITONSERVER_REQUEST_RELEASE_ALL);
  if (me->deletes_on_release) {
    Works(TRITONSERVER_InferenceRequestDelete(request));
  }
  if (me->on_release) {
    me->on_release();
  }
  const std::lock_guard lock(me->mutex_);
  me->released_ = true;
  me->changed_.notify_all();
}

}  // namespace nereid::test

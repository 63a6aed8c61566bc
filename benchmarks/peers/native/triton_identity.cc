// A backend of Triton's core that answers each request with a copy of its input, for comparison
// with Nereid's own identity backend. The declarations are those of the functions that the core
// publishes (backend API 1.19), as far as they are used here.
#include <cstdint>
#include <cstring>
#include <ctime>

#define EXPORTED __attribute__((visibility("default")))

extern "C" {

struct TRITONSERVER_Error;
struct TRITONBACKEND_Input;
struct TRITONBACKEND_ModelInstance;
struct TRITONBACKEND_Output;
struct TRITONBACKEND_Request;
struct TRITONBACKEND_Response;

enum TRITONSERVER_DataType : int {};
enum TRITONSERVER_ErrorCode : int { kErrorUnsupported = 5 };
enum TRITONSERVER_MemoryType : int { kMemoryCpu = 0 };

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_ErrorCode code, const char* message);
void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error);

TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* request,
                                                      uint32_t index, TRITONBACKEND_Input** input);
TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request, uint32_t flags);
TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name,
                                                  TRITONSERVER_DataType* datatype,
                                                  const int64_t** shape, uint32_t* rank,
                                                  uint64_t* byte_size, uint32_t* buffer_count);
TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, uint32_t index,
                                              const void** buffer, uint64_t* byte_size,
                                              TRITONSERVER_MemoryType* memory_type,
                                              int64_t* memory_type_id);
TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                              TRITONBACKEND_Request* request);
TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response,
                                                 TRITONBACKEND_Output** output, const char* name,
                                                 TRITONSERVER_DataType datatype,
                                                 const int64_t* shape, uint32_t rank);
TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response, uint32_t flags,
                                               TRITONSERVER_Error* error);
TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* output, void** buffer,
                                               uint64_t byte_size,
                                               TRITONSERVER_MemoryType* memory_type,
                                               int64_t* memory_type_id);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, bool success,
    uint64_t exec_start_ns, uint64_t compute_start_ns, uint64_t compute_end_ns,
    uint64_t exec_end_ns);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, uint64_t batch_size, uint64_t exec_start_ns,
    uint64_t compute_start_ns, uint64_t compute_end_ns, uint64_t exec_end_ns);

// The one function that a backend must have. Takes over the requests.
EXPORTED TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests, uint32_t count);

}  // extern "C"

namespace {

constexpr uint32_t kReleaseAll = 1;
constexpr uint32_t kFinalResponse = 1;

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Nothing can be done about a failure to report or to release but to go on.
void Drop(TRITONSERVER_Error* error) {
  if (error != nullptr) TRITONSERVER_ErrorDelete(error);
}

TRITONSERVER_Error* CopyBuffers(TRITONBACKEND_Input* input, uint32_t buffer_count, char* target) {
  for (uint32_t i = 0; i < buffer_count; ++i) {
    const void* source = nullptr;
    uint64_t byte_size = 0;
    TRITONSERVER_MemoryType memory_type = kMemoryCpu;
    int64_t memory_type_id = 0;
    if (auto* error = TRITONBACKEND_InputBuffer(input, i, &source, &byte_size, &memory_type,
                                                &memory_type_id)) {
      return error;
    }
    std::memcpy(target, source, byte_size);
    target += byte_size;
  }
  return nullptr;
}

TRITONSERVER_Error* CopyInput(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) {
  TRITONBACKEND_Input* input = nullptr;
  if (auto* error = TRITONBACKEND_RequestInputByIndex(request, 0, &input)) return error;
  TRITONSERVER_DataType datatype{};
  const int64_t* shape = nullptr;
  uint32_t rank = 0;
  uint64_t byte_size = 0;
  uint32_t buffer_count = 0;
  if (auto* error = TRITONBACKEND_InputProperties(input, nullptr, &datatype, &shape, &rank,
                                                  &byte_size, &buffer_count)) {
    return error;
  }
  TRITONBACKEND_Output* output = nullptr;
  if (auto* error =
          TRITONBACKEND_ResponseOutput(response, &output, "OUTPUT0", datatype, shape, rank)) {
    return error;
  }
  void* buffer = nullptr;
  TRITONSERVER_MemoryType memory_type = kMemoryCpu;
  int64_t memory_type_id = 0;
  if (auto* error =
          TRITONBACKEND_OutputBuffer(output, &buffer, byte_size, &memory_type, &memory_type_id)) {
    return error;
  }
  if (memory_type != kMemoryCpu) {
    return TRITONSERVER_ErrorNew(kErrorUnsupported, "this backend writes host memory only");
  }
  return CopyBuffers(input, buffer_count, static_cast<char*>(buffer));
}

bool Answer(TRITONBACKEND_Request* request) {
  TRITONBACKEND_Response* response = nullptr;
  if (auto* error = TRITONBACKEND_ResponseNew(&response, request)) {
    Drop(error);
    return false;
  }
  TRITONSERVER_Error* failure = CopyInput(request, response);
  Drop(TRITONBACKEND_ResponseSend(response, kFinalResponse, failure));
  const bool answered = failure == nullptr;
  Drop(failure);
  return answered;
}

}  // namespace

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       uint32_t count) {
  const uint64_t batch_start_ns = NowNs();
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t start_ns = NowNs();
    const bool answered = Answer(requests[i]);
    const uint64_t end_ns = NowNs();
    Drop(TRITONBACKEND_ModelInstanceReportStatistics(instance, requests[i], answered, start_ns,
                                                     start_ns, end_ns, end_ns));
    Drop(TRITONBACKEND_RequestRelease(requests[i], kReleaseAll));
  }
  const uint64_t batch_end_ns = NowNs();
  Drop(TRITONBACKEND_ModelInstanceReportBatchStatistics(
      instance, count, batch_start_ns, batch_start_ns, batch_end_ns, batch_end_ns));
  return nullptr;
}

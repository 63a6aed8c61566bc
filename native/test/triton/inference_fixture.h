// Models that plug-ins ask for inferences, and a plug-in that asks, over the functions of
// tritonserver.h.
#ifndef NEREID_TEST_TRITON_INFERENCE_FIXTURE_H_
#define NEREID_TEST_TRITON_INFERENCE_FIXTURE_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "test/triton/triton_fixture.h"
#include "triton/core/tritonserver.h"

namespace nereid::test {

// The server's handle, as backends get it.
TRITONSERVER_Server* Server();

// Expects success, or deletes the error and returns what it said as "CODE: message".
void Works(TRITONSERVER_Error* error);
std::string Refused(TRITONSERVER_Error* error);

// A model of INPUT0 and OUTPUT0, both INT32 [-1], computed by `execute`; the host offers it by name
// while it lives.
class Target {
 public:
  using Execute = std::function<int32_t(nrd_batch* batch, nrd_error* error_out)>;

  Target(const std::string& name, Execute execute, bool decoupled = false);
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  nrd_model* get() { return model_; }

  // Copies the input to the output.
  static int32_t Copy(nrd_batch* batch, nrd_error* error_out);
  // Sends as many responses as the first element says, each with its number; a negative count is an
  // error. The second element names a response that is an error.
  static int32_t Count(nrd_batch* batch, nrd_error* error_out);

 private:
  const std::string name_;
  const Execute execute_;
  nrd_model* model_ = nullptr;
};

// Writes an error as a backend of the core does.
int32_t Fail(nrd_error* error_out, int32_t code, std::string_view message);

struct Answer {
  bool is_null = false;
  bool is_final = false;
  std::string error;  // "CODE: message"
  std::string model;
  int64_t version = 0;
  std::string id;
  std::vector<int32_t> output;
  std::map<std::string, Value> values;
};

// A request for one target, and its answers.
class Asker {
 public:
  explicit Asker(const std::string& model, std::vector<int32_t> elements = {1, 2, 3});
  ~Asker();
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  TRITONSERVER_InferenceRequest* get() { return request_; }
  TRITONSERVER_ResponseAllocator* allocator() { return allocator_; }
  // Sends it off, and waits for the last response and the release.
  void Run();
  void Send(TRITONSERVER_InferenceTrace* trace = nullptr);
  void Wait();
  const std::vector<Answer>& answers();
  // The only answer.
  const Answer& answer();

  // Bytes that the allocator gave and did not get back:
  [[nodiscard]] int64_t live_bytes();
  std::string fails_with;      // the allocator fails with this reason
  bool gives_nothing = false;  // the allocator gives NULL for any size
  bool gives_device_memory = false;
  int starts = 0;
  int queries = 0;
  int attributes = 0;
  // Called within the callbacks of the response and the release.
  std::function<void()> on_response;
  std::function<void()> on_release;
  bool deletes_on_release = false;
  // The request's callbacks.
  static void OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* self);

 private:
  static TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char* name,
                                      size_t byte_size, TRITONSERVER_MemoryType type, int64_t id,
                                      void* self, void** buffer, void** buffer_userp,
                                      TRITONSERVER_MemoryType* actual_type, int64_t* actual_id);
  static TRITONSERVER_Error* Release(TRITONSERVER_ResponseAllocator*, void* buffer, void* self,
                                     size_t byte_size, TRITONSERVER_MemoryType type, int64_t id);
  static void OnRelease(TRITONSERVER_InferenceRequest* request, uint32_t flags, void* self);
  static Answer Read(TRITONSERVER_InferenceResponse* response);

  std::vector<int32_t> elements_;
  TRITONSERVER_InferenceRequest* request_ = nullptr;
  TRITONSERVER_ResponseAllocator* allocator_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Answer> answers_;
  int64_t live_bytes_ = 0;
  bool released_ = false;
};

}  // namespace nereid::test

#endif  // NEREID_TEST_TRITON_INFERENCE_FIXTURE_H_

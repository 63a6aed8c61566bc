// Shared parts of the tests of decoupled models: the receiver of responses, and functions by which
// backends send them.
#ifndef NEREID_TEST_DECOUPLED_FIXTURE_H_
#define NEREID_TEST_DECOUPLED_FIXTURE_H_

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "test/core/core_fixture.h"

namespace nereid::test {

// Keeps the values of responses, by tag; an error has none. `on_response` runs in the callback,
// without a lock.
struct Collector {
  std::function<void(uint64_t tag, nrd_tensor* outputs, uint32_t count)> on_response;
  std::function<void(uint64_t tag)> on_wait;  // called before a response of an ensemble is made
  std::mutex mutex;
  std::map<uint64_t, std::vector<std::vector<int32_t>>>
      values;  // of the first output that is there

  static void Respond(void* context, uint64_t tag, nrd_tensor* outputs, uint32_t count) {
    auto* const self = static_cast<Collector*>(context);
    if (outputs == nullptr) {
      if (self->on_wait) {
        self->on_wait(tag);
      }
      return;
    }
    {
      const std::lock_guard lock(self->mutex);
      std::vector<int32_t>& value = self->values[tag].emplace_back();
      if (count > 0) {
        const nrd_tensor& output = outputs[outputs[0].data == nullptr ? count - 1 : 0];
        const auto* const data = static_cast<const int32_t*>(output.data);
        value.assign(data, data + output.byte_size / sizeof(int32_t));
      }
    }
    if (self->on_response) {
      self->on_response(tag, outputs, count);
    }
  }

  nrd_runtime_options Options() {
    nrd_runtime_options options{};
    options.respond = Respond;
    options.respond_context = this;
    return options;
  }

  std::vector<std::vector<int32_t>> Of(uint64_t tag) {
    const std::lock_guard lock(mutex);
    return values[tag];
  }
};

inline constexpr uint32_t kDecoupled = NRD_MODEL_DECOUPLED;

// Makes output `index` of one request: its rows, all equal to `value`.
inline int32_t Make(nrd_batch* batch, uint32_t request, uint32_t index, int32_t value,
                    nrd_error* error) {
  const nrd_tensor& input = batch->requests[request]->inputs[0];
  void* data = nullptr;
  const int32_t code = nrd_batch_request_output(batch, request, index, NRD_TYPE_INT32, input.rank,
                                                input.shape, input.byte_size, &data, error);
  if (code == NRD_OK) {
    std::fill_n(static_cast<int32_t*>(data), input.byte_size / sizeof(int32_t), value);
  }
  return code;
}

inline int32_t Send(nrd_batch* batch, uint32_t request, int32_t value, nrd_error* error) {
  const int32_t code = Make(batch, request, 0, value, error);
  return code == NRD_OK ? nrd_batch_request_respond(batch, request, error) : code;
}

// Sends NRD_NOT_FOUND as a response.
inline int32_t SendError(nrd_batch* batch, uint32_t request, nrd_error* error) {
  constexpr std::string_view kWhy = "not this one";
  return nrd_batch_request_respond_error(batch, request, NRD_NOT_FOUND, kWhy.data(), kWhy.size(),
                                         error);
}

inline int32_t ValueOf(const nrd_batch* batch, uint32_t request) {
  return *static_cast<const int32_t*>(batch->requests[request]->inputs[0].data);
}

// Sends responses until it is told to stop; returns the status that told it.
inline int32_t SendUntilStopped(nrd_batch* batch, nrd_error* error) {
  const int64_t until_ns = In(kPatienceMs);
  int32_t code = NRD_OK;
  while (code == NRD_OK && nrd_clock_now_ns() < until_ns) {
    code = Send(batch, 0, 1, error);
  }
  return code;
}

inline std::string Text(const nrd_error& error) { return {error.message, error.message_size}; }

}  // namespace nereid::test

#endif  // NEREID_TEST_DECOUPLED_FIXTURE_H_

// Measures the cost of a request in the core alone, over its C ABI, without a JVM.
//
// core_bench [seconds per case]
//
// Prints one line a case: nanoseconds per request and requests per second.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "nereid/nereid.h"

namespace {

nrd_error error{};

void Require(int32_t code, const char* what) {
  if (code != NRD_OK) {
    std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(error.message_size), error.message);
    std::exit(1);
  }
}

nrd_string Text(std::string_view text) { return {text.data(), text.size()}; }

// One FP32 input and output; `options` has the rest.
nrd_model* Load(nrd_runtime* runtime, nrd_model_options options) {
  nrd_tensor_spec input{};
  input.name = Text("INPUT0");
  input.datatype = NRD_TYPE_FP32;
  input.rank = 1;
  input.dims[0] = -1;
  nrd_tensor_spec output = input;
  output.name = Text("OUTPUT0");
  options.struct_size = sizeof(options);
  options.name = Text("bench");
  options.version = Text("1");
  options.inputs = &input;
  options.outputs = &output;
  options.input_count = 1;
  options.output_count = 1;
  options.max_batch_size = 64;
  nrd_model* model = nullptr;
  Require(nrd_model_load(runtime, &options, nullptr, &model, &error), "load");
  return model;
}

nrd_model* LoadIdentity(nrd_runtime* runtime, uint32_t flags) {
  nrd_backend backend{};
  Require(nrd_backend_find("identity", 8, &backend, &error), "identity");
  nrd_model_options options{};
  options.flags = flags;
  options.backend = &backend;
  options.inline_budget_ns = 1'000'000'000;  // a stall of the machine must not end inline execution
  return Load(runtime, options);
}

// Loads an ensemble of `model` twice, one after the other.
nrd_model* LoadChain(nrd_runtime* runtime, nrd_model* model) {
  const nrd_link links[] = {{0, 0}, {0, 1}, {0, 2}};
  const nrd_step steps[] = {{model, &links[0], &links[1], 1, 1},
                            {model, &links[1], &links[2], 1, 1}};
  const uint32_t output = 2;
  nrd_model_options options{};
  options.steps = steps;
  options.step_count = 2;
  options.value_count = 3;
  options.output_values = &output;
  return Load(runtime, options);
}

nrd_request* NewRequest(nrd_model* model, int64_t elements) {
  nrd_request* request = nullptr;
  Require(nrd_request_acquire(model, &request, &error), "acquire");
  nrd_tensor& input = request->inputs[0];
  input.datatype = NRD_TYPE_FP32;
  input.rank = 2;
  input.shape[0] = 1;
  input.shape[1] = elements;
  input.byte_size = static_cast<uint64_t>(elements) * 4;
  return request;
}

// One whole request: input buffer, submission, dropping of both buffers.
void Inline(nrd_model* model, int64_t elements, int64_t until_ns, uint64_t* count) {
  nrd_request* const request = NewRequest(model, elements);
  while (nrd_clock_now_ns() < until_ns) {
    for (int i = 0; i < 100; ++i) {
      Require(nrd_request_input_alloc(request, 0), "input");
      Require(nrd_request_submit(request), "submit");
      nrd_request_drop_inputs(request);
      nrd_request_drop_outputs(request);
    }
    *count += 100;
  }
  nrd_request_release(request);
}

// A closed loop of `in_flight` requests that one thread submits again as they complete.
struct Loop {
  std::vector<nrd_request*> requests;
  std::counting_semaphore<> ready{0};
  std::atomic<uint64_t> done_mask_words[64]{};
};

void OnComplete(void* context, const uint64_t* tags, uint32_t count) {
  auto* const loop = static_cast<Loop*>(context);
  for (uint32_t i = 0; i < count; ++i) {
    loop->done_mask_words[tags[i] / 64].fetch_or(uint64_t{1} << (tags[i] % 64));
  }
  loop->ready.release();
}

uint64_t Queued(nrd_model* model, Loop& loop, size_t in_flight, int64_t until_ns) {
  for (size_t i = 0; i < in_flight; ++i) {
    nrd_request* const request = NewRequest(model, 16);
    request->tag = i;
    request->flags = NRD_REQUEST_NO_INLINE;
    loop.requests.push_back(request);
    Require(nrd_request_input_alloc(request, 0), "input");
    (void)nrd_request_submit(request);
  }
  uint64_t count = 0;
  size_t outstanding = in_flight;
  bool stop = false;
  while (outstanding > 0) {
    loop.ready.acquire();
    stop = stop || nrd_clock_now_ns() >= until_ns;
    for (size_t word = 0; word * 64 < in_flight; ++word) {
      uint64_t mask = loop.done_mask_words[word].exchange(0);
      for (; mask != 0; mask &= mask - 1) {
        nrd_request* const request =
            loop.requests[word * 64 + static_cast<size_t>(__builtin_ctzll(mask))];
        ++count;
        nrd_request_drop_inputs(request);
        nrd_request_drop_outputs(request);
        if (stop) {
          --outstanding;
          continue;
        }
        Require(nrd_request_input_alloc(request, 0), "input");
        (void)nrd_request_submit(request);
      }
    }
  }
  for (nrd_request* request : loop.requests) {
    nrd_request_release(request);
  }
  loop.requests.clear();
  return count;
}

void Print(const char* name, uint64_t count, int64_t elapsed_ns) {
  std::printf("%-28s %10.1f ns/request %12.0f requests/s\n", name,
              static_cast<double>(elapsed_ns) / static_cast<double>(count),
              static_cast<double>(count) * 1e9 / static_cast<double>(elapsed_ns));
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t duration_ns = static_cast<int64_t>((argc > 1 ? std::atof(argv[1]) : 2.0) * 1e9);
  Loop loop;
  nrd_runtime_options options{};
  options.struct_size = sizeof(options);
  options.complete = OnComplete;
  options.complete_context = &loop;
  nrd_runtime* runtime = nullptr;
  Require(nrd_runtime_create(&options, &runtime, &error), "runtime");
  nrd_model* const model = LoadIdentity(runtime, NRD_MODEL_DYNAMIC_BATCHING);

  for (const int64_t elements : {int64_t{16}, int64_t{3 * 224 * 224}}) {
    uint64_t count = 0;
    const int64_t start_ns = nrd_clock_now_ns();
    Inline(model, elements, start_ns + duration_ns, &count);
    Print(elements == 16 ? "inline, 64 B" : "inline, 602112 B", count,
          nrd_clock_now_ns() - start_ns);
  }
  nrd_model* const chain = LoadChain(runtime, model);
  uint64_t chained = 0;
  const int64_t chain_start_ns = nrd_clock_now_ns();
  Inline(chain, 16, chain_start_ns + duration_ns, &chained);
  Print("inline, 64 B, twice", chained, nrd_clock_now_ns() - chain_start_ns);
  nrd_model_release(chain);
  for (const size_t in_flight : {size_t{1}, size_t{8}, size_t{64}}) {
    const int64_t start_ns = nrd_clock_now_ns();
    const uint64_t count = Queued(model, loop, in_flight, start_ns + duration_ns);
    Print(("queued, " + std::to_string(in_flight) + " in flight").c_str(), count,
          nrd_clock_now_ns() - start_ns);
  }
  nrd_model_release(model);
  Require(nrd_runtime_release(runtime, &error), "release");
  return 0;
}

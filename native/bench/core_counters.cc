// Measures what a request costs the core in numbers that do not depend on the machine.
//
//   core_counters                  allocations and copies of a request: one "name value" a line
//   core_counters CASE REQUESTS    requests of one case in RunCounted, for callgrind to count the
//                                  instructions of: inline, chain or cached
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <semaphore>
#include <string_view>
#include <vector>

#include "counted_calls.h"
#include "nereid/nereid.h"

namespace {

constexpr int kWarmUps = 2000;
constexpr int kRequests = 2000;
constexpr int64_t kSmall = 16;
constexpr int64_t kLarge = 64 * 1024;
constexpr size_t kInFlight = 8;

nrd_error error{};

void Require(int32_t code, const char* what) {
  if (code != NRD_OK) {
    std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(error.message_size), error.message);
    std::exit(1);
  }
}

nrd_string Text(std::string_view text) { return {text.data(), text.size()}; }

nrd_model* Load(nrd_runtime* runtime, std::string_view name, nrd_model_options options) {
  nrd_tensor_spec input{};
  input.name = Text("INPUT0");
  input.datatype = NRD_TYPE_FP32;
  input.rank = 1;
  input.dims[0] = -1;
  nrd_tensor_spec output = input;
  output.name = Text("OUTPUT0");
  options.struct_size = sizeof(options);
  options.name = Text(name);
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

// Loads the identity model; it waits for full batches, so that all requests of a round share one.
nrd_model* LoadIdentity(nrd_runtime* runtime, std::string_view name, uint32_t flags) {
  const int64_t preferred_batch_size = kInFlight;
  nrd_backend backend{};
  Require(nrd_backend_find("identity", 8, &backend, &error), "identity");
  nrd_model_options options{};
  options.flags = flags;
  options.backend = &backend;
  options.inline_budget_ns = int64_t{1} << 40;  // callgrind is slow
  if ((flags & NRD_MODEL_DYNAMIC_BATCHING) != 0) {
    options.preferred_batch_sizes = &preferred_batch_size;
    options.preferred_batch_size_count = 1;
    options.max_queue_delay_ns = 10'000'000'000;
  }
  return Load(runtime, name, options);
}

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
  return Load(runtime, "chain", options);
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

void Fill(nrd_request* request) {
  Require(nrd_request_input_alloc(request, 0), "input");
  std::memset(request->inputs[0].data, 0, 64);
}

void Drop(nrd_request* request) {
  nrd_request_drop_inputs(request);
  nrd_request_drop_outputs(request);
}

}  // namespace

// Callgrind counts the instructions of this function.
extern "C" [[gnu::noinline]] void RunCounted(nrd_request* request, int count) {
  for (int i = 0; i < count; ++i) {
    Fill(request);
    Require(nrd_request_submit(request), "submit");
    Drop(request);
  }
}

namespace {

// Runs with the caller's memory as input, without a copy.
void RunBorrowed(nrd_request* request, void* memory, int count) {
  for (int i = 0; i < count; ++i) {
    request->inputs[0].data = memory;
    request->inputs[0].flags |= NRD_TENSOR_SELECTED;
    Require(nrd_request_submit(request), "submit");
    Drop(request);
  }
}

// Several requests at a time, which an instance's thread answers.
struct Queue {
  std::vector<nrd_request*> requests;
  std::counting_semaphore<> ready{0};
  std::atomic<uint64_t> done_mask{0};
};

void OnComplete(void* context, const uint64_t* tags, uint32_t count) {
  auto* const queue = static_cast<Queue*>(context);
  for (uint32_t i = 0; i < count; ++i) {
    queue->done_mask.fetch_or(uint64_t{1} << tags[i]);
  }
  queue->ready.release();
}

void RunQueued(Queue& queue, int count) {
  for (int done = 0; done < count; done += static_cast<int>(queue.requests.size())) {
    for (nrd_request* request : queue.requests) {
      Fill(request);
      (void)nrd_request_submit(request);
    }
    for (size_t left = queue.requests.size(); left > 0;) {
      queue.ready.acquire();
      for (uint64_t mask = queue.done_mask.exchange(0); mask != 0; mask &= mask - 1) {
        Drop(queue.requests[static_cast<size_t>(__builtin_ctzll(mask))]);
        --left;
      }
    }
  }
}

// Prints the cost of each of the kRequests that `run` makes, with an input of that many elements.
template <typename Run>
void Print(const char* name, int64_t elements, const Run& run) {
  run(kWarmUps);
  const nereid::CallCounts before = nereid::CallsSoFar();
  run(kRequests);
  const nereid::CallCounts after = nereid::CallsSoFar();
  std::printf("core.%s.native_allocations %.3f\n", name,
              static_cast<double>(after.allocations - before.allocations) / kRequests);
  if (elements == kLarge) {
    std::printf("core.%s.copies_of_a_byte %.3f\n", name,
                static_cast<double>(after.copied_bytes - before.copied_bytes) / kRequests /
                    (static_cast<double>(elements) * 4));
  }
}

void PrintAll(nrd_runtime* runtime, Queue& queue) {
  nrd_model* const plain = LoadIdentity(runtime, "plain", 0);
  nrd_model* const batching = LoadIdentity(runtime, "batching", NRD_MODEL_DYNAMIC_BATCHING);
  nrd_model* const chain = LoadChain(runtime, plain);
  nrd_request* const small = NewRequest(plain, kSmall);
  nrd_request* const large = NewRequest(plain, kLarge);
  nrd_request* const lent = NewRequest(plain, kLarge);
  nrd_request* const chained = NewRequest(chain, kSmall);
  std::vector<float> memory(kLarge);
  Print("inline", kSmall, [&](int count) { RunCounted(small, count); });
  Print("inline_large", kLarge, [&](int count) { RunCounted(large, count); });
  Print("borrowed_large", kLarge, [&](int count) { RunBorrowed(lent, memory.data(), count); });
  Print("chain", kSmall, [&](int count) { RunCounted(chained, count); });
  for (size_t i = 0; i < kInFlight; ++i) {
    nrd_request* const request = NewRequest(batching, kLarge);
    request->tag = i;
    request->flags = NRD_REQUEST_NO_INLINE;
    queue.requests.push_back(request);
  }
  Print("batched_large", kLarge, [&](int count) { RunQueued(queue, count); });
  for (nrd_request* request : queue.requests) {
    nrd_request_release(request);
  }
  for (nrd_request* request : {small, large, lent, chained}) {
    nrd_request_release(request);
  }
  nrd_model_release(chain);
  nrd_model_release(batching);
  nrd_model_release(plain);
}

void RunCase(nrd_runtime* runtime, std::string_view which, int count) {
  nrd_model* const plain = LoadIdentity(runtime, "plain", 0);
  nrd_model* const cached = LoadIdentity(runtime, "cached", NRD_MODEL_RESPONSE_CACHE);
  nrd_model* const chain = LoadChain(runtime, plain);
  nrd_model* const model = which == "cached" ? cached : which == "chain" ? chain : plain;
  nrd_request* const request = NewRequest(model, kSmall);
  Fill(request);  // the first request is not like the others
  Require(nrd_request_submit(request), "submit");
  Drop(request);
  RunCounted(request, count);
  nrd_request_release(request);
  nrd_model_release(chain);
  nrd_model_release(cached);
  nrd_model_release(plain);
}

}  // namespace

int main(int argc, char** argv) {
  Queue queue;
  nrd_runtime_options options{};
  options.struct_size = sizeof(options);
  options.complete = OnComplete;
  options.complete_context = &queue;
  options.cache_byte_limit = 1 << 20;
  nrd_runtime* runtime = nullptr;
  Require(nrd_runtime_create(&options, &runtime, &error), "runtime");
  if (argc == 3) {
    RunCase(runtime, argv[1], std::atoi(argv[2]));
  } else {
    PrintAll(runtime, queue);
  }
  Require(nrd_runtime_release(runtime, &error), "release");
  return 0;
}

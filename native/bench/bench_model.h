// A runtime with one model of the core's backends, for benches that drive the C ABI.
#ifndef NEREID_BENCH_BENCH_MODEL_H_
#define NEREID_BENCH_BENCH_MODEL_H_

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "nereid/nereid.h"

namespace nereid {

inline void Require(const Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    std::exit(1);
  }
}

inline void Require(int32_t code, const nrd_error& error) {
  Require(StatusFromCallback(code, error, "the core"));
}

struct BenchOptions {
  std::string backend;
  // The only input and the only output: FP32, with a batch dimension before their dims.
  const char* input;
  const char* output;
  std::vector<int64_t> input_dims;
  std::vector<int64_t> output_dims;
  uint32_t flags = 0;  // NRD_MODEL_*
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string child_path;  // the program that executes the model; empty: this process does
};

// Used by the main thread, which ends the bench where a call fails.
class BenchModel {
 public:
  explicit BenchModel(const BenchOptions& bench) {
    nrd_error error{};
    nrd_runtime_options runtime_options{};
    runtime_options.struct_size = sizeof(runtime_options);
    Require(nrd_runtime_create(&runtime_options, &runtime_, &error), error);
    const std::string& name = bench.backend;
    nrd_backend backend{};
    Require(bench.child_path.empty()
                ? nrd_backend_find(name.data(), name.size(), &backend, &error)
                : nrd_backend_isolate(runtime_, name.data(), name.size(), &backend, &error),
            error);
    std::vector<nrd_parameter> parameters = {
        {AsNrdString("isolation.backend"), AsNrdString(name)},
        {AsNrdString("isolation.child"), AsNrdString(bench.child_path)}};
    for (const auto& [key, value] : bench.parameters) {
      parameters.push_back({AsNrdString(key), AsNrdString(value)});
    }
    const nrd_tensor_spec input = Spec(bench.input, bench.input_dims);
    const nrd_tensor_spec output = Spec(bench.output, bench.output_dims);
    nrd_model_options options{};
    options.struct_size = sizeof(options);
    options.flags = bench.flags;
    options.name = AsNrdString("bench");
    options.version = AsNrdString("1");
    options.backend = &backend;
    options.inputs = &input;
    options.outputs = &output;
    options.input_count = options.output_count = 1;
    options.max_batch_size = 64;
    options.parameters = parameters.data();
    options.parameter_count = parameters.size();
    Require(nrd_model_load(runtime_, &options, nullptr, &model_, &error), error);
  }
  ~BenchModel() {
    nrd_model_release(model_);
    (void)nrd_runtime_release(runtime_, nullptr);
  }
  BenchModel(const BenchModel&) = delete;
  BenchModel& operator=(const BenchModel&) = delete;

  [[nodiscard]] nrd_model* model() const { return model_; }

  // Makes a request with one row of the input, whose free dims are `free_dim`. The caller releases
  // it.
  nrd_request* NewRequest(const BenchOptions& bench, int64_t free_dim = 1) {
    nrd_request* request = nullptr;
    nrd_error error{};
    Require(nrd_request_acquire(model_, &request, &error), error);
    nrd_tensor& input = request->inputs[0];
    input.datatype = NRD_TYPE_FP32;
    input.rank = static_cast<uint32_t>(bench.input_dims.size()) + 1;
    input.shape[0] = 1;
    input.byte_size = sizeof(float);
    for (size_t i = 0; i < bench.input_dims.size(); ++i) {
      input.shape[i + 1] = bench.input_dims[i] < 0 ? free_dim : bench.input_dims[i];
      input.byte_size *= static_cast<uint64_t>(input.shape[i + 1]);
    }
    return request;
  }

  // Gives the request an input of `value`s, and submits it.
  static int32_t Submit(nrd_request* request, float value) {
    Require(nrd_request_input_alloc(request, 0), *request->error);
    const nrd_tensor& input = request->inputs[0];
    std::fill_n(static_cast<float*>(input.data), input.byte_size / sizeof(float), value);
    return nrd_request_submit(request);
  }

  // Takes the answer of a request whose submission returned `code`, and drops it.
  static void Finish(nrd_request* request, int32_t code) {
    Require(code == NRD_PENDING ? nrd_request_wait(request, 0) : code, *request->error);
    nrd_request_drop_inputs(request);
    nrd_request_drop_outputs(request);
  }

 private:
  static nrd_tensor_spec Spec(const char* name, const std::vector<int64_t>& dims) {
    nrd_tensor_spec spec{};
    spec.name = AsNrdString(name);
    spec.datatype = NRD_TYPE_FP32;
    spec.rank = static_cast<uint32_t>(dims.size());
    std::copy(dims.begin(), dims.end(), spec.dims);
    return spec;
  }

  nrd_runtime* runtime_ = nullptr;
  nrd_model* model_ = nullptr;
};

}  // namespace nereid

#endif  // NEREID_BENCH_BENCH_MODEL_H_

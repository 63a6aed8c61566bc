// Measures the cost of a process of its own for a model: sends the same requests to a model in this
// process and to one that is isolated, in turns.
//
//   isolation_bench NEREID-CHILD LIBONNXRUNTIME.so MODELS DIGITS.onnx [windows]
//
// MODELS is native/test/models. Prints medians over the windows, and the processor time of both
// processes together.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "nereid/nereid.h"

namespace nereid {
namespace {

struct Case {
  const char* name;
  const char* backend;
  std::string path;
  const char* input;
  const char* output;
  std::vector<int64_t> input_dims;
  std::vector<int64_t> output_dims;
  size_t in_flight;
  int runs_per_window;
};

std::string child_path;
std::string library_path;

void Require(int32_t code, const nrd_error& error) {
  if (code != NRD_OK) {
    std::fprintf(stderr, "%s\n",
                 std::string(StatusFromCallback(code, error, "the core").message()).c_str());
    std::exit(1);
  }
}

nrd_tensor_spec Spec(const char* name, const std::vector<int64_t>& dims) {
  nrd_tensor_spec spec{};
  spec.name = AsNrdString(name);
  spec.datatype = NRD_TYPE_FP32;
  spec.rank = static_cast<uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), spec.dims);
  return spec;
}

// Processor time of this process and of another, in seconds; the other's in steps of 10 ms.
double ProcessorSeconds(int32_t other) {
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  double seconds = static_cast<double>(own.ru_utime.tv_sec + own.ru_stime.tv_sec) +
                   static_cast<double>(own.ru_utime.tv_usec + own.ru_stime.tv_usec) / 1e6;
  const std::string path = "/proc/" + std::to_string(other) + "/stat";
  std::FILE* const file = other == 0 ? nullptr : std::fopen(path.c_str(), "re");
  if (file != nullptr) {
    unsigned long user = 0;
    unsigned long system = 0;
    if (std::fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                    &system) == 2) {
      seconds += static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
    }
    std::fclose(file);
  }
  return seconds;
}

// A model, and the requests that are in flight to it.
class Loop {
 public:
  Loop(const Case& what, bool isolated) : what_(what) {
    nrd_error error{};
    nrd_runtime_options runtime_options{};
    runtime_options.struct_size = sizeof(runtime_options);
    Require(nrd_runtime_create(&runtime_options, &runtime_, &error), error);
    const std::string backend_name = what.backend;
    nrd_backend backend{};
    Require(isolated ? nrd_backend_isolate(runtime_, backend_name.data(), backend_name.size(),
                                           &backend, &error)
                     : nrd_backend_find(backend_name.data(), backend_name.size(), &backend, &error),
            error);
    const nrd_tensor_spec input = Spec(what.input, what.input_dims);
    const nrd_tensor_spec output = Spec(what.output, what.output_dims);
    const nrd_parameter parameters[] = {
        {AsNrdString("model_path"), AsNrdString(what.path)},
        {AsNrdString("onnxruntime_path"), AsNrdString(library_path)},
        // Workers that look for work take processors from what is measured.
        {AsNrdString("shared_thread_count"), AsNrdString("1")},
        {AsNrdString("isolation.backend"), AsNrdString(backend_name)},
        {AsNrdString("isolation.child"), AsNrdString(child_path)}};
    nrd_model_options options{};
    options.struct_size = sizeof(options);
    options.flags = what.in_flight > 1 ? NRD_MODEL_DYNAMIC_BATCHING : 0;
    options.name = AsNrdString("m");
    options.version = AsNrdString("1");
    options.backend = &backend;
    options.inputs = &input;
    options.outputs = &output;
    options.input_count = options.output_count = 1;
    options.max_batch_size = 64;
    options.parameters = parameters;
    options.parameter_count = std::size(parameters);
    Require(nrd_model_load(runtime_, &options, nullptr, &model_, &error), error);
    requests_.resize(what.in_flight);
    for (nrd_request*& request : requests_) {
      Require(nrd_request_acquire(model_, &request, &error), error);
    }
    if (isolated) {
      nrd_isolation_stats stats{};
      Require(nrd_model_isolation_read(model_, &stats, nullptr), error);
      process_ = stats.process;
    }
  }
  ~Loop() {
    for (nrd_request* const request : requests_) {
      nrd_request_release(request);
    }
    nrd_model_release(model_);
    (void)nrd_runtime_release(runtime_, nullptr);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Microseconds of wall clock, and of processors, for each request.
  std::pair<double, double> Run() {
    const int64_t start_ns = nrd_clock_now_ns();
    const double start_seconds = ProcessorSeconds(process_);
    std::vector<int32_t> codes(requests_.size(), NRD_OK);
    const size_t count = static_cast<size_t>(what_.runs_per_window);
    for (size_t i = 0; i < count + requests_.size(); ++i) {
      nrd_request* const request = requests_[i % requests_.size()];
      int32_t& code = codes[i % requests_.size()];
      if (i >= requests_.size()) {
        code = code == NRD_PENDING ? nrd_request_wait(request, 0) : code;
        Require(code, *request->error);
        nrd_request_drop_inputs(request);
        nrd_request_drop_outputs(request);
      }
      if (i < count) {
        code = Submit(request);
      }
    }
    const double us = static_cast<double>(nrd_clock_now_ns() - start_ns) / 1000;
    const double processor_us = (ProcessorSeconds(process_) - start_seconds) * 1e6;
    return {us / static_cast<double>(count), processor_us / static_cast<double>(count)};
  }

  [[nodiscard]] int32_t process() const { return process_; }

 private:
  int32_t Submit(nrd_request* request) {
    nrd_tensor& input = request->inputs[0];
    input.datatype = NRD_TYPE_FP32;
    input.rank = static_cast<uint32_t>(what_.input_dims.size()) + 1;
    input.shape[0] = 1;
    size_t count = 1;
    for (size_t i = 0; i < what_.input_dims.size(); ++i) {
      input.shape[i + 1] = what_.input_dims[i] < 0 ? 150'528 : what_.input_dims[i];
      count *= static_cast<size_t>(input.shape[i + 1]);
    }
    input.byte_size = count * sizeof(float);
    Require(nrd_request_input_alloc(request, 0), *request->error);
    std::fill_n(static_cast<float*>(input.data), count, 1.0F);
    return nrd_request_submit(request);
  }

  const Case& what_;
  nrd_runtime* runtime_ = nullptr;
  nrd_model* model_ = nullptr;
  std::vector<nrd_request*> requests_;
  int32_t process_ = 0;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(const Case& what, int windows) {
  Loop here(what, false);
  Loop there(what, true);
  std::vector<double> us[2];
  std::vector<double> processor_us[2];
  std::vector<double> ratios;
  for (int i = 0; i < windows + 3; ++i) {
    const auto in_process = here.Run();
    const auto isolated = there.Run();
    if (i >= 3) {  // the first ones warm up
      us[0].push_back(in_process.first);
      us[1].push_back(isolated.first);
      processor_us[0].push_back(in_process.second);
      processor_us[1].push_back(isolated.second);
      ratios.push_back(in_process.first / isolated.first);
    }
  }
  std::printf("%-46s %8.2f us here, %8.2f us isolated, throughput %.2f, processors %.2f\n",
              what.name, Median(us[0]), Median(us[1]), Median(ratios),
              Median(processor_us[1]) / Median(processor_us[0]));
}

}  // namespace
}  // namespace nereid

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr,
                 "usage: isolation_bench NEREID-CHILD LIBONNXRUNTIME.so MODELS DIGITS.onnx "
                 "[windows]\n");
    return 2;
  }
  nereid::child_path = argv[1];
  nereid::library_path = argv[2];
  const std::string models = argv[3];
  const int windows = argc > 5 ? std::atoi(argv[5]) : 30;
  const nereid::Case cases[] = {
      {"identity, 16 FP32, one at a time", "identity", "", "I", "O", {16}, {16}, 1, 5000},
      {"digits, one at a time", "onnxruntime", argv[4], "image", "scores", {8, 8}, {10}, 1, 3000},
      {"digits, dynamic batching, 32 in flight",
       "onnxruntime",
       argv[4],
       "image",
       "scores",
       {8, 8},
       {10},
       32,
       20'000},
      {"ONNX identity, 150 528 FP32, one at a time",
       "onnxruntime",
       models + "/identity_fp32.onnx",
       "INPUT0",
       "OUTPUT0",
       {-1},
       {-1},
       1,
       300},
      {"ONNX identity, 150 528 FP32, 8 in flight",
       "onnxruntime",
       models + "/identity_fp32.onnx",
       "INPUT0",
       "OUTPUT0",
       {-1},
       {-1},
       8,
       300},
  };
  for (const nereid::Case& one : cases) {
    nereid::Compare(one, windows);
  }
  return 0;
}

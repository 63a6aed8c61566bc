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

#include "bench/bench_model.h"
#include "nereid/nereid.h"

namespace nereid {
namespace {

struct Case {
  const char* name;
  BenchOptions model;
  size_t in_flight;
  int runs_per_window;
};

constexpr int64_t kFreeDim = 150'528;

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
  Loop(const Case& what, const std::string& child_path)
      : what_(what), model_(Options(what, child_path)), requests_(what.in_flight) {
    for (nrd_request*& request : requests_) {
      request = model_.NewRequest(what.model, kFreeDim);
    }
    nrd_isolation_stats stats{};
    (void)nrd_model_isolation_read(model_.model(), &stats, nullptr);  // none in this process
    process_ = stats.process;
  }
  ~Loop() {
    for (nrd_request* const request : requests_) {
      nrd_request_release(request);
    }
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
        BenchModel::Finish(request, code);
      }
      if (i < count) {
        code = BenchModel::Submit(request, 1.0F);
      }
    }
    const double us = static_cast<double>(nrd_clock_now_ns() - start_ns) / 1000;
    const double processor_us = (ProcessorSeconds(process_) - start_seconds) * 1e6;
    return {us / static_cast<double>(count), processor_us / static_cast<double>(count)};
  }

 private:
  static BenchOptions Options(const Case& what, const std::string& child_path) {
    BenchOptions options = what.model;
    options.child_path = child_path;
    return options;
  }

  const Case& what_;
  BenchModel model_;
  std::vector<nrd_request*> requests_;
  int32_t process_ = 0;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(const Case& what, const std::string& child_path, int windows) {
  Loop here(what, "");
  Loop there(what, child_path);
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
  const std::string library_path = argv[2];
  const int windows = argc > 5 ? std::atoi(argv[5]) : 30;
  const nereid::BenchOptions identity = {.backend = "identity",
                                         .input = "I",
                                         .output = "O",
                                         .input_dims = {16},
                                         .output_dims = {16},
                                         .parameters = {},
                                         .child_path = ""};
  // No spinning: spinning workers would take processors from the measured code.
  nereid::BenchOptions digits = {.backend = "onnxruntime",
                                 .input = "image",
                                 .output = "scores",
                                 .input_dims = {8, 8},
                                 .output_dims = {10},
                                 .parameters = {{"model_path", argv[4]},
                                                {"onnxruntime_path", library_path},
                                                {"shared_thread_count", "1"}},
                                 .child_path = ""};
  nereid::BenchOptions large = {
      .backend = "onnxruntime",
      .input = "INPUT0",
      .output = "OUTPUT0",
      .input_dims = {-1},
      .output_dims = {-1},
      .parameters = {{"model_path", std::string(argv[3]) + "/identity_fp32.onnx"},
                     {"onnxruntime_path", library_path},
                     {"shared_thread_count", "1"}},
      .child_path = ""};
  std::vector<nereid::Case> cases = {{"identity, 16 FP32, one at a time", identity, 1, 5000},
                                     {"digits, one at a time", digits, 1, 3000},
                                     {"ONNX identity, 150 528 FP32, one at a time", large, 1, 300}};
  digits.flags = large.flags = NRD_MODEL_DYNAMIC_BATCHING;
  cases.push_back({"digits, dynamic batching, 32 in flight", digits, 32, 20'000});
  cases.push_back({"ONNX identity, 150 528 FP32, 8 in flight", large, 8, 300});
  for (const nereid::Case& one : cases) {
    nereid::Compare(one, argv[1], windows);
  }
  return 0;
}

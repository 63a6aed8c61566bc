// The bundled digits model: ONNX Runtime's Run in a bare loop, and the same session through the
// core.
//
//   digits_bench MODEL.onnx LIBONNXRUNTIME.so [windows]
//
// The two take turns in short windows, so that a machine that changes its speed slows both. Prints
// the median of each and the median of the ratios, with the middle half of them.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/bench_model.h"
#include "nereid/nereid.h"
#include "onnxruntime/ort_library.h"
#include "onnxruntime/ort_options.h"
#include "onnxruntime/ort_session.h"

namespace nereid {
namespace {

constexpr int kRunsPerWindow = 2000;

// Input and output values are made once: so only the cost of Run is measured.
class BareLoop {
 public:
  BareLoop(const std::string& model, const std::string& library_path) {
    OrtOptions options;
    options.model_path = model;
    options.library_path = library_path;
    Require(OrtLibrary::Load(library_path, 0, &library_));
    Require(OnnxSession::Open(*library_, options, &session_));
    input_value_ = NewValue(input_.data(), sizeof(input_), {1, 8, 8});
    output_value_ = NewValue(output_.data(), sizeof(output_), {1, 10});
  }
  ~BareLoop() {
    library_->api().ReleaseValue(input_value_);
    library_->api().ReleaseValue(output_value_);
  }
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  void Run() {
    const char* const input_name = "image";
    const char* const output_name = "scores";
    for (int i = 0; i < kRunsPerWindow; ++i) {
      Require(
          library_->Check(library_->api().Run(session_->handle(), nullptr, &input_name,
                                              &input_value_, 1, &output_name, 1, &output_value_),
                          "Run"));
    }
  }

 private:
  OrtValue* NewValue(float* data, size_t byte_size, std::vector<int64_t> shape) {
    OrtValue* value = nullptr;
    Require(library_->Check(library_->api().CreateTensorWithDataAsOrtValue(
                                library_->cpu_memory(), data, byte_size, shape.data(), shape.size(),
                                OrtElementType::kFloat, &value),
                            "CreateTensorWithDataAsOrtValue"));
    return value;
  }

  const OrtLibrary* library_ = nullptr;
  std::unique_ptr<const OnnxSession> session_;
  std::array<float, 64> input_{};
  std::array<float, 10> output_{};
  OrtValue* input_value_ = nullptr;
  OrtValue* output_value_ = nullptr;
};

BenchOptions Digits(const std::string& model, const std::string& library_path) {
  return {.backend = "onnxruntime",
          .input = "image",
          .output = "scores",
          .input_dims = {8, 8},
          .output_dims = {10},
          .flags = NRD_MODEL_DYNAMIC_BATCHING,
          .parameters = {{"model_path", model}, {"onnxruntime_path", library_path}},
          .child_path = ""};
}

// Whole requests: input buffer, submission, answer, and giving both back.
class CoreLoop {
 public:
  explicit CoreLoop(const BenchOptions& digits)
      : model_(digits), request_(model_.NewRequest(digits)) {}
  ~CoreLoop() { nrd_request_release(request_); }
  CoreLoop(const CoreLoop&) = delete;
  CoreLoop& operator=(const CoreLoop&) = delete;

  // A request has to wait only if the machine stalled, so that the core stopped running inline.
  void Run() {
    for (int i = 0; i < kRunsPerWindow; ++i) {
      BenchModel::Finish(request_, BenchModel::Submit(request_, 0.0F));
    }
  }

 private:
  BenchModel model_;
  nrd_request* const request_;
};

template <typename Loop>
double MicrosPerRun(Loop& loop) {
  const int64_t start_ns = nrd_clock_now_ns();
  loop.Run();
  return static_cast<double>(nrd_clock_now_ns() - start_ns) / kRunsPerWindow / 1000;
}

double Quantile(std::vector<double>& values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

void Compare(BareLoop& bare, CoreLoop& core, int windows) {
  std::vector<double> bare_us;
  std::vector<double> core_us;
  std::vector<double> ratios;
  for (int i = 0; i < windows + 5; ++i) {
    const double a = MicrosPerRun(bare);
    const double b = MicrosPerRun(core);
    if (i >= 5) {  // the first ones warm up
      bare_us.push_back(a);
      core_us.push_back(b);
      ratios.push_back(b / a);
    }
  }
  std::printf("ONNX Runtime's Run      %6.2f us\n", Quantile(bare_us, 0.5));
  std::printf("a request of the core   %6.2f us\n", Quantile(core_us, 0.5));
  std::printf("ratio                   %6.3f (%.3f to %.3f)\n", Quantile(ratios, 0.5),
              Quantile(ratios, 0.25), Quantile(ratios, 0.75));
}

}  // namespace
}  // namespace nereid

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: digits_bench MODEL.onnx LIBONNXRUNTIME.so [windows]\n");
    return 2;
  }
  nereid::BareLoop bare(argv[1], argv[2]);
  nereid::CoreLoop core(nereid::Digits(argv[1], argv[2]));
  nereid::Compare(bare, core, argc > 3 ? std::atoi(argv[3]) : 200);
  return 0;
}

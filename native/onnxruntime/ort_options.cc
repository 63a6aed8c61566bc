#include "onnxruntime/ort_options.h"

#include <charconv>
#include <limits>
#include <string_view>

namespace nereid {
namespace {

constexpr int64_t kMostThreads = 1024;
constexpr std::string_view kDimensionPrefix = "dimension.";

Status Number(std::string_view key, std::string_view text, int64_t least, int64_t most,
              int64_t* number_out) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number_out);
  if (text.empty() || error != std::errc() || stop != end || *number_out < least ||
      *number_out > most) {
    return Status::InvalidArgument("parameter '" + std::string(key) + "' is '" + std::string(text) +
                                   "', expected a number from " + std::to_string(least) + " to " +
                                   std::to_string(most));
  }
  return Status();
}

template <typename Integer>
Status ReadNumber(std::string_view key, std::string_view text, int64_t least, int64_t most,
                  Integer* target) {
  int64_t number = 0;
  NRD_RETURN_IF_ERROR(Number(key, text, least, most, &number));
  *target = static_cast<Integer>(number);
  return Status();
}

Status ReadSwitch(std::string_view key, std::string_view text, bool* target) {
  if (text == "1" || text == "true") {
    *target = true;
  } else if (text == "0" || text == "false") {
    *target = false;
  } else {
    return Status::InvalidArgument("parameter '" + std::string(key) + "' is '" + std::string(text) +
                                   "', expected 0, 1, false or true");
  }
  return Status();
}

// Reads Triton's numbers: 0 all, -1 basic, 1 extended, 2 none.
Status ReadGraphOptimization(std::string_view key, std::string_view text,
                             OrtGraphOptimization* target) {
  int64_t level = 0;
  NRD_RETURN_IF_ERROR(Number(key, text, -1, 2, &level));
  constexpr OrtGraphOptimization kLevels[] = {
      OrtGraphOptimization::kBasic, OrtGraphOptimization::kAll, OrtGraphOptimization::kExtended,
      OrtGraphOptimization::kNone};
  *target = kLevels[level + 1];
  return Status();
}

Status ReadParameter(std::string_view key, std::string_view value, OrtOptions* options) {
  if (key == "model_path") {
    options->model_path = value;
  } else if (key == "onnxruntime_path") {
    options->library_path = value;
  } else if (key == "shared_thread_count") {
    return ReadNumber(key, value, 0, kMostThreads, &options->shared_thread_count);
  } else if (key == "intra_op_thread_count") {
    return ReadNumber(key, value, 0, kMostThreads, &options->intra_op_thread_count);
  } else if (key == "inter_op_thread_count") {
    return ReadNumber(key, value, 0, kMostThreads, &options->inter_op_thread_count);
  } else if (key == "execution_mode") {
    return ReadNumber(key, value, 0, 1, &options->execution_mode);
  } else if (key == "optimization.graph.level") {
    return ReadGraphOptimization(key, value, &options->graph_optimization);
  } else if (key == "enable_mem_arena") {
    return ReadSwitch(key, value, &options->use_memory_arena);
  } else if (key == "enable_mem_pattern") {
    return ReadSwitch(key, value, &options->use_memory_pattern);
  } else if (key == "log_severity_level") {
    return ReadNumber(key, value, 0, 4, &options->log_severity_level);
  } else if (key.starts_with("session.") || key.starts_with("mlas.")) {
    options->session_entries.emplace_back(key, value);
  } else if (key.starts_with("memory.")) {
    options->run_entries.emplace_back(key, value);
  } else if (key.starts_with(kDimensionPrefix)) {
    int64_t size = 0;
    NRD_RETURN_IF_ERROR(Number(key, value, 1, std::numeric_limits<int64_t>::max(), &size));
    options->dimension_sizes.emplace_back(key.substr(kDimensionPrefix.size()), size);
  }
  return Status();
}

}  // namespace

Status ReadOrtOptions(const nrd_parameter* parameters, uint64_t count, OrtOptions* options) {
  for (uint64_t i = 0; i < count; ++i) {
    NRD_RETURN_IF_ERROR(ReadParameter(View(parameters[i].key), View(parameters[i].value), options));
  }
  if (options->model_path.empty()) {
    return Status::InvalidArgument("parameter 'model_path' is missing: the path of the .onnx file");
  }
  if (options->library_path.empty()) {
    return Status(NRD_FAILED_PRECONDITION,
                  "parameter 'onnxruntime_path' is missing: the path of ONNX Runtime's shared "
                  "library (libonnxruntime.so)");
  }
  return Status();
}

}  // namespace nereid

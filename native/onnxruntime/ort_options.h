// The parameters of a model that the onnxruntime backend understands; docs/onnxruntime.md lists
// them. Names are Triton's if it has the parameter.
#ifndef NEREID_ONNXRUNTIME_ORT_OPTIONS_H_
#define NEREID_ONNXRUNTIME_ORT_OPTIONS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "nereid/nereid.h"
#include "onnxruntime/ort_api.h"

namespace nereid {

struct OrtOptions {
  std::string model_path;
  std::string library_path;
  uint32_t shared_thread_count = 0;  // 0: one per processor
  // 0 and sequential execution: the model uses the threads that all models share.
  int intra_op_thread_count = 0;
  int inter_op_thread_count = 0;
  OrtExecutionMode execution_mode = OrtExecutionMode::kSequential;
  OrtGraphOptimization graph_optimization = OrtGraphOptimization::kAll;
  bool use_memory_arena = true;
  bool use_memory_pattern = true;
  int log_severity_level = -1;  // -1: the environment's
  std::vector<std::pair<std::string, std::string>> session_entries;
  std::vector<std::pair<std::string, std::string>> run_entries;
  std::vector<std::pair<std::string, int64_t>> dimension_sizes;  // by the dimension's name

  [[nodiscard]] bool own_threads() const {
    return intra_op_thread_count > 0 || inter_op_thread_count > 0 ||
           execution_mode == OrtExecutionMode::kParallel;
  }
};

// Reads the options. Unknown parameters are ignored; invalid values are an error.
Status ReadOrtOptions(const nrd_parameter* parameters, uint64_t count, OrtOptions* options_out);

}  // namespace nereid

#endif  // NEREID_ONNXRUNTIME_ORT_OPTIONS_H_

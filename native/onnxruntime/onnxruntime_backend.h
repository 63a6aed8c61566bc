// The built-in backend `onnxruntime`: ONNX files on the processor.
#ifndef NEREID_ONNXRUNTIME_ONNXRUNTIME_BACKEND_H_
#define NEREID_ONNXRUNTIME_ONNXRUNTIME_BACKEND_H_

#include "nereid/nereid.h"

namespace nereid {

nrd_backend OnnxRuntimeBackend();

}  // namespace nereid

#endif  // NEREID_ONNXRUNTIME_ONNXRUNTIME_BACKEND_H_

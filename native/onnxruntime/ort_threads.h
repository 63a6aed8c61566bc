// Creates worker threads of ONNX Runtime, so that they have a name: "nrd-ort".
#ifndef NEREID_ONNXRUNTIME_ORT_THREADS_H_
#define NEREID_ONNXRUNTIME_ORT_THREADS_H_

#include "onnxruntime/ort_api.h"

namespace nereid {

// `context` is not used. Null when the system has no thread left, which the library reports.
const void* CreateOrtThread(void* context, OrtWorkFn run, void* work);

// Waits for the thread and forgets it.
void JoinOrtThread(const void* thread);

}  // namespace nereid

#endif  // NEREID_ONNXRUNTIME_ORT_THREADS_H_

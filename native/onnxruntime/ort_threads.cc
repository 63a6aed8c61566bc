#include "onnxruntime/ort_threads.h"

#include <pthread.h>

#include <exception>
#include <memory>
#include <thread>

#include "onnxruntime/arithmetic_guard.h"

namespace nereid {

const void* CreateOrtThread(void* /*context*/, OrtWorkFn run, void* work) {
  // ONNX Runtime calls this, and exceptions must not pass through it.
  try {
    auto thread = std::make_unique<std::thread>([run, work] {
      const GuardedWorker guarded;
      run(work);
    });
    pthread_setname_np(thread->native_handle(), "nrd-ort");
    return thread.release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

void JoinOrtThread(const void* thread) {
  const std::unique_ptr<std::thread> owned(
      const_cast<std::thread*>(static_cast<const std::thread*>(thread)));
  owned->join();
}

}  // namespace nereid

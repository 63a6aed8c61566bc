// Memory that a session occupies, as far as ONNX Runtime counts it.
#ifndef NEREID_ONNXRUNTIME_ORT_MEMORY_H_
#define NEREID_ONNXRUNTIME_ORT_MEMORY_H_

#include <cstdint>
#include <string>

#include "onnxruntime/ort_library.h"

namespace nereid {

// Weights are in the session's arena, except those packed for the processor, which nothing counts:
// of 50 matrices of 1 MiB the arena holds one. So the weights count at least as the file's size,
// without files that it refers to.
//
// The arena keeps the memory that runs add to it after loading. A library older than 1.23, or a
// session without an arena, reports 0.
class OrtMemory {
 public:
  explicit OrtMemory(const OrtLibrary& library);
  OrtMemory(const OrtMemory&) = delete;
  OrtMemory& operator=(const OrtMemory&) = delete;

  // Called once, before the first run. The session outlives this object.
  void Open(const OrtSession* session, const std::string& model_path);

  // May be called while the session runs. Does not throw.
  void Read(uint64_t* weight_bytes_out, uint64_t* working_bytes_out) const;

 private:
  struct Counts {
    uint64_t used_bytes = 0;      // used by present objects
    uint64_t reserved_bytes = 0;  // taken from the system
  };
  [[nodiscard]] Counts ReadCounts() const;

  const OrtLibrary& library_;
  OrtOwned<OrtAllocator> allocator_;  // null: the library does not tell
  uint64_t loaded_bytes_ = 0;         // used in the arena before the first run
  uint64_t weight_bytes_ = 0;
};

// Gives freed memory back to the system; called when much was freed.
//
// ONNX Runtime takes a model's weights from malloc one by one, twice while it loads, and glibc
// keeps what was freed of pieces below 32 MiB. Measured with 50 matrices of 1 MiB, in an otherwise
// empty process: 130 MiB resident after the load and still after the unload; with this after both,
// 78 and 30 MiB, as before the load. It takes 2 to 10 ms then, below 0.1 ms if there is nothing to
// give back; other threads wait only if they use the heap.
void GiveBackFreedMemory();

}  // namespace nereid

#endif  // NEREID_ONNXRUNTIME_ORT_MEMORY_H_

// The memory that one instance of an isolated model and its child share.
#ifndef NEREID_ISOLATION_SHARED_CHANNEL_H_
#define NEREID_ISOLATION_SHARED_CHANNEL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "isolation/ring.h"

namespace nereid {

// The number of a batch's requests whose cancellation a child can see; others run on.
inline constexpr uint32_t kCancelled = 4096;

struct ChannelControl {
  RingMemory to_child;
  RingMemory to_parent;
  char message[1024];  // message of the last kEnd
  // A bit for each request of the batch.
  std::atomic<uint64_t> cancelled[kCancelled / 64];

  void Cancel(uint32_t request) {
    if (request < kCancelled) {
      cancelled[request / 64].fetch_or(uint64_t{1} << (request % 64), std::memory_order_relaxed);
    }
  }
  [[nodiscard]] bool IsCancelled(uint32_t request) const {
    return request < kCancelled &&
           (cancelled[request / 64].load(std::memory_order_relaxed) >> (request % 64) & 1) != 0;
  }
  void ForgetCancelled(uint32_t request_count) {
    for (uint32_t i = 0; i < kCancelled && i < request_count; i += 64) {
      cancelled[i / 64].store(0, std::memory_order_relaxed);
    }
  }
};

// A memfd with control, inputs and outputs, one behind the other. Its size is sealed, so that
// neither side can remove pages that the other reads; pages are allocated at their first use. Each
// side maps the other's area read-only, except for the control. The mapping ends with the object,
// the memory with the last mapping.
class SharedChannel {
 public:
  // `area_bytes`, a multiple of 4 096, is the size of the inputs and that of the outputs.
  static Status Create(uint64_t area_bytes, std::unique_ptr<SharedChannel>* channel_out);
  // Called in the child; takes the descriptor over.
  static Status Map(int descriptor, uint64_t area_bytes,
                    std::unique_ptr<SharedChannel>* channel_out);
  ~SharedChannel();
  SharedChannel(const SharedChannel&) = delete;
  SharedChannel& operator=(const SharedChannel&) = delete;

  [[nodiscard]] ChannelControl* control() const { return static_cast<ChannelControl*>(control_); }
  [[nodiscard]] std::byte* inputs() const { return static_cast<std::byte*>(inputs_); }
  [[nodiscard]] std::byte* outputs() const { return static_cast<std::byte*>(outputs_); }
  [[nodiscard]] uint64_t area_bytes() const { return area_bytes_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  // The next offset at which a tensor may begin.
  static uint64_t Aligned(uint64_t offset) { return (offset + 63) & ~uint64_t{63}; }

 private:
  SharedChannel(int descriptor, uint64_t area_bytes)
      : descriptor_(descriptor), area_bytes_(area_bytes) {}
  Status MapAll(int inputs_protection, int outputs_protection);

  const int descriptor_;
  const uint64_t area_bytes_;
  void* control_ = nullptr;
  void* inputs_ = nullptr;
  void* outputs_ = nullptr;
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_SHARED_CHANNEL_H_

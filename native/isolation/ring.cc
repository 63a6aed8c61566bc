#include "isolation/ring.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <ctime>
#include <thread>

#include "base/clock.h"
#include "base/pause.h"

namespace nereid {
namespace {

// Spinning for this long costs less than sleeping and being woken, which takes 5 us, and 20 to 40
// in a virtual machine. After a short wait, sleep included, the next one is probably short, too.
constexpr int64_t kSpinNs = 5'000;
constexpr int64_t kSpinAfterShortNs = 20'000;
constexpr int64_t kShortNs = 60'000;

// False with one processor, where no other thread can answer while this one spins.
bool MaySpin() {
  static const bool may_spin = std::thread::hardware_concurrency() > 1;
  return may_spin;
}

void SleepOn(std::atomic<uint32_t>* word, uint32_t expected, int64_t for_ns) {
  const timespec timeout{.tv_sec = for_ns / 1'000'000'000, .tv_nsec = for_ns % 1'000'000'000};
  syscall(SYS_futex, word, FUTEX_WAIT, expected, &timeout, nullptr, 0);
}

void WakeOn(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

bool RingWriter::Put(const Record& record) {
  const uint32_t unread = written_ - ring_->read.load(std::memory_order_acquire);
  if (unread >= kRingRecords) {
    return false;
  }
  std::memcpy(&ring_->records[written_ % kRingRecords], &record, sizeof(Record));
  ++written_;
  return true;
}

void RingWriter::Publish() {
  ring_->written.store(written_, std::memory_order_seq_cst);
  if (ring_->reader_sleeps.load(std::memory_order_seq_cst) != 0) {
    ring_->reader_sleeps.store(0, std::memory_order_relaxed);
    WakeOn(&ring_->written);
  }
}

RingReader::Taken RingReader::Take(Record* record_out) {
  const uint32_t unread = ring_->written.load(std::memory_order_acquire) - read_;
  if (unread == 0) {
    return Taken::kNothing;
  }
  if (unread > kRingRecords) {
    return Taken::kBroken;
  }
  std::memcpy(record_out, &ring_->records[read_ % kRingRecords], sizeof(Record));
  // Keeps the compiler from reading the shared memory again instead of the copy.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  asm volatile("" : : "r"(record_out) : "memory");
  ++read_;
  ring_->read.store(read_, std::memory_order_release);
  return Taken::kRecord;
}

void RingReader::Wait(int64_t until_ns) {
  const int64_t start_ns = MonotonicNowNs();
  const int64_t spin_until_ns =
      std::min(until_ns, start_ns + (was_short_ ? kSpinAfterShortNs : kSpinNs));
  if (!MaySpin() || !Spin(spin_until_ns)) {
    Sleep(until_ns);
  }
  was_short_ = MonotonicNowNs() - start_ns < kShortNs;
}

bool RingReader::Spin(int64_t until_ns) const {
  do {
    for (int i = 0; i < 16; ++i) {
      if (!IsEmpty()) {
        return true;
      }
      Pause();
    }
  } while (MonotonicNowNs() < until_ns);
  return false;
}

void RingReader::Sleep(int64_t until_ns) {
  ring_->reader_sleeps.store(1, std::memory_order_seq_cst);
  const int64_t now_ns = MonotonicNowNs();
  if (now_ns < until_ns && ring_->written.load(std::memory_order_seq_cst) == read_) {
    SleepOn(&ring_->written, read_, until_ns - now_ns);
  }
  ring_->reader_sleeps.store(0, std::memory_order_relaxed);
}

void RingReader::Wake(RingMemory* ring) { WakeOn(&ring->written); }

}  // namespace nereid

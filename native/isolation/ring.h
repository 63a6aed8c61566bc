// Rings of small records in memory that two processes share, and who sleeps until something comes.
#ifndef NEREID_ISOLATION_RING_H_
#define NEREID_ISOLATION_RING_H_

#include <atomic>
#include <cstdint>

#include "nereid/nereid.h"

namespace nereid {

enum class RecordKind : uint32_t {
  kNone = 0,
  // Parent to child. A batch is its inputs, what is wanted of its outputs, the same for each of its
  // requests where the backend asks for them, and kRun.
  kInput = 1,    // index, request, datatype, rank, shape, and where it lies in the inputs
  kWanted = 2,   // index of an output, request
  kRequest = 3,  // request, and where a description of it lies in the inputs
  kRun = 4,      // number: rows of the batch
  // Child to parent. An answer is outputs, and kEnd. Behind kRespond another answer to the request
  // may follow.
  kOutput = 5,         // index, request, datatype, rank, shape, and where it lies in the outputs
  kForward = 6,        // index of an output, number: the input that it is
  kComputed = 7,       // number, other: nrd_batch_computed
  kValue = 8,          // request, and where a value of its response lies in the outputs
  kRespond = 9,        // request
  kRespondError = 10,  // request, datatype: the status, and where the message lies in the outputs
  kFail = 11,          // the same
  kReschedule = 12,    // request
  kEnd = 13            // datatype: the status, byte_size: of the message behind the rings
};
inline constexpr uint32_t kRecordKinds = 14;

// One process tells the other this. Two lines of the cache.
struct Record {
  RecordKind kind;
  uint32_t index;
  int32_t datatype;
  uint32_t rank;
  uint64_t offset;
  uint64_t byte_size;
  int64_t shape[NRD_MAX_RANK];
  int64_t number;
  int64_t other;
  uint32_t request;  // its place in the batch, counted from 1; 0: the batch itself
  uint32_t reserved[3];
};
static_assert(sizeof(Record) == 128);

inline constexpr uint32_t kRingRecords = 128;

// Most bytes of a value or a message, and of all values of a response.
inline constexpr uint64_t kMaxTextBytes = uint64_t{1} << 20;
inline constexpr uint64_t kMaxValueBytes = uint64_t{16} << 20;

// Both counters only grow, and wrap around.
struct RingMemory {
  alignas(64) std::atomic<uint32_t> written;        // by the writer; what the reader sleeps on
  alignas(64) std::atomic<uint32_t> read;           // by the reader
  alignas(64) std::atomic<uint32_t> reader_sleeps;  // 1: the writer has to wake it
  alignas(64) Record records[kRingRecords];
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

// One thread at a time writes. The place in the ring is the writer's own: what stands in the memory
// is what it tells, never what it believes.
class RingWriter {
 public:
  explicit RingWriter(RingMemory* ring) : ring_(ring) {}

  // False: there is no room now, or the reader says that it read what was never written.
  bool Put(const Record& record);
  // Shows the reader what was put, and wakes it.
  void Publish();
  // The number of records that were put; WasRead tells whether the reader took so many.
  [[nodiscard]] uint32_t written() const { return written_; }
  [[nodiscard]] bool WasRead(uint32_t count) const {
    return static_cast<int32_t>(ring_->read.load(std::memory_order_acquire) - count) >= 0;
  }

 private:
  RingMemory* const ring_;
  uint32_t written_ = 0;
};

// One thread at a time reads. It gets copies, which nobody changes any more.
class RingReader {
 public:
  enum class Taken {
    kRecord,
    kNothing,
    kBroken  // the writer says that there is more than the ring holds
  };

  explicit RingReader(RingMemory* ring) : ring_(ring) {}

  Taken Take(Record* record_out);
  // Looks for a moment, then sleeps, until there is something to take, or until `until_ns`, or for
  // no reason.
  void Wait(int64_t until_ns);
  // Has a reader that sleeps on this ring look again, from any thread.
  static void Wake(RingMemory* ring);

 private:
  [[nodiscard]] bool IsEmpty() const {
    return ring_->written.load(std::memory_order_acquire) == read_;
  }

  // False: it is `until_ns`, and there is nothing.
  bool Spin(int64_t until_ns) const;
  void Sleep(int64_t until_ns);

  RingMemory* const ring_;
  uint32_t read_ = 0;
  bool was_short_ = false;  // the last wait
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_RING_H_

// Rings of small records in memory that two processes share, with waiting for records.
#ifndef NEREID_ISOLATION_RING_H_
#define NEREID_ISOLATION_RING_H_

#include <atomic>
#include <cstdint>

#include "nereid/nereid.h"

namespace nereid {

enum class RecordKind : uint32_t {
  kNone = 0,
  // Parent to child. A batch is its inputs, its wanted outputs, both for each request if the
  // backend asks for requests, and kRun.
  kInput = 1,    // index, request, datatype, rank, shape, and place in the inputs
  kWanted = 2,   // index of an output, request
  kRequest = 3,  // request, and place of its description in the inputs
  kRun = 4,      // number: rows of the batch
  // Child to parent. An answer is outputs, and kEnd. Behind kRespond another answer to the request
  // may follow.
  kOutput = 5,         // index, request, datatype, rank, shape, and place in the outputs
  kForward = 6,        // index of an output, number: the input that it equals
  kComputed = 7,       // number, other: nrd_batch_computed
  kValue = 8,          // request, and place of a response's value in the outputs
  kRespond = 9,        // request
  kRespondError = 10,  // request, datatype: the status, and place of the message in the outputs
  kFail = 11,          // the same
  kReschedule = 12,    // request
  kEnd = 13            // datatype: the status, byte_size: length of the message in the control area
};
inline constexpr uint32_t kRecordKinds = 14;

// A record from one process to the other, in two cache lines.
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
  uint32_t request;  // a request's place in the batch, counted from 1; 0: the batch itself
  uint32_t reserved[3];
};
static_assert(sizeof(Record) == 128);

inline constexpr uint32_t kRingRecords = 128;

// The most bytes of a value or message, and of all values of a response.
inline constexpr uint64_t kMaxTextBytes = uint64_t{1} << 20;
inline constexpr uint64_t kMaxValueBytes = uint64_t{16} << 20;

// Both counters only grow, and wrap around.
struct RingMemory {
  alignas(64) std::atomic<uint32_t> written;        // the writer's counter; the reader sleeps on it
  alignas(64) std::atomic<uint32_t> read;           // the reader's counter
  alignas(64) std::atomic<uint32_t> reader_sleeps;  // 1: the writer has to wake the reader
  alignas(64) Record records[kRingRecords];
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

// One thread at a time writes. The writer keeps its own position, and only writes it to the shared
// memory, never reads it from there.
class RingWriter {
 public:
  explicit RingWriter(RingMemory* ring) : ring_(ring) {}

  // Adds a record; false: there is no room now, or the reader's counter is impossible.
  bool Put(const Record& record);
  // Makes the added records visible to the reader, and wakes it.
  void Publish();
  // The number of added records; WasRead tells whether the reader took so many.
  [[nodiscard]] uint32_t written() const { return written_; }
  [[nodiscard]] bool WasRead(uint32_t count) const {
    return static_cast<int32_t>(ring_->read.load(std::memory_order_acquire) - count) >= 0;
  }

 private:
  RingMemory* const ring_;
  uint32_t written_ = 0;
};

// One thread at a time reads. It gets copies, which the other process cannot change.
class RingReader {
 public:
  enum class Taken {
    kRecord,
    kNothing,
    kBroken  // the writer's counter exceeds the ring's size
  };

  explicit RingReader(RingMemory* ring) : ring_(ring) {}

  Taken Take(Record* record_out);
  // Spins for a moment, then sleeps, until there is a record, or until `until_ns`; may return
  // early.
  void Wait(int64_t until_ns);
  // Wakes a reader that sleeps on this ring; any thread may call.
  static void Wake(RingMemory* ring);

 private:
  [[nodiscard]] bool IsEmpty() const {
    return ring_->written.load(std::memory_order_acquire) == read_;
  }

  // False: `until_ns` has come, and there is no record.
  bool Spin(int64_t until_ns) const;
  void Sleep(int64_t until_ns);

  RingMemory* const ring_;
  uint32_t read_ = 0;
  bool was_short_ = false;  // the last wait was short
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_RING_H_

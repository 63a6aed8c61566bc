#ifndef NEREID_ISOLATION_BATCH_RECORDS_H_
#define NEREID_ISOLATION_BATCH_RECORDS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "isolation/ring.h"
#include "isolation/shared_channel.h"
#include "nereid/nereid.h"

namespace nereid {

// Encodes batches as records of the ring. Used by one thread at a time, for one batch after
// another.
class BatchRecords {
 public:
  // Copies the batch into the channel's inputs, and makes the records with its places.
  // `with_requests`: the backend answers each request by itself.
  Status Write(const nrd_batch& batch, bool with_requests, const SharedChannel& channel);
  [[nodiscard]] const std::vector<Record>& all() const { return records_; }

 private:
  Status AddTensors(uint32_t request, const nrd_tensor* inputs, uint32_t input_count,
                    const nrd_tensor* outputs, uint32_t output_count);
  Status AddRequest(uint32_t request, const nrd_request& record);
  Status AddBytes(const void* data, uint64_t byte_size, Record record);

  void FindParts(const nrd_batch& batch);

  const SharedChannel* channel_ = nullptr;
  std::vector<Record> records_;
  uint64_t used_bytes_ = 0;  // bytes used in the inputs
  // The offset of the next request's part for each input that the core has gathered.
  std::vector<uint64_t> parts_;
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_BATCH_RECORDS_H_

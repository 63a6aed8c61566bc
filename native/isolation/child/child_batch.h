// A batch in a child: what its backend executes, and what it makes.
#ifndef NEREID_ISOLATION_CHILD_CHILD_BATCH_H_
#define NEREID_ISOLATION_CHILD_CHILD_BATCH_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "isolation/ring.h"
#include "isolation/shared_channel.h"
#include "nereid/nereid.h"

namespace nereid {

// The other side of nrd_batch_output and the like in a child, which child_batch.cc defines in place
// of the core's. Used by the thread of its instance; tensors lie in the channel.
class ChildBatch {
 public:
  ChildBatch(const SharedChannel& channel, uint32_t input_count, uint32_t output_count);

  // The batch that a backend named.
  static ChildBatch* From(nrd_batch* batch) { return reinterpret_cast<ChildBatch*>(batch); }
  nrd_batch* batch() { return &batch_; }

  void Begin();
  // Takes in what the parent says; false: it says what there is not.
  bool Add(const Record& record);
  void SetRows(int64_t rows) { batch_.batch_size = rows; }

  Status Output(uint32_t index, const nrd_tensor& wanted, void** data_out);
  Status Forward(uint32_t index, uint32_t input_index);
  void Computed(int64_t start_ns, int64_t end_ns);
  // Everything that was made, in the words of the answer.
  [[nodiscard]] const std::vector<Record>& made() const { return made_; }

 private:
  Status CheckWanted(uint32_t index);

  nrd_batch batch_{};  // first: the ABI's nrd_batch* is this object
  const SharedChannel& channel_;
  std::vector<nrd_tensor> inputs_;
  std::vector<nrd_tensor> outputs_;
  std::vector<Record> made_;
  uint64_t used_bytes_ = 0;  // of the outputs
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_CHILD_BATCH_H_

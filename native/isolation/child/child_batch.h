// A batch in a child, with the inputs for its backend and the outputs of that.
#ifndef NEREID_ISOLATION_CHILD_CHILD_BATCH_H_
#define NEREID_ISOLATION_CHILD_CHILD_BATCH_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "isolation/child/child_request.h"
#include "isolation/child/output_area.h"
#include "isolation/ring.h"
#include "isolation/shared_channel.h"
#include "nereid/nereid.h"

namespace nereid {

// Implements nrd_batch_output and similar functions of batch_functions.cc in a child. The
// instance's thread begins and ends a batch; in between, any thread of the backend may call.
// Tensors are in the channel's memory.
class ChildBatch {
 public:
  ChildBatch(const SharedChannel& channel, const nrd_model_options& options);

  // The batch that a backend named.
  static ChildBatch* From(nrd_batch* batch) { return reinterpret_cast<ChildBatch*>(batch); }
  nrd_batch* batch() { return &batch_; }

  void Begin();
  // Adds a record of the parent; false: it names things that do not exist.
  bool Add(const Record& record);
  // Completes the batch, after its last record.
  void Complete(int64_t rows);

  Status Output(uint32_t index, const nrd_tensor& wanted, void** data_out);
  Status Forward(uint32_t index, uint32_t input_index);
  void Computed(int64_t start_ns, int64_t end_ns);

  Status RequestOutput(uint32_t request, uint32_t index, const nrd_tensor& wanted, void** data_out);
  Status AddValue(uint32_t request, const nrd_value& value);
  Status Respond(uint32_t request);
  Status RespondError(uint32_t request, int32_t code, std::string_view message);
  Status Reschedule(uint32_t request);
  void Fail(uint32_t request, int32_t code, std::string_view message);
  // Sets the final status of a batch for which the backend returned NRD_PENDING.
  void Finish(int32_t code, std::string_view message);

  void AwaitFinish(int32_t* code_out, std::string* message_out);
  // Sends the parent all outputs that were not sent yet, and the end.
  void End(int32_t code, std::string_view message);

 private:
  // The number of records sent by then, and of the places in the outputs that they use.
  struct Sent {
    uint32_t written;
    uint32_t places;
  };

  bool AddInput(const Record& record, std::vector<nrd_tensor>* inputs);
  [[nodiscard]] Status CheckWanted(uint32_t index) const NRD_REQUIRES(mutex_);
  Status Find(uint32_t request, ChildRequest** request_out) NRD_REQUIRES(mutex_);
  Status Place(uint64_t byte_size, Record* record) NRD_REQUIRES(mutex_);
  Status PlaceOutput(const nrd_tensor& wanted, Record record, std::vector<Record>* made,
                     nrd_tensor* output) NRD_REQUIRES(mutex_);
  Status PlaceText(std::string_view text, Record* record) NRD_REQUIRES(mutex_);
  void Send(ChildRequest* request, const Record& last) NRD_REQUIRES(mutex_);
  void Put(const Record& record) NRD_REQUIRES(mutex_);

  nrd_batch batch_{};  // first: the ABI's nrd_batch* is this object
  const SharedChannel& channel_;
  const bool decoupled_;
  const bool iterative_;
  std::vector<nrd_tensor> inputs_;
  std::vector<nrd_tensor> outputs_;
  std::vector<std::unique_ptr<ChildRequest>> requests_;  // used again
  std::vector<const nrd_request*> records_;              // the requests' records of this batch

  Mutex mutex_;
  Condition finished_;
  RingWriter to_parent_ NRD_GUARDED_BY(mutex_);
  OutputArea area_ NRD_GUARDED_BY(mutex_);
  std::vector<Record> made_ NRD_GUARDED_BY(mutex_);  // records of the whole batch's outputs
  std::deque<Sent> sent_ NRD_GUARDED_BY(mutex_);
  bool is_finished_ NRD_GUARDED_BY(mutex_) = false;
  int32_t code_ NRD_GUARDED_BY(mutex_) = NRD_OK;
  std::string message_ NRD_GUARDED_BY(mutex_);
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_CHILD_BATCH_H_

#ifndef NEREID_CORE_BATCH_BATCH_OUTPUTS_H_
#define NEREID_CORE_BATCH_BATCH_OUTPUTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/tensor.h"
#include "core/config/model_config.h"
#include "core/request/decoupled_responses.h"
#include "core/request/output_maker.h"
#include "core/request/request.h"
#include "memory/buffer_pool.h"

namespace nereid {

// The outputs of a batch, and their distribution to its requests. Belongs to the BatchExecution of
// one instance. A request's outputs are slices of the batch's, whose memory lives until the last
// slice is dropped, or tensors that the backend made for it alone. They have the clients' shape.
// Hidden outputs follow the others.
class BatchOutputs {
 public:
  // `account`: counts the bytes. All outlive this.
  BatchOutputs(const ModelConfig& config, BufferPool& pool, PoolAccount* account);

  // Begins a batch: no output is made, and only those that every batch needs are selected.
  void Begin() {
    for (nrd_tensor& output : whole_) {
      output = nrd_tensor{};
    }
    if (config_.core_gathers) {
      for (size_t i = config_.visible_outputs; i < whole_.size(); ++i) {
        whole_[i].flags = NRD_TENSOR_SELECTED;
      }
    }
  }
  // Selects the outputs that the request wants as well.
  void Select(const Request& request) {
    for (uint32_t i = 0; i < request.record.output_count; ++i) {
      whole_[i].flags |= request.record.outputs[i].flags & NRD_TENSOR_SELECTED;
    }
  }
  // The rows that an output of the whole batch must have.
  [[nodiscard]] int64_t WholeRows(uint32_t index, int64_t rows) const {
    const bool any = config_.scatters && config_.outputs[index].scattered_by;
    return any ? OutputMaker::kAnyShape : rows;
  }

  // Points the outputs of the requests at their rows of the batch's, and fails those that lack one.
  void HandOut(std::span<Request* const> requests, int64_t rows);
  // Checks the outputs of a request for which the backend made each by itself.
  void CheckOwn(Request& request) const;
  // Drops outputs that the request did not ask for, and all if it failed.
  static void Finish(Request& request) {
    nrd_request& record = request.record;
    for (uint32_t i = 0; i < record.output_count; ++i) {
      if (record.status != NRD_OK || !IsSelected(record.outputs[i])) {
        DropTensors(&record.outputs[i], 1);
      }
    }
  }
  void Drop() { DropTensors(whole_.data(), static_cast<uint32_t>(whole_.size())); }

  // The outputs of the whole batch.
  [[nodiscard]] std::span<nrd_tensor> whole() { return whole_; }
  [[nodiscard]] const OutputMaker& maker() const { return maker_; }
  [[nodiscard]] const DecoupledResponses& responses() const { return responses_; }

 private:
  // The end of the rows of a batch's output that were handed out.
  struct End {
    int64_t row = 0;
    uint64_t byte_offset = 0;
  };

  Status Slice(Request& request, uint32_t index, int64_t rows, End* end);
  Status BytesOfRows(uint32_t index, uint64_t byte_offset, int64_t count, int64_t rows,
                     uint64_t* bytes_out) const;

  const ModelConfig& config_;
  const OutputMaker maker_;
  const DecoupledResponses responses_;
  std::vector<nrd_tensor> whole_;
};

}  // namespace nereid

#endif  // NEREID_CORE_BATCH_BATCH_OUTPUTS_H_

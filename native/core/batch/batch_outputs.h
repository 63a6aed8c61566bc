// The outputs of a batch, and what of them each request gets.
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

// Belongs to the BatchExecution of one instance. The outputs of a request are slices of those of
// the batch, which live until the last of them is dropped, or what the backend made for it alone.
// They have the clients' shape. Outputs that requests do not have are behind the others.
class BatchOutputs {
 public:
  // `account`: whom the bytes are counted for. All outlive this.
  BatchOutputs(const ModelConfig& config, BufferPool& pool, PoolAccount* account);

  // None is made, and only what every batch needs is selected.
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
  // The same for a request whose backend made all of its outputs by themselves.
  void CheckOwn(Request& request) const;
  // A request keeps what it asked for, and nothing when it failed.
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
  Status Slice(Request& request, uint32_t index, bool empty_rows, int64_t rows,
               uint64_t* byte_offset);
  Status BytesOfRows(uint32_t index, uint64_t byte_offset, int64_t count, int64_t rows,
                     uint64_t* bytes_out) const;

  const ModelConfig& config_;
  const OutputMaker maker_;
  const DecoupledResponses responses_;
  std::vector<nrd_tensor> whole_;
};

}  // namespace nereid

#endif  // NEREID_CORE_BATCH_BATCH_OUTPUTS_H_

// Makes the outputs that a backend asks for, and checks their descriptions.
#ifndef NEREID_CORE_REQUEST_OUTPUT_MAKER_H_
#define NEREID_CORE_REQUEST_OUTPUT_MAKER_H_

#include <cstdint>
#include <string>

#include "base/status.h"
#include "core/config/model_config.h"
#include "memory/buffer_pool.h"
#include "nereid/nereid.h"

namespace nereid {

// Has only references to objects that outlive it: several threads may call it, each for another
// output. An output in the pool holds the reference to its buffer, until DropTensors.
class OutputMaker {
 public:
  // `account`: counts the bytes.
  OutputMaker(const ModelConfig& config, BufferPool& pool, PoolAccount* account)
      : config_(config), pool_(pool), account_(account) {}

  // In place of rows: any shape, for a batch's output that is scattered, see scattered_outputs.
  static constexpr int64_t kAnyShape = -1;

  // Gives `output` the backend's description `wanted`, without memory yet, and releases its old
  // buffer. `index` is the output's in the configuration, `rows` the batch dimension if the model
  // has one. The backend gives its own shape; the output gets the clients'.
  Status Describe(uint32_t index, int64_t rows, const nrd_tensor& wanted, nrd_tensor* output) const;

  // Describe, with memory of the pool.
  Status Allocate(uint32_t index, int64_t rows, const nrd_tensor& wanted, nrd_tensor* output,
                  void** data_out) const;

  // Describe, in the place on a device that the caller named in the output's shape: see
  // NRD_TENSOR_DEVICE.
  Status Place(uint32_t index, int64_t rows, const nrd_tensor& wanted, nrd_tensor* output,
               void** data_out) const;

  // Checks that a batch's output has its rows, without which it cannot be divided among requests.
  Status CheckRows(uint32_t index, const nrd_tensor& whole, int64_t rows) const;

  // Checks BYTES that a backend wrote, which are as untrusted as a client's.
  Status CheckBytes(uint32_t index, const nrd_tensor& tensor) const;

  // Returns "output 'X' of model 'm'".
  [[nodiscard]] std::string Name(uint32_t index) const;
  // The failure for an output that the backend did not make; none if answers may lack it.
  [[nodiscard]] Status Missing(uint32_t index) const;

 private:
  // True if the backend may leave the output out, and may choose its datatype and shape.
  [[nodiscard]] bool IsFree(uint32_t index) const;
  // The failure for an output that differs from the configuration; none if it is free.
  Status CheckUndeclared(uint32_t index, int64_t rows, bool fits, const nrd_tensor& wanted) const;

  const ModelConfig& config_;
  BufferPool& pool_;
  PoolAccount* const account_;
};

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_OUTPUT_MAKER_H_

// Makes the outputs that a backend asks for, and checks what it says of them.
#ifndef NEREID_CORE_REQUEST_OUTPUT_MAKER_H_
#define NEREID_CORE_REQUEST_OUTPUT_MAKER_H_

#include <cstdint>
#include <string>

#include "base/status.h"
#include "core/config/model_config.h"
#include "memory/buffer_pool.h"
#include "nereid/nereid.h"

namespace nereid {

// Has no state beside what it was given, all of which outlives it: several threads may call it,
// each for an output of its own. An output of the pool holds the reference to its buffer, which
// goes with DropTensors.
class OutputMaker {
 public:
  // `account`: whom the bytes are counted for.
  OutputMaker(const ModelConfig& config, BufferPool& pool, PoolAccount* account)
      : config_(config), pool_(pool), account_(account) {}

  // In place of rows: an output of the whole batch whose shape says nothing, see scattered_outputs.
  static constexpr int64_t kAnyShape = -1;

  // Makes `output` what the backend says it is, `wanted`, still without memory; a buffer that it
  // had is released. `index` is that of the output in the configuration, `rows` the batch dimension
  // where the model has one. The backend gives its own shape, the output takes the clients'.
  Status Describe(uint32_t index, int64_t rows, const nrd_tensor& wanted, nrd_tensor* output) const;

  // Describe, with memory of the pool.
  Status Allocate(uint32_t index, int64_t rows, const nrd_tensor& wanted, nrd_tensor* output,
                  void** data_out) const;

  // Describe, in the place on a device that the caller named in the output's shape: see
  // NRD_TENSOR_DEVICE.
  Status Place(uint32_t index, int64_t rows, const nrd_tensor& wanted, nrd_tensor* output,
               void** data_out) const;

  // BYTES that a backend writes are as untrusted as those that a client sends.
  Status CheckBytes(uint32_t index, const nrd_tensor& tensor) const;

  // "output 'X' of model 'm'".
  [[nodiscard]] std::string Name(uint32_t index) const;
  // An output that the backend did not make: a failure, unless answers may lack it.
  [[nodiscard]] Status Missing(uint32_t index) const;

 private:
  // Whether the backend may leave it out, and may choose its datatype and shape.
  [[nodiscard]] bool IsFree(uint32_t index) const;
  // An output that is not as the configuration declares it: a failure, unless it is free.
  Status CheckUndeclared(uint32_t index, int64_t rows, bool fits, const nrd_tensor& wanted) const;

  const ModelConfig& config_;
  BufferPool& pool_;
  PoolAccount* const account_;
};

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_OUTPUT_MAKER_H_

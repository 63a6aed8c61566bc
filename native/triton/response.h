// A response that a plug-in makes: its outputs and parameters.
#ifndef NEREID_TRITON_RESPONSE_H_
#define NEREID_TRITON_RESPONSE_H_

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "base/response_values.h"
#include "base/status.h"
#include "triton/buffer_attributes.h"
#include "triton/core/tritonbackend.h"
#include "triton/errors.h"
#include "triton/model_tensors.h"

namespace nereid::triton {

class Request;
class Response;

class Output : public Handle {
 public:
  static constexpr Kind kKind = Kind::kOutput;

  ~Output() { End(); }
  void Begin(Response& response, uint32_t index, const TensorInfo& info, const nrd_tensor& tensor,
             uint64_t needed);
  void End();

  // Gives memory of `byte_size` bytes, once.
  Status Buffer(uint64_t byte_size, void** out);

  [[nodiscard]] const std::string& name() const { return info_->name; }
  [[nodiscard]] uint32_t index() const { return index_; }
  [[nodiscard]] const nrd_tensor& tensor() const { return tensor_; }
  // Bytes that its shape needs; 0 for BYTES, whose size depends on the elements.
  [[nodiscard]] uint64_t needed() const { return needed_; }
  [[nodiscard]] BufferAttributes& attributes() { return attributes_; }
  // The plug-in writes to `memory`: the core's, or a buffer of its own that is copied.
  void WriteInto(void* memory) { tensor_.data = memory; }
  Status WriteIntoOwn(uint64_t byte_size);
  [[nodiscard]] bool has_own() const { return tensor_.slab != nullptr; }

 private:
  Response* response_ = nullptr;
  uint32_t index_ = 0;
  const TensorInfo* info_ = nullptr;
  nrd_tensor tensor_{};
  uint64_t needed_ = 0;
  BufferAttributes attributes_;
};

// A response of a plug-in. Belongs to a request, which reuses it.
class Response : public Handle {
 public:
  static constexpr Kind kKind = Kind::kResponse;

  explicit Response(Request& request) : request_(request) {}

  void Begin(Owner& owner) { Open(kKind, &owner); }
  void End();
  // True for the one call that ends it; false: another thread was faster.
  bool TakeFromPlugin() { return Close(); }

  [[nodiscard]] Request& request() const { return request_; }

  Status AddOutput(const char* name, TRITONSERVER_DataType datatype, const int64_t* shape,
                   uint32_t rank, Output** out);
  [[nodiscard]] uint32_t output_count() const { return output_count_; }
  [[nodiscard]] Output& output(uint32_t index) { return outputs_[index]; }

  void Add(const nrd_value& parameter) { parameters_.Add(parameter); }
  [[nodiscard]] std::span<const nrd_value> parameters() const {
    return {parameters_.data(), parameters_.size()};
  }

 private:
  Request& request_;
  std::deque<Output> outputs_;
  uint32_t output_count_ = 0;
  ResponseValues parameters_;
};

// Makes responses for a request that has been released.
class ResponseFactory : public Handle {
 public:
  static constexpr Kind kKind = Kind::kResponseFactory;

  ResponseFactory(Request& request, Owner& owner) : request_(request) { Open(kKind, &owner); }
  [[nodiscard]] Request& request() const { return request_; }

 private:
  Request& request_;
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_RESPONSE_H_

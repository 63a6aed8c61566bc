#ifndef NEREID_TRITON_SEQUENCE_STATE_H_
#define NEREID_TRITON_SEQUENCE_STATE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "triton/buffer_attributes.h"
#include "triton/handle.h"
#include "triton/model_tensors.h"

namespace nereid::triton {

// A sequence's new state that a backend makes: behind TRITONBACKEND_State. Belongs to a request.
// The backend's bytes stay here until the batch ends, since they count only if the backend updates
// the state, and the core takes the states of all requests at once.
class SequenceState : public Handle {
 public:
  static constexpr Kind kKind = Kind::kState;

  SequenceState() = default;
  ~SequenceState() { End(); }

  // `place` is the old state if the new one may overwrite it, otherwise without `data`.
  void Begin(int32_t datatype, const int64_t* shape, uint32_t rank, bool pinned,
             const nrd_tensor& place);
  void End();

  // Memory for `byte_size` bytes: the same memory again for the same size.
  Status Buffer(uint64_t byte_size, void** out);
  Status Update();

  [[nodiscard]] bool updated() const { return updated_; }
  [[nodiscard]] const nrd_tensor& tensor() const { return tensor_; }
  [[nodiscard]] BufferAttributes& attributes() { return attributes_; }

 private:
  nrd_tensor place_{};
  nrd_tensor tensor_{};  // its slab is this object's; without one it uses the old state's place
  bool updated_ = false;
  BufferAttributes attributes_;
};

class Request;

// Gives the core the new states of the requests' sequences; a state that was not updated stays as
// it was.
Status WriteStates(nrd_batch* batch, const ModelTensors& tensors,
                   std::span<Request* const> requests);

}  // namespace nereid::triton

#endif  // NEREID_TRITON_SEQUENCE_STATE_H_

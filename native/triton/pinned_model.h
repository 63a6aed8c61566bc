// A model that the control plane found by name; it stays loaded while this holds it.
#ifndef NEREID_TRITON_PINNED_MODEL_H_
#define NEREID_TRITON_PINNED_MODEL_H_

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "triton/nereid_triton.h"

namespace nereid::triton {

// The sequence of a request, which chooses between two loads of a model.
struct SequenceOf {
  uint64_t id = 0;
  std::string_view name;
  uint32_t request_flags = 0;  // NRD_REQUEST_*
};

class PinnedModel {
 public:
  PinnedModel() = default;
  ~PinnedModel() { Release(); }
  PinnedModel(const PinnedModel&) = delete;
  PinnedModel& operator=(const PinnedModel&) = delete;

  // version -1: the version for clients that name none. A missing model gives the error that a
  // client gets.
  Status Acquire(std::string_view name, int64_t version, const SequenceOf& sequence = {});
  void Release();

  [[nodiscard]] nrd_model* get() const { return found_.model; }
  [[nodiscard]] int64_t version() const { return found_.version; }
  [[nodiscard]] bool decoupled() const { return found_.decoupled != 0; }

 private:
  nrt_found_model found_{};
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_PINNED_MODEL_H_

#include "triton/inference_request.h"

#include <algorithm>
#include <utility>

#include "triton/courier.h"
#include "triton/inference_flight.h"

namespace nereid::triton {

InferenceRequest::InferenceRequest(std::string_view model, int64_t version)
    : model_(model), version_(version), owner_(Owner::Current()) {
  Open(kKind, &owner_);
}

Status InferenceRequest::AddInput(std::string_view name, TRITONSERVER_DataType datatype,
                                  const int64_t* shape, uint64_t rank) {
  const std::string input = "input '" + std::string(name) + "'";
  for (const InferenceInput& other : inputs_) {
    if (other.name == name) {
      return Wrong(input + " already exists in request");
    }
  }
  if (rank > NRD_MAX_RANK) {
    return Wrong(input + " has " + std::to_string(rank) + " dimensions, at most " +
                 std::to_string(NRD_MAX_RANK) + " are supported");
  }
  if (rank > 0 && shape == nullptr) {
    return Wrong(input + " has NULL for a shape of " + std::to_string(rank) + " dimensions");
  }
  inputs_.push_back({std::string(name), datatype, {shape, shape + rank}, {}});
  return Status();
}

Status InferenceRequest::RemoveInput(std::string_view name) {
  InferenceInput* input = nullptr;
  NRD_RETURN_IF_ERROR(FindInput(name, &input));
  inputs_.erase(inputs_.begin() + (input - inputs_.data()));
  return Status();
}

Status InferenceRequest::AppendData(std::string_view name, const InputPiece& piece) {
  InferenceInput* input = nullptr;
  NRD_RETURN_IF_ERROR(FindInput(name, &input));
  if (piece.byte_size == 0) {
    return Status();
  }
  if (piece.data == nullptr) {
    return Wrong("input '" + input->name + "' has NULL for " + std::to_string(piece.byte_size) +
                 " bytes");
  }
  input->pieces.push_back(piece);
  return Status();
}

Status InferenceRequest::RemoveAllData(std::string_view name) {
  InferenceInput* input = nullptr;
  NRD_RETURN_IF_ERROR(FindInput(name, &input));
  input->pieces.clear();
  return Status();
}

Status InferenceRequest::AddOutput(std::string_view name) {
  if (std::find(outputs_.begin(), outputs_.end(), name) != outputs_.end()) {
    return Wrong("output '" + std::string(name) + "' already exists in request");
  }
  outputs_.emplace_back(name);
  return Status();
}

void InferenceRequest::RemoveOutput(std::string_view name) {
  outputs_.erase(std::remove(outputs_.begin(), outputs_.end(), name), outputs_.end());
}

std::string InferenceRequest::Prefix() const {
  return "[request id: " + (settings.id.empty() ? "<id_unknown>" : settings.id) + "] ";
}

Status InferenceRequest::CheckIdle() const {
  return in_flight_.load(std::memory_order_acquire)
             ? Wrong("the request is in flight, expected one that was released")
             : Status();
}

Status InferenceRequest::CheckReady() const {
  NRD_RETURN_IF_ERROR(CheckIdle());
  if (settings.release.release == nullptr) {
    return Wrong("the request has no release callback");
  }
  return settings.response.complete == nullptr ? Wrong("the request has no response callback")
                                               : Status();
}

void InferenceRequest::Launch(std::shared_ptr<InferenceFlight> flight) {
  const MutexLock lock(mutex_);
  flight_ = std::move(flight);
  cancelled_.store(false, std::memory_order_relaxed);
  in_flight_.store(true, std::memory_order_release);
}

void InferenceRequest::Land() {
  std::shared_ptr<InferenceFlight> flight;  // destroyed without the lock
  const MutexLock lock(mutex_);
  flight_.swap(flight);
  in_flight_.store(false, std::memory_order_release);
}

void InferenceRequest::Cancel() {
  std::shared_ptr<InferenceFlight> flight;
  {
    const MutexLock lock(mutex_);
    cancelled_.store(true, std::memory_order_relaxed);
    flight = flight_;
  }
  if (flight != nullptr) {
    Courier::Instance().Post([flight = std::move(flight)] { flight->Cancel(); });
  }
}

Status InferenceRequest::FindInput(std::string_view name, InferenceInput** input_out) {
  for (InferenceInput& input : inputs_) {
    if (input.name == name) {
      *input_out = &input;
      return Status();
    }
  }
  return Wrong("input '" + std::string(name) + "' does not exist in request");
}

Status InferenceRequest::Wrong(const std::string& what) const {
  return Status::InvalidArgument(Prefix() + what);
}

}  // namespace nereid::triton

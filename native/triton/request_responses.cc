// The responses that a plug-in makes for a request.
#include <cstring>

#include "base/tensor.h"
#include "triton/calls.h"
#include "triton/execution.h"
#include "triton/request.h"

namespace nereid::triton {

Status Request::Late(const Site& site, std::string_view what) const {
  return Caught(site.function, [&] {
    return Status::InvalidArgument(std::string(site.function) + ": " + execution_.owner().name() +
                                   " " + std::string(what) + " for a request of model '" +
                                   execution_.model_name() + "'");
  });
}

Status Request::NewResponse(Response** out) {
  const MutexLock lock(mutex_);
  if (ended_) {
    return Status::InvalidArgument(
        execution_.owner().name() +
        " makes a response of a request that is not executed, or not any more");
  }
  if (free_.empty()) {
    free_.reserve(made_.size() + 1);  // so that EndResponse needs no memory
    free_.push_back(&made_.emplace_back(*this));
  }
  free_.back()->Begin(execution_.owner());
  *out = free_.back();
  free_.pop_back();
  ++responses_;
  execution_.Refer();
  return Status();
}

void Request::DropResponse(Response& response) {
  if (!response.TakeFromPlugin()) {
    return;
  }
  bool ends = false;
  {
    const MutexLock lock(mutex_);
    EndResponse(response);
    ends = Ends();
  }
  Leave(ends);
}

void Request::EndResponse(Response& response) {
  response.End();
  --responses_;
  free_.push_back(&response);
}

Status Request::OutputMemory(Output& output, uint64_t byte_size) {
  const nrd_tensor& tensor = output.tensor();
  const uint64_t needed = tensor.datatype == NRD_TYPE_BYTES ? byte_size : output.needed();
  if (byte_size < needed) {
    return Status::InvalidArgument(execution_.owner().name() + " asks for " +
                                   std::to_string(byte_size) + " bytes for output '" +
                                   output.name() + "', its shape needs " + std::to_string(needed));
  }
  output.attributes().type = TRITONSERVER_MEMORY_CPU;
  if (execution_.model().pinned()) {
    output.attributes().type = TRITONSERVER_MEMORY_CPU_PINNED;
  }
  output.attributes().byte_size = byte_size;
  const MutexLock lock(mutex_);
  // Responses of a decoupled model may be sent in any order, but the core has memory for one.
  if (byte_size > needed || decoupled_ || responses_ > 1 || answered_ || failed_ ||
      !Wants(output.index())) {
    return output.WriteIntoOwn(byte_size);
  }
  void* data = nullptr;
  NRD_RETURN_IF_ERROR(MakeOutput(output, byte_size, &data));
  output.WriteInto(data);
  return Status();
}

Status Request::MakeOutput(const Output& output, uint64_t byte_size, void** data) {
  const nrd_tensor& tensor = output.tensor();
  return Ask("the core", [&](nrd_error* error) {
    return nrd_batch_request_output(execution_.batch(), index_, output.index(), tensor.datatype,
                                    tensor.rank, tensor.shape, byte_size, data, error);
  });
}

Status Request::GiveOutput(Output& output) {
  if (!output.has_own() || !Wants(output.index())) {
    return Status();
  }
  const nrd_tensor& tensor = output.tensor();
  uint64_t byte_size = tensor.byte_size;
  uint64_t count = 0;
  if (tensor.datatype != NRD_TYPE_BYTES) {
    byte_size = output.needed();
  } else if (uint64_t used = 0; ElementCount(tensor.rank, tensor.shape, &count).ok() &&
                                SkipBytesElements(tensor.data, byte_size, count, &used)) {
    byte_size = used;
  }
  void* data = nullptr;
  NRD_RETURN_IF_ERROR(MakeOutput(output, byte_size, &data));
  std::memcpy(data, tensor.data, byte_size);
  return Status();
}

Status Request::GiveParameters(const Response& response) {
  return Ask("the core", [&](nrd_error* error) {
    int32_t code = NRD_OK;
    for (const nrd_value& parameter : response.parameters()) {
      code = nrd_batch_request_value(execution_.batch(), index_, &parameter, error);
      if (code != NRD_OK) {
        break;
      }
    }
    return code;
  });
}

Status Request::Deliver(Response& response, bool final) {
  if (gone_ || failed_) {
    return Status();  // no receiver waits for it
  }
  for (uint32_t i = 0; i < response.output_count(); ++i) {
    NRD_RETURN_IF_ERROR(GiveOutput(response.output(i)));
  }
  NRD_RETURN_IF_ERROR(GiveParameters(response));
  if (!decoupled_ || final) {
    return Status();
  }
  return Delivered(Ask("the core", [&](nrd_error* error) {
    return nrd_batch_request_respond(execution_.batch(), index_, error);
  }));
}

// Only the final flag ends a decoupled request: an earlier error is one of its responses.
Status Request::DeliverError(const Response& response, const Status& failure) {
  if (gone_ || failed_) {
    return Status();
  }
  execution_.NoteFailure();
  NRD_RETURN_IF_ERROR(GiveParameters(response));
  return Delivered(Ask("the core", [&](nrd_error* error) {
    return nrd_batch_request_respond_error(execution_.batch(), index_, failure.code(),
                                           failure.message().data(), failure.message().size(),
                                           error);
  }));
}

// A missing receiver is not the plug-in's failure.
Status Request::Delivered(Status status) {
  if (status.code() == NRD_CANCELLED) {
    gone_ = true;
    return Status();
  }
  return status;
}

Status Request::Send(const Site& site, Response& response, uint32_t flags, const Status& error) {
  if (!response.TakeFromPlugin()) {
    return WrongHandle(site, Response::kKind, &response);
  }
  Status status;
  bool ends = false;
  {
    const MutexLock lock(mutex_);
    const bool final = (flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0;
    if (final_ && decoupled_) {
      status = Late(site, "sent a response after the final one");
    } else if (answered_ && !decoupled_) {
      status = Late(site, "sent a second response");
    } else {
      if (record_ != nullptr && !error.ok() && (final || !decoupled_)) {
        if (!failed_) {
          status = GiveParameters(response);
          Fail(error);
        }
      } else if (record_ != nullptr) {
        status = error.ok() ? Deliver(response, final) : DeliverError(response, error);
        if (!status.ok()) {
          Fail(status);
        }
      }
      answered_ = true;
      final_ = final_ || final || !decoupled_;
    }
    EndResponse(response);
    ends = Ends();
  }
  Leave(ends);
  return status;
}

Status Request::SendFlags(const Site& site, uint32_t flags) {
  if ((flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) == 0) {
    return Status();
  }
  bool ends = false;
  {
    const MutexLock lock(mutex_);
    if (final_ && decoupled_) {
      return Late(site, "sent the final flag twice");
    }
    final_ = true;
    ends = Ends();
  }
  if (ends) {
    execution_.EndRequest(*this);
  }
  return Status();
}

}  // namespace nereid::triton

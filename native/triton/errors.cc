#include "triton/errors.h"

#include <new>

#include "triton/host.h"
#include "triton/plugin_library.h"

namespace nereid::triton {

Error& Error::OutOfMemory() {
  static auto* const error =
      new Error(TRITONSERVER_ERROR_UNAVAILABLE, Status::OutOfMemory().message(), nullptr);
  return *error;
}

TRITONSERVER_Error* NewError(TRITONSERVER_Error_Code code, std::string_view message) noexcept try {
  return Give<TRITONSERVER_Error>(new Error(code, message, &Owner::Current()));
} catch (const std::bad_alloc&) {
  return Give<TRITONSERVER_Error>(&Error::OutOfMemory());
}

TRITONSERVER_Error* NewErrorOf(const Status& failure) noexcept {
  return NewError(ToErrorCode(failure.code()), failure.message());
}

Status StatusOf(TRITONSERVER_Error* error) noexcept {
  if (error == nullptr) {
    return Status();
  }
  return Caught("reading an error", [error] {
    const Error* const found = Find<Error>(error);
    return found != nullptr
               ? Status(ToStatusCode(found->code()), found->message())
               : Status::Internal(Owner::Current().name() +
                                  " gave an error that does not exist, or not any more");
  });
}

Status TakeStatus(TRITONSERVER_Error* error) noexcept {
  Status status = StatusOf(error);
  if (const Error* const found = Find<Error>(error); found != nullptr && !found->kept()) {
    delete found;
  }
  return status;
}

int32_t ToStatusCode(TRITONSERVER_Error_Code code) {
  switch (code) {
    case TRITONSERVER_ERROR_INTERNAL:
      return NRD_INTERNAL;
    case TRITONSERVER_ERROR_NOT_FOUND:
      return NRD_NOT_FOUND;
    case TRITONSERVER_ERROR_INVALID_ARG:
      return NRD_INVALID_ARGUMENT;
    case TRITONSERVER_ERROR_UNAVAILABLE:
      return NRD_UNAVAILABLE;
    case TRITONSERVER_ERROR_UNSUPPORTED:
      return NRD_UNIMPLEMENTED;
    case TRITONSERVER_ERROR_ALREADY_EXISTS:
      return NRD_ALREADY_EXISTS;
    case TRITONSERVER_ERROR_CANCELLED:
      return NRD_CANCELLED;
    default:
      return NRD_UNKNOWN;
  }
}

TRITONSERVER_Error_Code ToErrorCode(int32_t code) {
  switch (code) {
    case NRD_CANCELLED:
      return TRITONSERVER_ERROR_CANCELLED;
    case NRD_INVALID_ARGUMENT:
    case NRD_FAILED_PRECONDITION:
    case NRD_PERMISSION_DENIED:
      return TRITONSERVER_ERROR_INVALID_ARG;
    case NRD_NOT_FOUND:
      return TRITONSERVER_ERROR_NOT_FOUND;
    case NRD_ALREADY_EXISTS:
      return TRITONSERVER_ERROR_ALREADY_EXISTS;
    case NRD_DEADLINE_EXCEEDED:
    case NRD_RESOURCE_EXHAUSTED:
    case NRD_UNAVAILABLE:
      return TRITONSERVER_ERROR_UNAVAILABLE;
    case NRD_UNIMPLEMENTED:
      return TRITONSERVER_ERROR_UNSUPPORTED;
    case NRD_INTERNAL:
      return TRITONSERVER_ERROR_INTERNAL;
    default:
      return TRITONSERVER_ERROR_UNKNOWN;
  }
}

Status WrongHandle(const Site& site, Kind kind, const void* pointer) noexcept try {
  std::string message = std::string(site.function) + ": " + PluginLibrary::NameAt(site.caller);
  if (pointer == nullptr) {
    message += " gave NULL for a " + std::string(NameOf(kind));
  } else {
    message += " gave something that is no " + std::string(NameOf(kind)) + ", or not any more";
  }
  return Status::InvalidArgument(std::move(message));
} catch (const std::bad_alloc&) {
  return Status::OutOfMemory();
}

Status StatusOfException(std::string_view what, std::string_view owner) noexcept try {
  const auto call = [&] {
    return std::string(owner) + (owner.empty() ? "" : ", ") + std::string(what);
  };
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Status(NRD_RESOURCE_EXHAUSTED, call() + ": the process is out of memory");
  } catch (const std::exception& failure) {
    return Status::Internal(call() + " threw: " + failure.what());
  } catch (...) {
    return Status::Internal(call() + " threw what is no std::exception");
  }
} catch (const std::bad_alloc&) {
  return Status::OutOfMemory();
}

}  // namespace nereid::triton

using nereid::triton::Error;
using nereid::triton::Find;

namespace {

// The error behind a pointer. A wrong pointer is logged, since these functions return no error.
const Error* Known(const nereid::triton::Site& site, const TRITONSERVER_Error* pointer) {
  const Error* const error = Find<Error>(pointer);
  if (error == nullptr) {
    nereid::triton::Log(nereid::triton::kLogError,
                        nereid::triton::WrongHandle(site, Error::kKind, pointer).message());
  }
  return error;
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char* message) {
  return nereid::triton::NewError(code, message == nullptr ? "" : message);
}

void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) {
  if (error == nullptr) {
    return;
  }
  if (const Error* const known = Known(NRT_SITE, error); known != nullptr && !known->kept()) {
    delete known;
  }
}

TRITONSERVER_Error_Code TRITONSERVER_ErrorCode(TRITONSERVER_Error* error) {
  const Error* const known = Known(NRT_SITE, error);
  return known == nullptr ? TRITONSERVER_ERROR_UNKNOWN : known->code();
}

const char* TRITONSERVER_ErrorCodeString(TRITONSERVER_Error* error) {
  const Error* const known = Known(NRT_SITE, error);
  switch (known == nullptr ? TRITONSERVER_ERROR_UNKNOWN : known->code()) {
    case TRITONSERVER_ERROR_INTERNAL:
      return "Internal";
    case TRITONSERVER_ERROR_NOT_FOUND:
      return "Not found";
    case TRITONSERVER_ERROR_INVALID_ARG:
      return "Invalid argument";
    case TRITONSERVER_ERROR_UNAVAILABLE:
      return "Unavailable";
    case TRITONSERVER_ERROR_UNSUPPORTED:
      return "Unsupported";
    case TRITONSERVER_ERROR_ALREADY_EXISTS:
      return "Already exists";
    case TRITONSERVER_ERROR_CANCELLED:
      return "Cancelled";
    default:
      return "Unknown";
  }
}

const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error) {
  const Error* const known = Known(NRT_SITE, error);
  return known == nullptr ? "" : known->message().c_str();
}

}  // extern "C"

#include "base/status.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>

namespace nereid {

const Status::Failure Status::kOutOfMemory{NRD_RESOURCE_EXHAUSTED, "the process is out of memory"};

const Status::Failure* Status::NewFailure(int32_t code, std::string&& message) noexcept {
  auto* const failure = new (std::nothrow) Failure{code, std::move(message)};
  return failure == nullptr ? &kOutOfMemory : failure;
}

void WriteError(nrd_error* error, int32_t code, std::string_view message) {
  if (error == nullptr) {
    return;
  }
  size_t size = std::min(message.size(), sizeof(error->message));
  // A byte 10xxxxxx continues a character: never cut in front of one.
  while (size < message.size() && size > 0 &&
         (static_cast<unsigned char>(message[size]) & 0xC0U) == 0x80U) {
    --size;
  }
  error->struct_size = sizeof(nrd_error);
  error->code = code;
  error->message_size = static_cast<uint32_t>(size);
  if (size > 0) {  // a message of no bytes may be NULL
    std::memcpy(error->message, message.data(), size);
  }
}

int32_t Report(const Status& status, nrd_error* error_out) {
  if (!status.ok()) {
    WriteError(error_out, status.code(), status.message());
  }
  return status.code();
}

Status StatusFromCallback(int32_t code, const nrd_error& error, std::string_view what) noexcept
    try {
  if (code == NRD_OK) {
    return Status();
  }
  const size_t size = std::min<size_t>(error.message_size, sizeof(error.message));
  std::string message(error.message, size);
  if (message.empty()) {
    message = std::string(what) + " failed with status " + std::to_string(code);
  }
  const bool known = code > NRD_OK && code <= NRD_UNAVAILABLE;
  return Status(known ? code : NRD_INTERNAL, std::move(message));
} catch (const std::bad_alloc&) {
  return Status::OutOfMemory();
}

std::string_view ParameterOf(const nrd_model_options& options, std::string_view key) {
  for (const nrd_parameter& parameter : std::span(options.parameters, options.parameter_count)) {
    if (View(parameter.key) == key) {
      return View(parameter.value);
    }
  }
  return {};
}

}  // namespace nereid

// The result of everything in the core that can fail.
#ifndef NEREID_BASE_STATUS_H_
#define NEREID_BASE_STATUS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "nereid/nereid.h"

namespace nereid {

// A canonical code, and for failures a message. Success is one null pointer and costs nothing. A
// failure for which there is no memory becomes OutOfMemory.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(int32_t code, std::string message) noexcept
      : failure_(code == NRD_OK ? nullptr : NewFailure(code, std::move(message))) {}

  static Status Ok() { return Status(); }
  // Needs no heap.
  static Status OutOfMemory() noexcept {
    Status status;
    status.failure_.reset(&kOutOfMemory);
    return status;
  }
  static Status InvalidArgument(std::string message) {
    return Status(NRD_INVALID_ARGUMENT, std::move(message));
  }
  static Status Internal(std::string message) { return Status(NRD_INTERNAL, std::move(message)); }
  static Status Unavailable(std::string message) {
    return Status(NRD_UNAVAILABLE, std::move(message));
  }

  [[nodiscard]] bool ok() const { return failure_ == nullptr; }
  [[nodiscard]] int32_t code() const { return failure_ ? failure_->code : NRD_OK; }
  [[nodiscard]] std::string_view message() const {
    return failure_ ? std::string_view(failure_->message) : std::string_view();
  }

  [[nodiscard]] Status Clone() const { return ok() ? Status() : Status(code(), failure_->message); }

 private:
  struct Failure {
    int32_t code;
    std::string message;
  };
  struct Drop {
    void operator()(const Failure* failure) const noexcept {
      if (failure != &kOutOfMemory) {
        delete failure;
      }
    }
  };
  static const Failure kOutOfMemory;
  static const Failure* NewFailure(int32_t code, std::string&& message) noexcept;

  std::unique_ptr<const Failure, Drop> failure_;
};

// Writes code and message into the caller's record, cut at a UTF-8 boundary when it is too long.
void WriteError(nrd_error* error, int32_t code, std::string_view message);

// WriteError, and the code for returning.
int32_t Report(const Status& status, nrd_error* error_out);

// The failure that a callback reported in `error`; a code outside the known ones becomes INTERNAL.
Status StatusFromCallback(int32_t code, const nrd_error& error, std::string_view what) noexcept;

inline std::string_view View(const nrd_string& text) {
  return text.data == nullptr ? std::string_view()
                              : std::string_view(text.data, static_cast<size_t>(text.size));
}
inline nrd_string AsNrdString(std::string_view text) { return {text.data(), text.size()}; }

// The value of a parameter; empty: it is not there.
std::string_view ParameterOf(const nrd_model_options& options, std::string_view key);

#define NRD_RETURN_IF_ERROR(expression)          \
  do {                                           \
    ::nereid::Status nrd_status_ = (expression); \
    if (!nrd_status_.ok()) [[unlikely]] {        \
      return nrd_status_;                        \
    }                                            \
  } while (false)

}  // namespace nereid

#endif  // NEREID_BASE_STATUS_H_

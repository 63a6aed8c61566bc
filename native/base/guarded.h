// Functions of the C ABI and of backends' tables that can fail run their body in Guarded.
#ifndef NEREID_BASE_GUARDED_H_
#define NEREID_BASE_GUARDED_H_

#include <exception>
#include <new>
#include <system_error>

#include "base/status.h"

namespace nereid {

// Runs `body`, which returns a Status, and turns everything it throws into one. Threads that cannot
// be made throw system_error.
template <typename Body>
int32_t Guarded(nrd_error* error_out, Body&& body) noexcept {
  try {
    return Report(body(), error_out);
  } catch (const std::bad_alloc&) {
    WriteError(error_out, NRD_RESOURCE_EXHAUSTED, "the process is out of memory");
    return NRD_RESOURCE_EXHAUSTED;
  } catch (const std::system_error& failure) {
    WriteError(error_out, NRD_RESOURCE_EXHAUSTED, failure.what());
    return NRD_RESOURCE_EXHAUSTED;
  } catch (const std::exception& failure) {
    WriteError(error_out, NRD_INTERNAL, failure.what());
  } catch (...) {
    WriteError(error_out, NRD_INTERNAL, "unknown exception");
  }
  return NRD_INTERNAL;
}

}  // namespace nereid

#endif  // NEREID_BASE_GUARDED_H_

// What tests ask of the stand-ins, by names that any language can look up in librehearsal.so.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "copy.h"
#include "device.h"
#include "faults.h"
#include "handles.h"

namespace {

// Returns the length of the text, of which as much is copied as fits with a 0 behind it.
std::size_t Put(const std::string& text, char* buffer, std::size_t size) {
  if (size > 0) {
    std::snprintf(buffer, size, "%s", text.c_str());
  }
  return text.size();
}

}  // namespace

extern "C" {

// Misuses and what is open; the calls that were made and how often: a line each.
std::size_t rehearsal_report(char* buffer, std::size_t size) {
  return Put(rehearsal::handles::Report(), buffer, size);
}

std::size_t rehearsal_calls(char* buffer, std::size_t size) {
  return Put(rehearsal::faults::Calls(), buffer, size);
}

std::int64_t rehearsal_misuses() {
  return static_cast<std::int64_t>(rehearsal::handles::Misuses());
}

// How many handles of a kind are open; null: of any.
std::int64_t rehearsal_left(const char* kind) {
  return static_cast<std::int64_t>(rehearsal::handles::Left(kind == nullptr ? "" : kind));
}

// Bytes that copies have moved so far, by cudaMemcpyKind: 1 to a device, 2 from one, 3 within.
std::int64_t rehearsal_copied(std::int32_t direction) {
  return static_cast<std::int64_t>(rehearsal::Copied(static_cast<rehearsal::Direction>(direction)));
}

// The nth call from now on fails, 0: each; see faults.h.
void rehearsal_fail(const char* call, std::int64_t nth, std::int32_t code) {
  rehearsal::faults::Inject(call, nth, code);
}

void rehearsal_delay(std::uint64_t seed, std::uint32_t most_us) {
  rehearsal::faults::Delay(seed, most_us);
}

void rehearsal_limit_memory(std::int32_t device, std::uint64_t bytes) {
  rehearsal::LimitMemory(device, bytes);
}

// Takes back faults and delays, mends broken devices, forgets misuses; what is open stays.
void rehearsal_reset() {
  rehearsal::faults::Clear();
  rehearsal::handles::Reset();
  rehearsal::Mend();
}
}

#ifndef NEREID_REHEARSAL_FIXTURE_H_
#define NEREID_REHEARSAL_FIXTURE_H_

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "copy.h"
#include "device.h"
#include "faults.h"
#include "handles.h"
#include "stream.h"

namespace rehearsal {

// Each test leaves nothing: no fault, no misuse that it did not ask for, nothing open.
struct Fixture {
  std::size_t left = handles::Left();

  ~Fixture() {
    CHECK_MESSAGE(handles::Misuses() == 0, handles::Report());
    CHECK_MESSAGE(handles::Left() == left, handles::Report());
    faults::Clear();
    handles::Reset();
    Mend();
  }

  // The misuses that a test has provoked.
  static std::size_t TakeMisuses() {
    const std::size_t misuses = handles::Misuses();
    handles::Reset();
    return misuses;
  }
};

// Memory of device 0.
struct Memory {
  explicit Memory(std::uint64_t size) : bytes(size) {
    REQUIRE(Allocate(0, size, "test", &address) == Code::kSuccess);
  }
  ~Memory() { CHECK(Free(address, "test") == Code::kSuccess); }
  void* pointer() const { return reinterpret_cast<void*>(address); }

  Address address = 0;
  std::uint64_t bytes;
};

struct TestStream {
  TestStream() { REQUIRE(CreateStream(false, 0, "test", &handle) == Code::kSuccess); }
  ~TestStream() {
    Synchronize(*stream());
    CHECK(DestroyStream(handle, "test") == Code::kSuccess);
  }
  std::shared_ptr<Stream> stream() const { return FindStream(handle, "test"); }

  void* handle = nullptr;
};

struct TestEvent {
  TestEvent() { REQUIRE(CreateEvent(true, "test", &handle) == Code::kSuccess); }
  ~TestEvent() { CHECK(DestroyEvent(handle, "test") == Code::kSuccess); }
  std::shared_ptr<Event> event() const { return FindEvent(handle, "test"); }

  void* handle = nullptr;
};

// Work that calls a function.
template <typename Function>
Work Doing(Function function) {
  Work work;
  work.call = "test";
  work.run = [function] {
    function();
    return Code::kSuccess;
  };
  return work;
}

}  // namespace rehearsal

#endif  // NEREID_REHEARSAL_FIXTURE_H_

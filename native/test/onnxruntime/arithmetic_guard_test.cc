// Tests of divisions by zero inside a guarded library and outside.
#include "onnxruntime/arithmetic_guard.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "test/core/core_fixture.h"
#include "test/divisions/divisions.h"

namespace nereid::test {
namespace {

#if defined(__x86_64__)
constexpr uint64_t kRax = 0x1111'2222'3333'4444;
constexpr uint64_t kRdx = 0x5555'6666'7777'8888;

// The part of `before` that is left by an instruction that writes 0 into its last `size` bytes.
uint64_t Cleared(uint64_t before, int size) { return size <= 2 ? before & ~uint64_t{0xFFFF} : 0; }

DivideFn LoadDivisions() {
  void* const handle = dlopen(NEREID_DIVISIONS_PATH, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  void* const divide = dlsym(handle, "Divide");
  REQUIRE(divide != nullptr);
  return reinterpret_cast<DivideFn>(divide);
}

DivideFn GuardedDivisions() {
  const DivideFn divide = LoadDivisions();
  GuardArithmetic(reinterpret_cast<const void*>(divide));
  return divide;
}

// True if `body` ends the process.
template <typename Body>
bool EndsTheProcess(Body body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    constexpr rlimit kNoCore = {0, 0};
    setrlimit(RLIMIT_CORE, &kNoCore);
    close(STDERR_FILENO);  // where a sanitizer would report it
    body();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

TEST_CASE("every form of a division by zero gives 0 in a guarded library") {
  const DivideFn divide = GuardedDivisions();
  int forms = 0;
  for (;; ++forms) {
    CAPTURE(forms);
    DivisionState state{kRax, kRdx, 0};
    ArithmeticWatch watch;
    watch.Begin();
    const int size = divide(forms, &state);
    const bool faulted = watch.End();
    if (size == 0) {
      CHECK(!faulted);
      break;
    }
    CHECK(faulted);
    CHECK(state.marker == 7);
    CHECK(state.rax == Cleared(kRax, size));
    CHECK(state.rdx == (size == 1 ? kRdx : Cleared(kRdx, size)));
  }
  CHECK(forms == 15);
}

TEST_CASE("a call knows of its own faults only") {
  const DivideFn divide = GuardedDivisions();
  ArithmeticWatch watch;
  ArithmeticWatch other;
  watch.Begin();
  std::thread([&] {
    DivisionState state{};
    other.Begin();
    divide(5, &state);
    CHECK(other.End());
  }).join();
  CHECK(!watch.End());
  other.Begin();
  CHECK(!other.End());
}

TEST_CASE("a worker's fault is that of the call that it works for") {
  const DivideFn divide = GuardedDivisions();
  // Shared work lies on the caller's stack, like a loop's counter in ONNX Runtime.
  struct Loop {
    DivideFn divide;
    DivisionState state{};
  };
  ArithmeticWatch watch;
  ArithmeticWatch other;
  Gate gate;
  std::thread idle([&] {
    other.Begin();
    gate.Enter();
    CHECK(!other.End());
  });
  gate.WaitForEntered(1);
  watch.Begin();
  Loop loop{.divide = divide};
  std::thread([&loop] {
    const GuardedWorker guarded;
    loop.divide(5, &loop.state);
  }).join();
  CHECK(watch.End());
  gate.Open();
  idle.join();
}

TEST_CASE("when nothing tells whose fault it was, it is everybody's") {
  const DivideFn divide = GuardedDivisions();
  static DivisionState state;
  static DivideFn shared_divide;
  shared_divide = divide;
  ArithmeticWatch watch;
  watch.Begin();
  std::thread([] { shared_divide(5, &state); }).join();
  CHECK(watch.End());
}

TEST_CASE("elsewhere a division by zero ends the process as ever") {
  GuardedDivisions();
  CHECK(EndsTheProcess([] {
    int dividend = 1;
    __asm__ volatile("xorl %%edx, %%edx\n\txorl %%ecx, %%ecx\n\tidivl %%ecx"
                     : "+a"(dividend)
                     :
                     : "ecx", "edx", "cc");
  }));
  CHECK(EndsTheProcess([] { raise(SIGFPE); }));
  CHECK(!EndsTheProcess([] {}));
}
#endif

TEST_CASE("a call without a fault has none") {
  ArithmeticWatch watch;
  watch.Begin();
  CHECK(!watch.End());
}

}  // namespace
}  // namespace nereid::test

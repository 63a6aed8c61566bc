// Guards this process against divisions by zero in libraries that are not ours. On x86-64 an
// integer division by zero, or of the smallest number by -1, raises SIGFPE, which would end the
// process; and ONNX Runtime divides by what clients send. With the guard such a division gives 0,
// and the call that it happened in is known to have gone wrong.
//
// The handler acts on division instructions of guarded libraries only. Every other SIGFPE goes to
// the handler before it: the JVM lives on it for divisions in Java. Other processors do not trap,
// so there the guard does nothing.
#ifndef NEREID_ONNXRUNTIME_ARITHMETIC_GUARD_H_
#define NEREID_ONNXRUNTIME_ARITHMETIC_GUARD_H_

#include <cstdint>
#include <string_view>

namespace nereid {

// The message of a call in which a division faulted.
inline constexpr std::string_view kArithmeticFault = "integer division by zero or overflow";

// Guards the library that holds this function, for as long as the process lives: the library must
// stay loaded. For one thread at a time.
void GuardArithmetic(const void* function);

// Tells where a thread is inside a guarded library. Records are reused and never freed, since a
// signal handler reads them.
struct GuardedStack;

// Tells whether divisions faulted in a call into a guarded library. For one call at a time, on any
// thread; a call costs a few nanoseconds.
class ArithmeticWatch {
 public:
  ArithmeticWatch();
  ~ArithmeticWatch();
  ArithmeticWatch(const ArithmeticWatch&) = delete;
  ArithmeticWatch& operator=(const ArithmeticWatch&) = delete;

  // Around the call, by the function that makes it.
  [[gnu::always_inline]] void Begin() { BeginAt(__builtin_frame_address(0)); }
  // True if a division faulted since Begin.
  [[nodiscard]] bool End();

 private:
  void BeginAt(const void* frame);

  GuardedStack* const stack_;
};

// Lives as long as a thread that works for calls of other threads into guarded libraries, in its
// first function. When a division faults there, the call that it works for is the one that its
// stack refers to most: a thread that shares a loop out keeps the loop's counter on its own stack,
// and a helper has the counter's address on its. If the stack refers to none, all calls under way
// have faulted.
class GuardedWorker {
 public:
  [[gnu::always_inline]] GuardedWorker() : GuardedWorker(__builtin_frame_address(0)) {}
  ~GuardedWorker();
  GuardedWorker(const GuardedWorker&) = delete;
  GuardedWorker& operator=(const GuardedWorker&) = delete;

 private:
  explicit GuardedWorker(const void* frame);

  GuardedStack* const stack_;
};

}  // namespace nereid

#endif  // NEREID_ONNXRUNTIME_ARITHMETIC_GUARD_H_

// Guards this process against divisions by zero in libraries that are not ours. On x86-64 an
// integer division by zero, or of the smallest number by -1, raises SIGFPE, which would end the
// process; and ONNX Runtime divides by what clients send. With the guard such a division gives 0,
// and the call in which it happened is reported as failed.
//
// The handler acts on division instructions of guarded libraries only. Every other SIGFPE goes to
// the previous handler: the JVM needs it for divisions in Java. Other processors do not trap, so
// the guard does nothing there.
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

// The place of a thread inside a guarded library. Records are reused and never freed, since a
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

  // Called around the call, in the function that makes it.
  [[gnu::always_inline]] void Begin() { BeginAt(__builtin_frame_address(0)); }
  // True if a division faulted since Begin.
  [[nodiscard]] bool End();

 private:
  void BeginAt(const void* frame);

  GuardedStack* const stack_;
};

// Registers a worker thread that computes for other threads' calls into guarded libraries; it lives
// in the worker's first function. When a division faults there, the call at fault is the one to
// whose stack the worker's stack refers most: a calling thread keeps the counter of a shared loop
// on its stack, and the worker has the counter's address on its own. If the worker's stack refers
// to none, all calls under way count as failed.
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

#include "onnxruntime/arithmetic_guard.h"

#include <atomic>
#include <mutex>

#if defined(__x86_64__)

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>

#include "base/mutex.h"
#include "onnxruntime/division_decoder.h"

namespace nereid {

namespace {

Mutex stacks_mutex;

}  // namespace

// The record of one thread inside a guarded library: the thread writes it, a signal handler on any
// thread reads it. The records of calls and workers are in one list, which only grows.
struct alignas(64) GuardedStack {
  std::atomic<pthread_t> thread{0};  // 0: no thread is inside
  std::atomic<uintptr_t> frame{0};   // frame of the function that called the library
  std::atomic<bool> is_worker{false};
  std::atomic<bool> faulted{false};
  bool taken NRD_GUARDED_BY(stacks_mutex) = true;
  GuardedStack* next = nullptr;
};

namespace {

struct CodeRange {
  uintptr_t begin;
  uintptr_t end;
  const CodeRange* next;
};

// The most stack that a library uses between its caller and the loops for its workers.
constexpr uintptr_t kDeepestLoop = 256 * 1024;
// The bytes below its stack pointer that a function may use.
constexpr uintptr_t kRedZone = 128;

std::atomic<GuardedStack*> stacks{nullptr};
std::atomic<const CodeRange*> guarded_code{nullptr};
struct sigaction previous_action;

GuardedStack* TakeStack() {
  const MutexLock lock(stacks_mutex);
  for (GuardedStack* stack = stacks.load(); stack != nullptr; stack = stack->next) {
    if (!stack->taken) {
      stack->taken = true;
      return stack;
    }
  }
  auto* stack = new GuardedStack;
  stack->next = stacks.load();
  stacks.store(stack);
  return stack;
}

void GiveBack(GuardedStack* stack) {
  stack->thread.store(0);
  const MutexLock lock(stacks_mutex);
  stack->taken = false;
}

void Enter(GuardedStack* stack, const void* frame, bool is_worker) {
  stack->faulted.store(false, std::memory_order_relaxed);
  stack->is_worker.store(is_worker, std::memory_order_relaxed);
  stack->frame.store(reinterpret_cast<uintptr_t>(frame), std::memory_order_relaxed);
  stack->thread.store(pthread_self(), std::memory_order_release);
}

bool IsCall(const GuardedStack& stack) {
  return stack.thread.load(std::memory_order_acquire) != 0 &&
         !stack.is_worker.load(std::memory_order_relaxed);
}

GuardedStack* OwnStack() {
  const pthread_t self = pthread_self();
  GuardedStack* stack = stacks.load();
  while (stack != nullptr && stack->thread.load() != self) {
    stack = stack->next;
  }
  return stack;
}

// Counts the registers of a worker and the words of its stack that refer to the stack of a call. It
// reads frames of other functions, between which the sanitizer puts unreadable bytes.
__attribute__((no_sanitize("address"))) size_t ReferenceCount(const mcontext_t& context,
                                                              uintptr_t worker_frame,
                                                              const GuardedStack& call) {
  const uintptr_t top = call.frame.load(std::memory_order_relaxed);
  const auto refers = [top](uintptr_t word) { return word <= top && top - word < kDeepestLoop; };
  size_t count = 0;
  for (int number = REG_R8; number <= REG_RCX; ++number) {
    count += refers(static_cast<uintptr_t>(context.gregs[number])) ? 1 : 0;
  }
  const auto stack_pointer = static_cast<uintptr_t>(context.gregs[REG_RSP]);
  const auto* word = reinterpret_cast<const volatile uintptr_t*>(stack_pointer - kRedZone);
  const auto* const end = reinterpret_cast<const volatile uintptr_t*>(worker_frame);
  for (; word < end; ++word) {
    count += refers(*word) ? 1 : 0;
  }
  return count;
}

template <typename Use>
void ForEachCall(Use use) {
  for (GuardedStack* stack = stacks.load(); stack != nullptr; stack = stack->next) {
    if (IsCall(*stack)) {
      use(stack);
    }
  }
}

// Marks the call on whose behalf the calling thread faulted.
void Blame(const mcontext_t& context) {
  GuardedStack* const own = OwnStack();
  if (own != nullptr && IsCall(*own)) {
    own->faulted.store(true);
    return;
  }
  const uintptr_t worker_frame = own == nullptr ? 0 : own->frame.load(std::memory_order_relaxed);
  size_t most = 0;
  ForEachCall([&](GuardedStack* call) {
    most = std::max(most, ReferenceCount(context, worker_frame, *call));
  });
  ForEachCall([&](GuardedStack* call) {
    if (ReferenceCount(context, worker_frame, *call) >= most) {
      call->faulted.store(true);
    }
  });
}

bool IsGuarded(uintptr_t code) {
  const CodeRange* range = guarded_code.load();
  while (range != nullptr && (code < range->begin || code >= range->end)) {
    range = range->next;
  }
  return range != nullptr;
}

// Gives the faulting division the result 0 and goes on; false: not in a guarded library.
bool StepOver(mcontext_t* context) {
  greg_t* const registers = context->gregs;
  const auto code = static_cast<uintptr_t>(registers[REG_RIP]);
  if (!IsGuarded(code)) {
    return false;
  }
  const Division division = DecodeDivision(reinterpret_cast<const uint8_t*>(code));
  if (division.length == 0) {
    return false;
  }
  // Results of 4 bytes clear the upper half of their registers, shorter ones leave the rest alone.
  constexpr greg_t kRestOfWord = ~greg_t{0xFFFF};
  const greg_t kept = division.operand_size <= 2 ? kRestOfWord : 0;
  registers[REG_RAX] &= kept;
  if (division.operand_size > 1) {
    registers[REG_RDX] &= kept;
  }
  registers[REG_RIP] += static_cast<greg_t>(division.length);
  return true;
}

// Calls the previous handler, or applies the default.
void HandOn(int signal_number, siginfo_t* info, void* context) {
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
    previous_action.sa_sigaction(signal_number, info, context);
    return;
  }
  const bool was_sent = info->si_code <= 0;
  if (previous_action.sa_handler == SIG_IGN && was_sent) {
    return;
  }
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal_number);
    return;
  }
  signal(signal_number, SIG_DFL);
  if (was_sent) {
    raise(signal_number);
  }  // without a handler the instruction faults again, and ends the process
}

void OnFault(int signal_number, siginfo_t* info, void* context) {
  mcontext_t* const machine = &static_cast<ucontext_t*>(context)->uc_mcontext;
  if (info->si_code > 0 && StepOver(machine)) {
    Blame(*machine);
  } else {
    HandOn(signal_number, info, context);
  }
}

void InstallHandler() {
  sigaction(SIGFPE, nullptr, &previous_action);
  struct sigaction action = previous_action;
  action.sa_sigaction = OnFault;
  action.sa_flags = (action.sa_flags & ~static_cast<int>(SA_RESETHAND)) | SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGFPE, &action, nullptr);
}

int GuardLibrary(dl_phdr_info* library, size_t /*size*/, void* function) {
  const auto begin = [&](int i) { return library->dlpi_addr + library->dlpi_phdr[i].p_vaddr; };
  const auto holds = [&](int i) {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(function) - begin(i);
    return library->dlpi_phdr[i].p_type == PT_LOAD && offset < library->dlpi_phdr[i].p_memsz;
  };
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    if (holds(i)) {
      guarded_code.store(new CodeRange{.begin = begin(i),
                                       .end = begin(i) + library->dlpi_phdr[i].p_memsz,
                                       .next = guarded_code.load()});
      return 1;
    }
  }
  return 0;
}

}  // namespace

void GuardArithmetic(const void* function) {
  if (IsGuarded(reinterpret_cast<uintptr_t>(function))) {
    return;
  }
  static std::once_flag installed;
  std::call_once(installed, InstallHandler);
  dl_iterate_phdr(GuardLibrary, const_cast<void*>(function));
}

ArithmeticWatch::ArithmeticWatch() : stack_(TakeStack()) {}

ArithmeticWatch::~ArithmeticWatch() { GiveBack(stack_); }

void ArithmeticWatch::BeginAt(const void* frame) { Enter(stack_, frame, /*is_worker=*/false); }

bool ArithmeticWatch::End() {
  stack_->thread.store(0, std::memory_order_release);
  return stack_->faulted.load(std::memory_order_relaxed);
}

GuardedWorker::GuardedWorker(const void* frame) : stack_(TakeStack()) {
  Enter(stack_, frame, /*is_worker=*/true);
}

GuardedWorker::~GuardedWorker() { GiveBack(stack_); }

}  // namespace nereid

#else  // a processor whose divisions do not trap

namespace nereid {

void GuardArithmetic(const void* /*function*/) {}
ArithmeticWatch::ArithmeticWatch() : stack_(nullptr) {}
ArithmeticWatch::~ArithmeticWatch() = default;
void ArithmeticWatch::BeginAt(const void* /*frame*/) {}
bool ArithmeticWatch::End() { return false; }
GuardedWorker::GuardedWorker(const void* /*frame*/) : stack_(nullptr) {}
GuardedWorker::~GuardedWorker() = default;

}  // namespace nereid

#endif

#include "execution.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "handles.h"

namespace rehearsal::trt {

namespace {

constexpr const char* kCall = "IExecutionContext::enqueueV3";

// One more execution that waits in a stream; a stream that is broken drops its work.
class Waiting {
 public:
  explicit Waiting(std::shared_ptr<ContextState> context) : context_(std::move(context)) {
    ++context_->waiting;
    ++context_->engine->waiting;
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { End(); }

  void End() {
    if (!ended_.exchange(true)) {
      --context_->waiting;
      --context_->engine->waiting;
    }
  }

 private:
  std::shared_ptr<ContextState> context_;
  std::atomic<bool> ended_{false};
};

}  // namespace

std::string ContextGuard::Broken() const {
  if (context_->deleted) {
    return "the execution context that it was captured from was deleted";
  }
  return context_->changes == changes_
             ? ""
             : "the execution context that it was captured from has changed since";
}

bool Execution::AsksForMemory() const {
  for (const Bound& output : outputs) {
    if (output.allocator != nullptr) {
      return true;
    }
  }
  return false;
}

Code Execution::Run(Code (Execution::*what)()) {
  if (context->deleted) {
    handles::Misuse(std::string(kCall) +
                    ": the execution context was deleted before its work had run");
    return Code::kIllegalAddress;
  }
  try {
    return (this->*what)();
  } catch (const std::exception& e) {
    handles::Misuse(std::string(kCall) + ": the network cannot be executed: " + e.what());
    return Code::kLaunchFailed;
  }
}

Work Execution::Counted(Code (Execution::*what)()) {
  auto waits = std::make_shared<Waiting>(context);
  Work work;
  work.call = kCall;
  work.host = WrittenOnHost();
  work.run = [self = shared_from_this(), what, waits] {
    Code code = self->Run(what);
    waits->End();
    return code;
  };
  return work;
}

HostRange Execution::WrittenOnHost() const {
  for (const Bound& output : outputs) {
    if (output.on_host) {
      return {output.memory,
              static_cast<std::uint64_t>(Elements(output.shape)) * BytesOf(output.type)};
    }
  }
  return {};
}

Work Execution::ForGraph() {
  Work work;
  work.call = kCall;
  work.run = [self = shared_from_this()] { return self->Run(&Execution::ComputeAndWrite); };
  work.guard = std::make_shared<ContextGuard>(context);
  return work;
}

Work Execution::Whole() { return Counted(&Execution::ComputeAndWrite); }
Work Execution::FirstPart() { return Counted(&Execution::Compute); }
Work Execution::SecondPart() { return Counted(&Execution::Write); }

Code Execution::Compute() {
  if (!MarkActivations(true)) {
    return Code::kIllegalAddress;
  }
  Values values;
  for (const Bound& input : inputs) {
    if (input.host != nullptr) {
      values.push_back(input.host);
      continue;
    }
    auto bytes = static_cast<std::uint64_t>(Elements(input.shape)) * BytesOf(input.type);
    const std::byte* memory = bytes == 0 ? nullptr : Backing(input.memory, bytes, kCall);
    if (bytes > 0 && memory == nullptr) {
      return Code::kIllegalAddress;
    }
    values.push_back(std::make_shared<Value>(Value::Read(input.type, input.shape, memory)));
  }
  results_ = Evaluate(context->engine->plan.graph, values);
  return MarkActivations(false) ? Code::kSuccess : Code::kIllegalAddress;
}

Code Execution::Write() {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::size_t bytes = results_[i]->ByteSize();
    if (bytes == 0) {
      continue;
    }
    std::byte* memory = outputs[i].on_host ? static_cast<std::byte*>(outputs[i].memory)
                                           : Backing(outputs[i].memory, bytes, kCall);
    if (memory == nullptr) {
      return Code::kIllegalAddress;
    }
    results_[i]->Write(memory);
  }
  results_.clear();
  return Code::kSuccess;
}

Code Execution::ComputeAndWrite() {
  Code code = Compute();
  return code == Code::kSuccess ? Write() : code;
}

void Execution::AskForMemory(void* stream) {
  constexpr std::uint64_t kAlignment = 256;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Bound& output = outputs[i];
    if (output.allocator == nullptr) {
      continue;
    }
    std::uint64_t bytes = std::max<std::uint64_t>(results_[i]->ByteSize(), 1);
    output.memory = output.allocator->reallocateOutputAsync(output.name.c_str(), output.memory,
                                                            bytes, kAlignment, stream);
    if (output.memory == nullptr) {
      throw Refusal("the output allocator gave no memory for '" + output.name + "'");
    }
    output.allocator->notifyShape(output.name.c_str(), DimsOf(results_[i]->shape));
  }
}

bool Execution::MarkActivations(bool begin) {
  if (activation_bytes == 0) {
    return true;
  }
  const Execution* mark = this;
  std::byte* memory = Backing(activations, activation_bytes, kCall);
  if (memory == nullptr) {
    return false;
  }
  for (std::byte* at : {memory, memory + activation_bytes - sizeof(mark)}) {
    if (begin) {
      std::memcpy(at, &mark, sizeof(mark));
    } else if (std::memcmp(at, &mark, sizeof(mark)) != 0) {
      handles::Misuse(std::string(kCall) +
                      ": something else wrote into the activations of an execution that was"
                      " running");
      return false;
    }
  }
  return true;
}

}  // namespace rehearsal::trt

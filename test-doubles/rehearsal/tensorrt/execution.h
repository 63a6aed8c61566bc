// One execution: all that a context had set when it was put into a stream.
#ifndef NEREID_REHEARSAL_TENSORRT_EXECUTION_H_
#define NEREID_REHEARSAL_TENSORRT_EXECUTION_H_

#include <memory>
#include <string>
#include <vector>

#include "context.h"
#include "stream.h"

namespace rehearsal::trt {

// Where an input or output is.
struct Bound {
  int tensor = 0;
  std::string name;
  DataType type = DataType::kFloat;
  Shape shape;             // of an output that the data decide: with -1
  void* memory = nullptr;  // null: an allocator gives it
  OutputAllocatorCalls* allocator = nullptr;
  bool on_host = false;
  std::shared_ptr<const Value> host;  // of shape tensors: what they held at the call
};

// Runs on a stream's thread, more than once where it is in a graph.
class Execution : public std::enable_shared_from_this<Execution> {
 public:
  std::shared_ptr<ContextState> context;
  std::vector<Bound> inputs;
  std::vector<Bound> outputs;
  Address activations = 0;
  std::uint64_t activation_bytes = 0;

  // Whether memory for an output is asked for, for which the stream is waited for.
  [[nodiscard]] bool AsksForMemory() const;

  // All of it as one piece of work; the other one is for graphs, with a guard.
  Work Whole();
  Work ForGraph();
  // In two pieces: after the first the sizes of all outputs are known, and memory is asked for.
  Work FirstPart();
  // Throws Refusal where none is given.
  void AskForMemory(void* stream);
  Work SecondPart();

 private:
  // Work that does something, and is counted as waiting until it has run or is dropped.
  Work Counted(Code (Execution::*what)());
  // Memory of the processor that is written.
  [[nodiscard]] HostRange WrittenOnHost() const;
  // Does something unless the context has gone.
  Code Run(Code (Execution::*what)());
  Code Compute();
  Code Write();
  Code ComputeAndWrite();
  // The activations, of which the ends are written and looked at again.
  bool MarkActivations(bool begin);

  Values results_;
};

// Says whether a graph may be launched with the execution in it.
class ContextGuard final : public Guard {
 public:
  explicit ContextGuard(std::shared_ptr<const ContextState> context)
      : context_(std::move(context)), changes_(context_->changes) {}
  [[nodiscard]] std::string Broken() const override;

 private:
  std::shared_ptr<const ContextState> context_;
  std::uint64_t changes_;
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_EXECUTION_H_

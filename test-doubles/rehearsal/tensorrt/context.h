// Execution contexts: what is set in them, and how an execution gets into a stream.
#ifndef NEREID_REHEARSAL_TENSORRT_CONTEXT_H_
#define NEREID_REHEARSAL_TENSORRT_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine.h"
#include "stream.h"

namespace rehearsal::trt {

class Execution;

// What a context shares with its work in streams and with the graphs that were captured from it.
struct ContextState {
  explicit ContextState(std::shared_ptr<EngineState> of) : engine(std::move(of)) {}

  const std::shared_ptr<EngineState> engine;
  // Goes up with each change: a graph that was captured before may not be launched any more.
  std::atomic<std::uint64_t> changes{0};
  std::atomic<bool> deleted{false};
  // Work that was put into a stream and has not run, graphs apart, and that stream.
  std::atomic<int> waiting{0};
  const void* stream = nullptr;
};

class Context final : public Held, public ExecutionContextCalls {
 public:
  // Null, which is logged: there is no memory.
  static Held* New(Life* engine, std::shared_ptr<EngineState> state, bool takes_memory);

  void Delete() override;
  [[nodiscard]] std::int32_t getOptimizationProfile() const override { return profile_; }
  bool setOptimizationProfileAsync(std::int32_t profile, void* stream) override;
  bool setInputShape(const char* tensor, const Dims& dims) override;
  Dims getTensorShape(const char* tensor) const override;
  bool setTensorAddress(const char* tensor, void* memory) override;
  bool setInputTensorAddress(const char* tensor, const void* memory) override;
  bool setOutputAllocator(const char* tensor, OutputAllocatorCalls* allocator) override;
  std::int64_t getMaxOutputSize(const char* tensor) const override;
  bool enqueueV3(void* stream) override;
  void setDeviceMemoryV2(void* memory, std::int64_t bytes) override;

 private:
  Context(Life* engine, std::shared_ptr<EngineState> state);

  [[nodiscard]] const Log& log() const { return state_->engine->log; }
  [[nodiscard]] const Plan& plan() const { return state_->engine->plan; }
  [[nodiscard]] const Profile& profile() const;
  // An input or output for a call that can fail; -1: it is none, or the call shall fail.
  int BeginFor(const char* tensor, const char* call) const;
  void Change();
  bool SetAddress(const char* tensor, void* memory, const char* call);
  void CheckShape(int tensor, const Shape& shape) const;
  // What is known with what is set now.
  [[nodiscard]] std::vector<Known> Know() const;
  // The values of a shape tensor; null: nobody said where they are.
  [[nodiscard]] std::shared_ptr<const Value> HostValue(int tensor, const Shape& shape) const;
  [[nodiscard]] std::shared_ptr<Execution> Prepare() const;
  // Puts an execution into a stream. Throws Refusal.
  void Put(const std::shared_ptr<Stream>& into, const void* handle,
           const std::shared_ptr<Execution>& execution);

  Life life_;
  std::shared_ptr<ContextState> state_;
  Address own_memory_ = 0;
  std::int32_t profile_ = 0;
  std::map<int, Shape> shapes_;
  std::map<int, void*> addresses_;
  std::map<int, OutputAllocatorCalls*> allocators_;
  Address activations_ = 0;
  std::int64_t activation_bytes_ = 0;
  // Whether an execution has followed the last new shape: only then can one be captured.
  bool settled_ = false;
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_CONTEXT_H_

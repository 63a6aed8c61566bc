// Engines by the functions that callers of TensorRT have.
#ifndef NEREID_REHEARSAL_TENSORRT_TEST_ENGINE_FIXTURE_H_
#define NEREID_REHEARSAL_TENSORRT_TEST_ENGINE_FIXTURE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "fixture.h"
#include "interfaces/builder.h"
#include "interfaces/network.h"
#include "interfaces/runtime.h"

extern "C" void* createInferBuilder_INTERNAL(void* logger, std::int32_t version);
extern "C" void* createInferRuntime_INTERNAL(void* logger, std::int32_t version);

namespace rehearsal::trt {

constexpr std::int32_t kAnyVersion = REHEARSAL_TENSORRT * 10000;

struct TestLogger : LoggerCalls {
#if REHEARSAL_TENSORRT == 11
  std::int32_t getAPILanguage() const override { return 0; }
  InterfaceInfo getInterfaceInfo() const override { return {"ILogger", 1, 0}; }
  void Destruct() override {}
  void Delete() override {}
#endif
  void log(Severity severity, const char* message) override;
  // The errors since it was asked last.
  std::string Take();

  std::string errors;
};

// An object with its functions, which deletes it. Null: none was made.
template <typename Calls>
struct Owned {
  explicit Owned(void* object) : held(static_cast<Held*>(object)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { Delete(); }

  Calls* operator->() const { return static_cast<Calls*>(held->functions()); }
  void Delete() {
    if (held != nullptr && !deleted) {
      held->Delete();
    }
    deleted = true;
  }

  Held* held;
  bool deleted = false;
};

Dims DimsFor(std::initializer_list<std::int64_t> sizes);

// A plan whose FP32 output y is twice its input x, of rows of 4; a profile for each number: so many
// rows at most.
std::vector<std::byte> DoublerPlan(TestLogger* logger, const std::vector<std::int64_t>& rows);

// The doubler on device 0, with memory for its input and output of 8 rows.
struct Doubler {
  explicit Doubler(const std::vector<std::int64_t>& rows = {8});

  // Sets all that an execution needs.
  void Prepare(ExecutionContextCalls* context, std::int64_t row_count, std::int32_t profile = 0);
  void Write(float first);      // into the input, at once
  [[nodiscard]] float First();  // of the output, at once

  TestLogger logger;
  Memory input{128};
  Memory output{128};
  Memory activations{4096};
  TestStream stream;
  Owned<RuntimeCalls> runtime;
  Owned<CudaEngineCalls> engine;
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_TEST_ENGINE_FIXTURE_H_

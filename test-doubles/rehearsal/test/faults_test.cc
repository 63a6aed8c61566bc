#include <string>

#include "fixture.h"

extern "C" {
int cuInit(unsigned flags);
int cuCtxPushCurrent_v2(void* context);
int cuCtxPopCurrent_v2(void** context);
int cuMemHostUnregister(void* memory);
int cuMemAlloc_v2(rehearsal::Address* address, std::size_t bytes);
int cudaMalloc(void** memory, std::size_t bytes);
int cudaFree(void* memory);
int cudaGetLastError();
const char* cudaGetErrorName(int code);
int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream);
int cudaStreamSynchronize(void* stream);
int cudaStreamBeginCapture(void* stream, int mode);
int cudaStreamEndCapture(void* stream, void** graph);
int nvmlInit_v2();
int nvmlDeviceGetCount_v2(unsigned* count);
std::size_t rehearsal_report(char* buffer, std::size_t size);
std::size_t rehearsal_calls(char* buffer, std::size_t size);
void rehearsal_fail(const char* call, std::int64_t nth, std::int32_t code);
void rehearsal_reset();
}

namespace rehearsal {

TEST_CASE_FIXTURE(Fixture, "faults: the nth call fails with the code, and does nothing") {
  faults::Inject("a", 2, 7);
  CHECK(faults::Check("a") == 0);
  CHECK(faults::Check("b") == 0);
  CHECK(faults::Check("a") == 7);
  CHECK(faults::Check("a") == 0);
  faults::Inject("a", 0, 8);
  CHECK(faults::Check("a") == 8);
  CHECK(faults::Check("a") == 8);
  CHECK(faults::Count("a") == 5);
  CHECK(faults::Calls().find("a 5\nb 1\n") != std::string::npos);
  faults::Clear();
  CHECK(faults::Check("a") == 0);
}

TEST_CASE_FIXTURE(Fixture, "faults: a call of the runtime answers it and keeps it") {
  rehearsal_fail("cudaMalloc", 1, 2);
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 64) == 2);
  CHECK(memory == nullptr);
  CHECK(cudaGetLastError() == 2);
  CHECK(cudaGetLastError() == 0);
  CHECK(std::string(cudaGetErrorName(2)) == "cudaErrorMemoryAllocation");
  REQUIRE(cudaMalloc(&memory, 64) == 0);
  rehearsal_fail("cudaFree", 1, 700);
  CHECK(cudaFree(memory) == 700);  // it is freed
  CHECK(cudaGetLastError() == 700);
}

TEST_CASE_FIXTURE(Fixture, "faults: work that fails late breaks the device for good") {
  const Memory memory(4);
  const TestStream stream;
  int value = 1;
  rehearsal_fail("cudaMemcpyAsync~late", 1, 719);
  CHECK(cudaMemcpyAsync(memory.pointer(), &value, 4, 1, stream.handle) == 0);
  CHECK(cudaStreamSynchronize(stream.handle) == 719);
  CHECK(cudaMemcpyAsync(memory.pointer(), &value, 4, 1, stream.handle) == 719);
  CHECK(cudaGetLastError() == 719);
  CHECK(cudaGetLastError() == 719);
  rehearsal_reset();
  CHECK(cudaGetLastError() == 719);
  CHECK(cudaMemcpyAsync(memory.pointer(), &value, 4, 1, stream.handle) == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "faults: a wait that fails breaks the device, and nothing runs any more") {
  const Memory memory(4);
  const TestStream stream;
  int value = 0;
  CHECK(cudaMemcpyAsync(&value, memory.pointer(), 4, 2, stream.handle) == 0);
  rehearsal_fail("cudaStreamSynchronize", 1, 999);
  CHECK(cudaStreamSynchronize(stream.handle) == 999);
  CHECK(cudaStreamSynchronize(stream.handle) == 999);
  rehearsal_reset();
  CHECK(cudaStreamSynchronize(stream.handle) == 0);
  CHECK(value == 0);
  CHECK(cudaGetLastError() == 999);
}

TEST_CASE_FIXTURE(Fixture, "faults: memory cannot be taken in a capture, whose end takes it away") {
  const TestStream stream;
  void* memory = nullptr;
  void* graph = &memory;
  REQUIRE(cudaStreamBeginCapture(stream.handle, 1) == 0);
  CHECK(cudaMalloc(&memory, 64) == 900);
  CHECK(cudaStreamEndCapture(stream.handle, &graph) == 901);
  CHECK(graph == nullptr);
  CHECK(cudaGetLastError() == 901);
}

TEST_CASE_FIXTURE(Fixture, "calls: the driver wants cuInit first, then a context") {
  Address address = 0;
  SetContext(nullptr);
  CHECK(cuMemAlloc_v2(&address, 64) == 3);
  CHECK(cuInit(1) == 1);
  CHECK(cuInit(0) == 0);
  CHECK(cuMemAlloc_v2(&address, 64) == 201);
  CHECK(SetDevice(1) == Code::kSuccess);
  REQUIRE(cuMemAlloc_v2(&address, 64) == 0);
  Range range;
  REQUIRE(FindRange(address, &range));
  CHECK(range.device == 1);
  CHECK(Free(address, "test") == Code::kSuccess);
  CHECK(SetDevice(2) == Code::kInvalidDevice);
  CHECK(SetDevice(0) == Code::kSuccess);
}

TEST_CASE_FIXTURE(Fixture,
                  "calls: contexts are pushed, and memory is unlocked, on a broken device") {
  REQUIRE(cuInit(0) == 0);
  void* const context = ContextOf(0);
  char memory[64];
  REQUIRE(LockPages(memory, sizeof(memory), "test") == Code::kSuccess);
  Break(0, Code::kLaunchFailed);
  CHECK(cuCtxPushCurrent_v2(context) == 0);
  CHECK(cuMemHostUnregister(memory) == 719);
  void* popped = nullptr;
  CHECK(cuCtxPopCurrent_v2(&popped) == 0);
  CHECK(popped == context);
}

TEST_CASE_FIXTURE(Fixture, "calls: the management library wants its start") {
  unsigned count = 0;
  CHECK(nvmlDeviceGetCount_v2(&count) == 1);
  CHECK(nvmlInit_v2() == 0);
  CHECK(nvmlDeviceGetCount_v2(&count) == 0);
  CHECK(count == 2);
}

TEST_CASE_FIXTURE(Fixture, "report: it tells misuses, and what is left and where it is from") {
  int thing = 0;
  handles::Open(&thing, "thing", "makeThing");
  CHECK_FALSE(handles::Check(&thing, "other", "useOther"));
  CHECK(handles::Left("thing") == 1);
  char text[512];
  CHECK(rehearsal_report(text, sizeof(text)) < sizeof(text));
  const std::string report = text;
  CHECK(report.find("misuse: useOther got other") != std::string::npos);
  CHECK(report.find("left: thing") != std::string::npos);
  CHECK(report.find("of makeThing") != std::string::npos);
  CHECK(handles::Close(&thing, "thing", "endThing"));
  CHECK_FALSE(handles::Close(&thing, "thing", "endThing"));
  CHECK(handles::Report().find("which endThing has closed") != std::string::npos);
  CHECK(TakeMisuses() == 2);
  CHECK(rehearsal_calls(text, 4) > 4);
}

}  // namespace rehearsal

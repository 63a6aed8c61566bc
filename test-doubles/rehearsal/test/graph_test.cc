#include <thread>

#include "fixture.h"

namespace rehearsal {
namespace {

struct Valid : Guard {
  std::string Broken() const override { return valid ? "" : "its context was changed"; }
  bool valid = true;
};

void* Captured(const TestStream& stream, Work work) {
  REQUIRE(BeginCapture(stream.stream(), CaptureMode::kThreadLocal) == Code::kSuccess);
  CHECK(CaptureOf(*stream.stream()) == CaptureState::kActive);
  CHECK(Enqueue(stream.stream(), std::move(work)) == Code::kSuccess);
  void* graph;
  REQUIRE(EndCapture(stream.stream(), "test", &graph) == Code::kSuccess);
  void* executable;
  REQUIRE(Instantiate(graph, "test", &executable) == Code::kSuccess);
  CHECK(DestroyGraph(graph, "test") == Code::kSuccess);
  return executable;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "graphs: what was captured runs at each launch, and not before") {
  const TestStream stream;
  int count = 0;
  void* const executable = Captured(stream, Doing([&] { ++count; }));
  CHECK(Synchronize(*stream.stream()) == Code::kSuccess);
  CHECK(count == 0);
  CHECK(Launch(executable, stream.stream(), "test") == Code::kSuccess);
  CHECK(Launch(executable, stream.stream(), "test") == Code::kSuccess);
  CHECK(Synchronize(*stream.stream()) == Code::kSuccess);
  CHECK(count == 2);
  CHECK(DestroyExecutable(executable, "test") == Code::kSuccess);
  CHECK(Launch(executable, stream.stream(), "test") == Code::kInvalidValue);
  CHECK(TakeMisuses() == 1);
}

TEST_CASE_FIXTURE(Fixture, "graphs: one whose guard is broken is not launched") {
  const TestStream stream;
  const auto guard = std::make_shared<Valid>();
  int count = 0;
  Work work = Doing([&] { ++count; });
  work.guard = guard;
  void* const executable = Captured(stream, std::move(work));
  guard->valid = false;
  CHECK(Launch(executable, stream.stream(), "test") == Code::kInvalidValue);
  CHECK(Synchronize(*stream.stream()) == Code::kSuccess);
  CHECK(count == 0);
  CHECK(handles::Report().find("its context was changed") != std::string::npos);
  CHECK(TakeMisuses() == 1);
  CHECK(DestroyExecutable(executable, "test") == Code::kSuccess);
}

TEST_CASE_FIXTURE(Fixture, "captures: what is forbidden in them spoils them") {
  const TestStream stream;
  const TestEvent event;
  void* graph;
  const auto spoilt = [&](Code expected, auto call) {
    REQUIRE(BeginCapture(stream.stream(), CaptureMode::kThreadLocal) == Code::kSuccess);
    CHECK(call() == expected);
    CHECK(CaptureOf(*stream.stream()) == CaptureState::kInvalidated);
    CHECK(Enqueue(stream.stream(), Doing([] {})) == Code::kCaptureInvalidated);
    CHECK(EndCapture(stream.stream(), "test", &graph) == Code::kCaptureInvalidated);
    CHECK(graph == nullptr);
    CHECK(CaptureOf(*stream.stream()) == CaptureState::kNone);
  };
  spoilt(Code::kCaptureUnsupported, [&] { return Synchronize(*stream.stream()); });
  spoilt(Code::kCaptureUnsupported, [&] { return Query(*stream.stream()); });
  spoilt(Code::kCaptureUnsupported, [&] { return ForbiddenInCapture(); });
  spoilt(Code::kCaptureUnsupported, [&] { return SynchronizeDevice(0); });
  spoilt(Code::kCapturedEvent, [&] {
    CHECK(Record(*event.event(), stream.stream()) == Code::kSuccess);
    return Query(*event.event());
  });
  const TestStream other;
  CHECK(Record(*event.event(), other.stream()) == Code::kSuccess);
  spoilt(Code::kCaptureIsolation, [&] { return Wait(stream.stream(), *event.event()); });
}

TEST_CASE_FIXTURE(Fixture, "captures: a thread's own does not forbid anything to others") {
  const TestStream stream;
  void* graph;
  REQUIRE(BeginCapture(stream.stream(), CaptureMode::kThreadLocal) == Code::kSuccess);
  std::thread([&] {
    CHECK(ForbiddenInCapture() == Code::kSuccess);
    CHECK(EndCapture(stream.stream(), "test", &graph) == Code::kCaptureWrongThread);
  }).join();
  CHECK(EndCapture(stream.stream(), "test", &graph) == Code::kSuccess);
  CHECK(DestroyGraph(graph, "test") == Code::kSuccess);
  REQUIRE(BeginCapture(stream.stream(), CaptureMode::kGlobal) == Code::kSuccess);
  std::thread([&] { CHECK(ForbiddenInCapture() == Code::kCaptureUnsupported); }).join();
  CHECK(EndCapture(stream.stream(), "test", &graph) == Code::kCaptureInvalidated);
}

TEST_CASE_FIXTURE(Fixture,
                  "captures: neither twice, nor of the default stream, nor ended unbegun") {
  const TestStream stream;
  void* graph;
  CHECK(EndCapture(stream.stream(), "test", &graph) == Code::kIllegalState);
  CHECK(BeginCapture(FindStream(nullptr, "test"), CaptureMode::kRelaxed) ==
        Code::kCaptureUnsupported);
  REQUIRE(BeginCapture(stream.stream(), CaptureMode::kRelaxed) == Code::kSuccess);
  CHECK(BeginCapture(stream.stream(), CaptureMode::kRelaxed) == Code::kIllegalState);
  CHECK(ForbiddenInCapture() == Code::kSuccess);
  CHECK(EndCapture(stream.stream(), "test", &graph) == Code::kSuccess);
  CHECK(DestroyGraph(graph, "test") == Code::kSuccess);
}

}  // namespace rehearsal

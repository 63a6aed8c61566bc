// Tests of a model in its own process: its answers, the ways it ends, and who is told.
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "test/isolation/isolation_fixture.h"

namespace nereid::test {
namespace {

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// A file that exists as long as the object.
class Marker {
 public:
  Marker() { std::ofstream(path_).put('x'); }
  ~Marker() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("nereid-marker-" + std::to_string(getpid())))
          .string();
};

TEST_CASE("an isolated model answers as one in the process does") {
  TestRuntime runtime;
  TestModel model(Isolated(runtime, {.model = {.flags = NRD_MODEL_DYNAMIC_BATCHING}}));
  const nrd_isolation_stats stats = IsolationStats(model);
  CHECK(stats.state == NRD_ISOLATION_UP);
  CHECK(stats.restarts == 0);
  CHECK(IsAlive(stats.process));
  CHECK(stats.resident_bytes > 0);
  std::vector<TestRequest> requests;
  for (int32_t i = 0; i < 40; ++i) {
    requests.emplace_back(model, 1 + i % 4, -1 - i);
  }
  for (TestRequest& request : requests) {
    request.Submit();
  }
  for (int32_t i = 0; i < 40; ++i) {
    TestRequest& request = requests[static_cast<size_t>(i)];
    if (request->status == NRD_PENDING) {
      request.Wait();
    }
    REQUIRE(request.SubmitAndWait() == NRD_OK);
    CHECK(request.output() == std::vector<int32_t>(static_cast<size_t>(4 * (1 + i % 4)), -1 - i));
  }
}

TEST_CASE("a tensor of many megabytes goes through, and what does not fit is refused") {
  TestRuntime runtime;
  constexpr int64_t kDim = 1 << 20;
  TestModel model(
      Isolated(runtime, {.model = {.dim = kDim}, .parameters = {{"isolation_tensor_mb", "16"}}}));
  TestRequest four(model, 4, -3, kDim);
  REQUIRE(four.SubmitAndWait() == NRD_OK);
  CHECK(four.output() == std::vector<int32_t>(4 << 20, -3));
  TestRequest five(model, 5, -3, kDim);
  CHECK(five.SubmitAndWait() == NRD_RESOURCE_EXHAUSTED);
  CHECK_MESSAGE(Contains(five.message(), "isolation_tensor_mb"), five.message());
  CHECK(four.SubmitAndWait() == NRD_OK);
  CHECK(IsolationStats(model).restarts == 0);
}

TEST_CASE("a failure of the backend is told in its words, and nobody dies") {
  TestRuntime runtime;
  TestModel model(Isolated(runtime));
  CommandRequest request(model, Command::kFail, 17);
  CHECK(request.SubmitAndWait() == NRD_NOT_FOUND);
  CHECK(request.message() == "told to fail with 17");
  CHECK(IsolationStats(model).restarts == 0);
}

TEST_CASE("a request is told how the process ended that had it") {
  TestRuntime runtime;
  TestModel model(Isolated(runtime));
  CommandRequest request(model, Command::kSayAndDie);
  CHECK(request.SubmitAndWait() == NRD_UNAVAILABLE);
  CHECK_MESSAGE(Contains(request.message(), "signal 6 (Aborted)"), request.message());
  CHECK_MESSAGE(Contains(request.message(), "second line | third line | fourth line"),
                request.message());
  CommandRequest exits(model, Command::kExit, 9);
  CHECK(exits.SubmitAndWait() == NRD_UNAVAILABLE);
  CHECK_MESSAGE(Contains(exits.message(), "ended by itself with status 9"), exits.message());
  TestRequest next(model, 1, -5);
  CHECK(next.SubmitAndWait() == NRD_OK);
  CHECK(IsolationStats(model).restarts == 2);
  CHECK(IsolationStats(model).deaths_in_a_row == 0);
}

TEST_CASE("lines that a process writes are in the log") {
  static Mutex* const mutex = new Mutex;
  static std::string* const log = new std::string;
  nrd_runtime_options options{};
  options.log = [](void*, int32_t, const char* message, uint64_t size) {
    const MutexLock lock(*mutex);
    *log += std::string(message, size) + "\n";
  };
  TestRuntime runtime(0, options);
  TestModel model(Isolated(runtime));
  CommandRequest request(model, Command::kSayAndDie);
  CHECK(request.SubmitAndWait() == NRD_UNAVAILABLE);
  CHECK(TestRequest(model, 1, -5).SubmitAndWait() == NRD_OK);
  const MutexLock lock(*mutex);
  for (const char* const line : {"first line", "second line", "fourth line"}) {
    CHECK_MESSAGE(Contains(*log, std::string("isolated model 'm': says: ") + line + "\n"), *log);
  }
}

TEST_CASE("requests that wait when a process dies run in the next one") {
  TestRuntime runtime;
  TestModel model(Isolated(runtime, {.model = {.max_batch_size = 1}}));
  for (int round = 0; round < 10; ++round) {
    CommandRequest deadly(model, Command::kSegfault);
    std::vector<TestRequest> waiting;
    deadly.Submit();
    for (int32_t i = 0; i < 8; ++i) {
      waiting.emplace_back(model, 1, -2 - i).Submit();
    }
    CHECK(deadly.Wait() == NRD_UNAVAILABLE);
    for (int32_t i = 0; i < 8; ++i) {
      TestRequest& request = waiting[static_cast<size_t>(i)];
      CHECK(request.Wait() == NRD_OK);
      CHECK(request.output() == std::vector<int32_t>(4, -2 - i));
    }
  }
}

TEST_CASE("a process that gives no answer is killed at the limit") {
  TestRuntime runtime;
  TestModel model(Isolated(
      runtime, {.parameters = {{"isolation_timeout_ms", "50"}, {"isolation_deaths", "1000000"}}}));
  for (const Command command : {Command::kHang, Command::kCloseAll}) {
    CommandRequest request(model, command);
    CHECK(request.SubmitAndWait() == NRD_UNAVAILABLE);
    CHECK_MESSAGE(Contains(request.message(), "no answer within isolation_timeout_ms, 50 ms"),
                  request.message());
    TestRequest next(model, 1, -1);
    CHECK(RunWithinLimit(next) == NRD_OK);
  }
}

TEST_CASE("a model whose processes die in a row is given up, with the reason") {
  TestRuntime runtime;
  TestModel model(Isolated(runtime, {.parameters = {{"isolation_deaths", "3"}}}));
  for (int i = 0; i < 3; ++i) {
    CommandRequest request(model, Command::kAbort);
    CHECK(request.SubmitAndWait() == NRD_UNAVAILABLE);
  }
  TestRequest next(model);
  CHECK(next.SubmitAndWait() == NRD_UNAVAILABLE);
  CHECK_MESSAGE(Contains(next.message(), "3 times in a row"), next.message());
  CHECK(IsolationStats(model).state == NRD_ISOLATION_FAILED);
  CHECK_MESSAGE(Contains(LastEnd(model), "signal 6 (Aborted)"), LastEnd(model));
}

TEST_CASE("a process that cannot load the model again counts as one that died") {
  TestRuntime runtime;
  std::filesystem::path gone;
  for (const char* const how : {"dies_with", "fails_with"}) {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("nereid-late-" + std::to_string(getpid())))
            .string();
    TestModel model(Isolated(runtime, {.parameters = {{"isolation_deaths", "3"}, {how, path}}}));
    std::ofstream(path).put('x');
    CHECK(CommandRequest(model, Command::kKill).SubmitAndWait() == NRD_UNAVAILABLE);
    TestRequest next(model);
    CHECK(next.SubmitAndWait() == NRD_UNAVAILABLE);
    CHECK_MESSAGE(Contains(next.message(), "weights"), next.message());
    std::filesystem::remove(path);
  }
}

TEST_CASE("a model that cannot be opened says why") {
  TestRuntime runtime;
  const Marker marker;
  nrd_model* model = nullptr;
  const Status dies = LoadIsolated(runtime, {.parameters = {{"dies_with", marker.path()}}}, &model);
  CHECK(dies.code() == NRD_UNAVAILABLE);
  CHECK_MESSAGE(Contains(dies.message(), "status 3; its last lines: no weights in the file"),
                std::string(dies.message()));
  const Status fails =
      LoadIsolated(runtime, {.parameters = {{"fails_with", marker.path()}}}, &model);
  CHECK(fails.code() == NRD_INVALID_ARGUMENT);
  CHECK(fails.message() == "the file has no weights");
  const Status hangs = LoadIsolated(
      runtime, {.parameters = {{"hangs_with", marker.path()}, {"isolation_load_ms", "50"}}},
      &model);
  CHECK(hangs.code() == NRD_UNAVAILABLE);
  CHECK_MESSAGE(Contains(hangs.message(), "longer than isolation_load_ms"),
                std::string(hangs.message()));
  const Status none = LoadIsolated(runtime, {.child = "/nowhere/nereid-child"}, &model);
  CHECK(none.code() == NRD_FAILED_PRECONDITION);
  CHECK_MESSAGE(Contains(none.message(), "cannot execute /nowhere/nereid-child"),
                std::string(none.message()));
  const Status data = LoadIsolated(runtime, {.child = marker.path()}, &model);
  CHECK_MESSAGE(Contains(data.message(), "noexec"), std::string(data.message()));
  const Status number =
      LoadIsolated(runtime, {.parameters = {{"isolation_timeout_ms", "soon"}}}, &model);
  CHECK(number.code() == NRD_INVALID_ARGUMENT);
  CHECK_MESSAGE(Contains(number.message(), "isolation_timeout_ms is 'soon'"),
                std::string(number.message()));
}

TEST_CASE("a process ends with its model, and leaves nothing") {
  TestRuntime runtime;
  TestModel(Isolated(runtime)).Release();  // creates everything that is created only once
  const Belongings before = CountBelongings();
  for (int i = 0; i < 5; ++i) {
    TestModel model(Isolated(runtime, {.model = {.instance_count = 3}}));
    const int32_t process = IsolationStats(model).process;
    CHECK(TestRequest(model, 1, -1).SubmitAndWait() == NRD_OK);
    if (i % 2 == 1) {
      kill(process, SIGSTOP);  // a stopped process ignores the request to end
    }
    model.Release();
    CHECK_FALSE(IsAlive(process));
  }
  CheckNothingLeft(before);
}

TEST_CASE("a process that ends while nobody asks is replaced") {
  TestRuntime runtime;
  TestModel model(Isolated(runtime, {.model = {.instance_count = 2}}));
  for (int i = 0; i < 4; ++i) {
    kill(IsolationStats(model).process, SIGKILL);
    while (IsolationStats(model).restarts != static_cast<uint64_t>(i) + 1) {
      usleep(1000);
    }
    TestRequest request(model, 1, -1);
    CHECK(request.SubmitAndWait() == NRD_OK);
  }
}

TEST_CASE("models of a group share a process, and its end") {
  TestRuntime runtime;
  TestModel alone(Isolated(runtime));
  const auto member = [&](const char* name) {
    return Isolated(runtime, {.model = {.name = name}, .parameters = {{"isolation.group", "g"}}});
  };
  TestModel(member("once")).Release();
  const Belongings before = CountBelongings();
  for (int round = 0; round < 3; ++round) {
    TestModel first(member("first"));
    TestModel second(member("second"));
    for (uint64_t deaths = 1; deaths <= 3; ++deaths) {
      CHECK(IsolationStats(first).process == IsolationStats(second).process);
      CHECK(IsolationStats(first).process != IsolationStats(alone).process);
      CommandRequest deadly(deaths % 2 == 0 ? first : second, Command::kKill);
      CHECK(deadly.SubmitAndWait() == NRD_UNAVAILABLE);
      CHECK_MESSAGE(Contains(deadly.message(), "signal 9"), deadly.message());
      while (IsolationStats(first).restarts != deaths ||
             IsolationStats(second).restarts != deaths) {
        usleep(1000);
      }
      for (TestModel* const model : {&first, &second, &alone}) {
        TestRequest request(*model, 1, -1);
        CHECK_MESSAGE(request.SubmitAndWait() == NRD_OK, request.message());
      }
    }
    const int32_t process = IsolationStats(second).process;
    first.Release();
    CHECK(IsAlive(process));
    CHECK(TestRequest(second, 1, -1).SubmitAndWait() == NRD_OK);
    second.Release();
    CHECK_FALSE(IsAlive(process));
  }
  CheckNothingLeft(before);
  CHECK(IsolationStats(alone).restarts == 0);
}

// Sends `command` and returns the text of the failure.
std::string Told(TestModel& model, Command command) {
  CommandRequest request(model, command);
  CHECK(request.SubmitAndWait() == NRD_NOT_FOUND);
  return std::string(request.message());
}

TEST_CASE("a process has no way to the memory, descriptors or signals of the one that started it") {
  const long landlock = syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  if (landlock < 2) {
    MESSAGE("skipped: this system has no Landlock, or an early one");
    return;
  }
  TestRuntime runtime;
  TestModel model(Isolated(runtime));
  CHECK(Told(model, Command::kReachParent) == (landlock < 6 ? "ways: signals" : "ways:"));
}

TEST_CASE("a process moves files between directories") {
  TestRuntime runtime;
  const Marker marker;
  const std::filesystem::path directory = marker.path() + ".d";
  std::filesystem::create_directory(directory);
  TestModel model(Isolated(runtime, {.parameters = {{"moves", marker.path()}}}));
  CHECK(std::filesystem::remove_all(directory) == 2);
}

// The processors of this process, and the first processor that it may not use.
struct Processors {
  std::vector<std::string> own;
  std::string foreign;
};

Processors FindProcessors() {
  Processors found;
  cpu_set_t usable;
  REQUIRE(sched_getaffinity(0, sizeof(usable), &usable) == 0);
  for (size_t i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &usable)) {
      found.own.push_back(std::to_string(i));
    } else if (found.foreign.empty()) {
      found.foreign = std::to_string(i);
    }
  }
  return found;
}

TEST_CASE("a process runs on the processors that its model names, and so does the next") {
  TestRuntime runtime;
  const auto [own, foreign] = FindProcessors();
  const std::string last = own.back();
  TestModel model(Isolated(runtime, {.parameters = {{"isolation_cpus", last + "," + foreign}}}));
  CHECK(Told(model, Command::kTellProcessors) == "processors " + last);
  CHECK(CommandRequest(model, Command::kKill).SubmitAndWait() == NRD_UNAVAILABLE);
  CHECK(Told(model, Command::kTellProcessors) == "processors " + last);
  std::string all = "processors";
  for (const std::string& each : own) {
    all += " " + each;
  }
  for (const char* const list : {"0-1023", "0-1023:2,1-1023:2", "512-1023,0-511"}) {
    TestModel free(Isolated(runtime, {.parameters = {{"isolation_cpus", list}}}));
    CHECK(Told(free, Command::kTellProcessors) == all);
  }
  // The model that starts a group's process reports it.
  TestModel starts(
      Isolated(runtime, {.model = {.name = "first"},
                         .parameters = {{"isolation.group", "cpus"}, {"isolation_cpus", last}}}));
  TestModel joins(Isolated(
      runtime, {.model = {.name = "second"}, .parameters = {{"isolation.group", "cpus"}}}));
  CHECK(IsolationStats(starts).process == IsolationStats(joins).process);
  CHECK(Told(starts, Command::kTellProcessors) == "processors " + last);
  CHECK(Told(joins, Command::kTellProcessors) == "processors " + last);
}

TEST_CASE("a list of processors that is none, or of none that there are, is refused") {
  TestRuntime runtime;
  const auto refusal = [&](const std::string& list) {
    nrd_model* model = nullptr;
    const Status status = LoadIsolated(runtime, {.parameters = {{"isolation_cpus", list}}}, &model);
    CHECK(status.code() == NRD_INVALID_ARGUMENT);
    return std::string(status.message());
  };
  for (const char* const list :
       {"", "all", "1-", "3-1", "0,", "-1", "0 1", "0-3:0", "0-1024", "0:2", "99999999999"}) {
    CHECK(refusal(list) == "parameter isolation_cpus is '" + std::string(list) +
                               "', expected a list of processors below 1024 such as '0-3,7'");
  }
  const std::string none = refusal(FindProcessors().foreign);
  CHECK_MESSAGE(Contains(none, "none of which this process may use, expected some of "), none);
}

TEST_CASE("only an isolated model has a process") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend);
  nrd_isolation_stats stats{};
  CHECK(nrd_model_isolation_read(model.get(), &stats, nullptr) == NRD_NOT_FOUND);
  CHECK(stats.process == 0);
  nrd_backend table{};
  nrd_error error{};
  CHECK(nrd_backend_isolate(runtime.get(), "tensorrt", 8, &table, &error) == NRD_NOT_FOUND);
}

}  // namespace
}  // namespace nereid::test

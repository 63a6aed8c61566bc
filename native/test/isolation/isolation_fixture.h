// Fixtures of the tests of isolated models.
#ifndef NEREID_TEST_ISOLATION_FIXTURE_H_
#define NEREID_TEST_ISOLATION_FIXTURE_H_

#include <string>
#include <utility>
#include <vector>

#include "test/core/core_fixture.h"
#include "test/isolation/commands.h"

namespace nereid::test {

struct IsolationSettings {
  ModelSettings model = {};
  // "triton": the child's backend answers requests one by one.
  std::string backend = "identity";
  std::string child = NEREID_COMMANDED_CHILD_PATH;
  std::vector<std::pair<std::string, std::string>> parameters = {};
};

Status LoadIsolated(TestRuntime& runtime, const IsolationSettings& settings, nrd_model** model_out);

// Submits again while the machine is too slow for the model's limit; returns the status.
int32_t RunWithinLimit(TestRequest& request);

// Loads the model, or fails the test.
nrd_model* Isolated(TestRuntime& runtime, const IsolationSettings& settings = {});

nrd_isolation_stats IsolationStats(TestModel& model);
// Tells how the last process ended.
std::string LastEnd(TestModel& model);

// A request whose first row is a command.
class CommandRequest : public TestRequest {
 public:
  CommandRequest(TestModel& model, Command command, int32_t argument = 0);
};

// Descriptors, threads and children of this process that a leak would add to.
struct Belongings {
  size_t descriptors = 0;
  size_t threads = 0;
  size_t children = 0;
};
Belongings CountBelongings();
// Checks that there is no more than before, once threads that ended have left.
void CheckNothingLeft(const Belongings& before);

bool IsAlive(int32_t process);

}  // namespace nereid::test

#endif  // NEREID_TEST_ISOLATION_FIXTURE_H_

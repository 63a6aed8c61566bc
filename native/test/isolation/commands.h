// The first two elements of a request tell the backend of a commanded child what to do.
#ifndef NEREID_TEST_ISOLATION_COMMANDS_H_
#define NEREID_TEST_ISOLATION_COMMANDS_H_

#include <cstdint>

namespace nereid::test {

enum class Command : int32_t {
  kCopy = 0,
  kSegfault,
  kAbort,
  kExit,  // argument: the status
  kKill,  // SIGKILL, as for lack of memory
  kOverflowStack,
  kEatMemory,   // until there is none
  kWriteInput,  // which is not its own
  kHang,
  kCloseAll,        // its descriptors, then it hangs
  kFork,            // something that writes into shared memory, then it dies
  kSayAndDie,       // lines on standard error
  kFail,            // with a status
  kScribble,        // argument: seed; over all shared memory it may write, while it answers
  kWildRecords,     // argument: seed; records that are almost right
  kTellProcessors,  // that it may run on, as a failure
  kReachParent,     // tells the ways that it found, in the same way
  kCount
};

}  // namespace nereid::test

#endif  // NEREID_TEST_ISOLATION_COMMANDS_H_

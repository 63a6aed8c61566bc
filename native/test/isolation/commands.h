// Commands for the backend of a commanded child: the first two elements of a request.
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
  kEatMemory,   // until none is left
  kWriteInput,  // an input is not the child's to write
  kHang,
  kCloseAll,        // closes its descriptors, then hangs
  kFork,            // forks a process that writes into shared memory, then dies
  kSayAndDie,       // writes lines on standard error, then dies
  kFail,            // fails with the given status
  kScribble,        // argument: seed; writes over all writable shared memory while it answers
  kWildRecords,     // argument: seed; records that are almost right
  kTellProcessors,  // fails with a text that names the processors it may run on
  kReachParent,     // fails with a text that names the ways it found to the parent
  kCount
};

}  // namespace nereid::test

#endif  // NEREID_TEST_ISOLATION_COMMANDS_H_

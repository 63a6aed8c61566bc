#ifndef NEREID_REHEARSAL_COPY_H_
#define NEREID_REHEARSAL_COPY_H_

#include <cstdint>
#include <memory>

#include "codes.h"
#include "stream.h"

namespace rehearsal {

// As cudaMemcpyKind has them.
enum class Direction : int {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kAsAddressesTell = 4,
};

// Puts a copy into a stream, which takes the bytes when it runs. kInvalidValue: an address is not
// where the direction says, or a range is not in one live allocation.
Code Copy(const std::shared_ptr<Stream>& stream, void* to, const void* from, std::uint64_t bytes,
          Direction direction, const char* call);

// The same, and waits for it.
Code CopyNow(const std::shared_ptr<Stream>& stream, void* to, const void* from, std::uint64_t bytes,
             Direction direction, const char* call);

// Bytes that copies between such places have moved so far: of all but kAsAddressesTell.
std::uint64_t Copied(Direction direction);

// Fills memory of a device with a byte.
Code Fill(const std::shared_ptr<Stream>& stream, void* to, int value, std::uint64_t bytes,
          const char* call);

}  // namespace rehearsal

#endif  // NEREID_REHEARSAL_COPY_H_

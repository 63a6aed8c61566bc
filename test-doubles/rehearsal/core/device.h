#ifndef NEREID_REHEARSAL_DEVICE_H_
#define NEREID_REHEARSAL_DEVICE_H_

#include <cstddef>
#include <cstdint>

#include "codes.h"

// Devices and their memory. A device's memory has addresses that the processor cannot reach: pages
// without any right. Its bytes lie in a file in memory, which is mapped once more elsewhere; only
// Backing tells where. Addresses are never given out twice, so use after release is always seen.
// All of this may be called from any thread.
//
// REHEARSAL_DEVICES: how many devices there are, 2 unless said. REHEARSAL_MEMORY: bytes of each
// device, one number for all or one for each, with commas between.
namespace rehearsal {

using Address = std::uint64_t;

int DeviceCount();

// What each says it is called, so that nobody takes it for a GPU.
constexpr const char* kDeviceName = "Nereid's rehearsal, no GPU";

// The compute capability of each: what plans are built for.
constexpr int kComputeCapability[] = {8, 6};

// The calling thread's device: that of its context, 0 where none was chosen. SetDevice makes the
// device's primary context current, as cudaSetDevice does.
int CurrentDevice();
Code SetDevice(int device);

// The calling thread's contexts. A device has one context, the primary; its handle is not null.
void* ContextOf(int device);
int DeviceOfContext(const void* context);  // -1: it is none
void* CurrentContext();                    // null: none
void SetContext(void* context);
void PushContext(void* context);
void* PopContext();  // null: there was none

struct MemoryInfo {
  std::uint64_t free;
  std::uint64_t total;
};

MemoryInfo MemoryOf(int device);

// Changes how many bytes a device has; what is allocated stays. For tests.
void LimitMemory(int device, std::uint64_t bytes);

// Memory on a device, aligned to 512 bytes; its contents are arbitrary. kOutOfMemory: the device
// has no more. `call` is named in the table of handles.
Code Allocate(int device, std::uint64_t bytes, const char* call, Address* address);

// Waits for all work of the device, as cudaFree does, and gives the memory back.
Code Free(Address address, const char* call);

// Where the bytes of a range lie for the processor. Null, with a misuse recorded: the range does
// not lie in one live allocation. To be asked when the work runs, not when it is put into a stream.
std::byte* Backing(Address address, std::uint64_t bytes, const char* call);
std::byte* Backing(const void* address, std::uint64_t bytes, const char* call);

// Whether an address belongs to devices at all, live or not.
bool IsOnDevice(Address address);

// The live allocation that an address points into; false: there is none.
struct Range {
  Address base;
  std::uint64_t bytes;
  int device;
};
bool FindRange(Address address, Range* range);

// ---- Memory that processes share ----------------------------------------------------------------

struct IpcHandle {
  std::byte bytes[64];
};

Code ExportIpc(Address address, const char* call, IpcHandle* handle);
// Again for the same handle: the same address, to be closed as often.
Code OpenIpc(int device, const IpcHandle& handle, const char* call, Address* address);
Code CloseIpc(Address address, const char* call);

// ---- Page-locked memory of the processor --------------------------------------------------------

Code AllocateHost(std::uint64_t bytes, const char* call, void** memory);
Code FreeHost(void* memory, const char* call);
Code LockPages(void* memory, std::uint64_t bytes, const char* call);
Code UnlockPages(void* memory, const char* call);

// ---- A device that is broken --------------------------------------------------------------------

// An error of work that ran late stays: all calls answer it until the process ends, as CUDA's do.
void Break(int device, Code code);
Code Broken(int device);  // kSuccess: it is not
// All are whole again, and what was in streams of broken ones is dropped; for tests.
void Mend();

}  // namespace rehearsal

#endif  // NEREID_REHEARSAL_DEVICE_H_

#ifndef NEREID_REHEARSAL_STREAM_H_
#define NEREID_REHEARSAL_STREAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "codes.h"

// Streams, events and graphs. Each stream has a thread of its own that runs its work in order. Work
// is late: it begins when somebody waits for or asks after any work, or when some milliseconds have
// passed, so who reads a result without waiting finds what was there before. REHEARSAL_HOLD_MS says
// how many, 20 unless said.
// All of this may be called from any thread.
namespace rehearsal {

class Stream;
class Event;
class Graph;       // captured, can be instantiated
class Executable;  // instantiated, can be launched

// Says whether what was captured may still be launched: it is asked at each launch.
class Guard {
 public:
  virtual ~Guard() = default;
  // Why not, as a sentence; empty: it may.
  virtual std::string Broken() const = 0;
};

// The processor's memory that work reads or writes when it runs: who page-unlocks or frees it
// before is found out.
struct HostRange {
  const void* memory = nullptr;
  std::uint64_t bytes = 0;
};

// A piece of work, which may run more than once when it is captured.
struct Work {
  // The call that put it there, as exported.
  const char* call = "";
  // Runs on the stream's thread. A code other than kSuccess breaks the device.
  std::function<Code()> run;
  // For work in a graph; may be null.
  std::shared_ptr<const Guard> guard;
  HostRange host;
};

// ---- Streams ------------------------------------------------------------------------------------

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

// The handle is what cudaStream_t and CUstream are. Made on the calling thread's device.
Code CreateStream(bool blocking, int priority, const char* call, void** handle);
Code DestroyStream(void* handle, const char* call);

// A stream by its handle; 0 and 1 are the default one of the calling thread's device, the
// "legacy" one of CUDA's documentation. Null,
// with a misuse recorded: there is none.
std::shared_ptr<Stream> FindStream(const void* handle, const char* call);

int DeviceOf(const Stream& stream);
int PriorityOf(const Stream& stream);

// Puts work into a stream, or into the graph that is captured from it. kCaptureInvalidated: the
// capture was spoilt before.
Code Enqueue(const std::shared_ptr<Stream>& stream, Work work);

// Waits until the stream has done all; answers what broke the device. While it is captured this is
// forbidden and spoils the capture.
Code Synchronize(Stream& stream);
Code Query(Stream& stream);  // kNotReady: there is work
Code SynchronizeDevice(int device);
// Without a look at captures: what the freeing of memory does.
void Drain(int device);
// Waits only for the work that runs just now.
void AwaitRunning(int device);

// Whether work that has not run uses some of this memory of the processor.
bool IsInUse(const void* memory, std::uint64_t bytes);

// ---- Events -------------------------------------------------------------------------------------

// Made on the calling thread's device, of whose streams it records.
Code CreateEvent(bool timing, const char* call, void** handle);
Code DestroyEvent(void* handle, const char* call);
std::shared_ptr<Event> FindEvent(const void* handle, const char* call);

Code Record(Event& event, const std::shared_ptr<Stream>& stream);
Code Wait(const std::shared_ptr<Stream>& stream, Event& event);  // the stream waits, not the caller
Code Synchronize(Event& event);
Code Query(Event& event);
Code Elapsed(const Event& start, const Event& end, float* milliseconds);

// ---- Graphs -------------------------------------------------------------------------------------

enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
enum class CaptureState : int { kNone = 0, kActive = 1, kInvalidated = 2 };

Code BeginCapture(const std::shared_ptr<Stream>& stream, CaptureMode mode);
// The handle is null unless it succeeds.
Code EndCapture(const std::shared_ptr<Stream>& stream, const char* call, void** graph);
CaptureState CaptureOf(const Stream& stream);

// For calls that are forbidden while the calling thread captures, such as those that allocate:
// kCaptureUnsupported, and the capture is spoilt.
Code ForbiddenInCapture();

Code DestroyGraph(void* graph, const char* call);
Code Instantiate(void* graph, const char* call, void** executable);
// kInvalidValue, with a misuse recorded: a guard of its work says that it may not run any more.
Code Launch(void* executable, const std::shared_ptr<Stream>& stream, const char* call);
Code DestroyExecutable(void* executable, const char* call);

}  // namespace rehearsal

#endif  // NEREID_REHEARSAL_STREAM_H_

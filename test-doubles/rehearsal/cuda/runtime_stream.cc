// libcudart.so: streams, events and graphs.
#include "runtime.h"
#include "stream.h"

namespace runtime = rehearsal::runtime;
using rehearsal::Code;

namespace {

constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kEventDisableTiming = 2;

// A call with an event, which is given to the body.
template <typename Body>
int CallOnEvent(const char* call, const void* event, Body&& body) {
  return runtime::Call(call, [&] {
    const auto found = rehearsal::FindEvent(event, call);
    return found == nullptr ? Code::kInvalidHandle : body(*found);
  });
}

}  // namespace

// ---- Streams ------------------------------------------------------------------------------------

REHEARSAL_API int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return runtime::Call("cudaStreamCreateWithFlags", [&] {
    return rehearsal::CreateStream((flags & kStreamNonBlocking) == 0, 0,
                                   "cudaStreamCreateWithFlags", stream);
  });
}

REHEARSAL_API int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return runtime::Call("cudaStreamCreateWithPriority", [&] {
    return rehearsal::CreateStream((flags & kStreamNonBlocking) == 0, priority,
                                   "cudaStreamCreateWithPriority", stream);
  });
}

REHEARSAL_API int cudaStreamDestroy(void* stream) {
  return runtime::End("cudaStreamDestroy",
                      [&] { return rehearsal::DestroyStream(stream, "cudaStreamDestroy"); });
}

REHEARSAL_API int cudaStreamSynchronize(void* stream) {
  return runtime::Told(rehearsal::Waited("cudaStreamSynchronize", [&] {
    const auto found = rehearsal::FindStream(stream, "cudaStreamSynchronize");
    return found == nullptr ? Code::kInvalidHandle : rehearsal::Synchronize(*found);
  }));
}

REHEARSAL_API int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  return runtime::CallOnStream("cudaStreamWaitEvent", stream, [&](const auto& found) {
    const auto waited = rehearsal::FindEvent(event, "cudaStreamWaitEvent");
    return waited == nullptr ? Code::kInvalidHandle : rehearsal::Wait(found, *waited);
  });
}

REHEARSAL_API int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  return runtime::CallOnStream("cudaLaunchHostFunc", stream, [&](const auto& found) {
    rehearsal::Work work;
    work.call = "cudaLaunchHostFunc";
    work.run = [=] {
      function(argument);
      return Code::kSuccess;
    };
    return rehearsal::Enqueue(found, std::move(work));
  });
}

// ---- Events -------------------------------------------------------------------------------------

REHEARSAL_API int cudaEventCreateWithFlags(void** event, unsigned flags) {
  return runtime::Call("cudaEventCreateWithFlags", [&] {
    return rehearsal::CreateEvent((flags & kEventDisableTiming) == 0, "cudaEventCreateWithFlags",
                                  event);
  });
}

REHEARSAL_API int cudaEventDestroy(void* event) {
  return runtime::End("cudaEventDestroy",
                      [&] { return rehearsal::DestroyEvent(event, "cudaEventDestroy"); });
}

REHEARSAL_API int cudaEventRecord(void* event, void* stream) {
  return CallOnEvent("cudaEventRecord", event, [&](rehearsal::Event& found) {
    const auto recorded = rehearsal::FindStream(stream, "cudaEventRecord");
    return recorded == nullptr ? Code::kInvalidHandle : rehearsal::Record(found, recorded);
  });
}

REHEARSAL_API int cudaEventQuery(void* event) {
  return CallOnEvent("cudaEventQuery", event,
                     [](rehearsal::Event& found) { return rehearsal::Query(found); });
}

REHEARSAL_API int cudaEventSynchronize(void* event) {
  return runtime::Told(rehearsal::Waited("cudaEventSynchronize", [&] {
    const auto found = rehearsal::FindEvent(event, "cudaEventSynchronize");
    return found == nullptr ? Code::kInvalidHandle : rehearsal::Synchronize(*found);
  }));
}

REHEARSAL_API int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  return CallOnEvent("cudaEventElapsedTime", start, [&](rehearsal::Event& first) {
    const auto last = rehearsal::FindEvent(end, "cudaEventElapsedTime");
    return last == nullptr ? Code::kInvalidHandle : rehearsal::Elapsed(first, *last, milliseconds);
  });
}

// ---- Graphs -------------------------------------------------------------------------------------

REHEARSAL_API int cudaStreamBeginCapture(void* stream, int mode) {
  return runtime::CallOnStream("cudaStreamBeginCapture", stream, [&](const auto& found) {
    return mode < 0 || mode > static_cast<int>(rehearsal::CaptureMode::kRelaxed)
               ? Code::kInvalidValue
               : rehearsal::BeginCapture(found, static_cast<rehearsal::CaptureMode>(mode));
  });
}

REHEARSAL_API int cudaStreamEndCapture(void* stream, void** graph) {
  *graph = nullptr;
  return runtime::End("cudaStreamEndCapture", [&] {
    const auto found = rehearsal::FindStream(stream, "cudaStreamEndCapture");
    return found == nullptr ? Code::kInvalidHandle
                            : rehearsal::EndCapture(found, "cudaStreamEndCapture", graph);
  });
}

REHEARSAL_API int cudaGraphInstantiate(void** executable, void* graph, unsigned long long) {
  return runtime::Call("cudaGraphInstantiate", [&] {
    return rehearsal::Instantiate(graph, "cudaGraphInstantiate", executable);
  });
}

REHEARSAL_API int cudaGraphLaunch(void* executable, void* stream) {
  return runtime::CallOnStream("cudaGraphLaunch", stream, [&](const auto& found) {
    return rehearsal::Launch(executable, found, "cudaGraphLaunch");
  });
}

REHEARSAL_API int cudaGraphDestroy(void* graph) {
  return runtime::End("cudaGraphDestroy",
                      [&] { return rehearsal::DestroyGraph(graph, "cudaGraphDestroy"); });
}

REHEARSAL_API int cudaGraphExecDestroy(void* executable) {
  return runtime::End("cudaGraphExecDestroy", [&] {
    return rehearsal::DestroyExecutable(executable, "cudaGraphExecDestroy");
  });
}

#include <utility>

#include "device.h"
#include "handles.h"
#include "stream.h"
#include "stream_state.h"

namespace rehearsal {
namespace {

constexpr const char* kEvent = "event";

// An event of a capture cannot be asked, and who does spoils the capture.
Code AdmitQuestion(const Event& event) {
  if (event.captured == nullptr) {
    return Code::kSuccess;
  }
  Spoil(const_cast<Capture*>(event.captured.get()));
  return Code::kCapturedEvent;
}

bool IsDone(const Event& event) {
  return event.recording == nullptr ||
         event.recording->ticket.stream->completed >= event.recording->ticket.number;
}

}  // namespace

Code CreateEvent(bool timing, const char* call, void** handle) {
  auto event = std::make_shared<Event>(CurrentDevice(), timing);
  *handle = event.get();
  handles::Open(event.get(), kEvent, call, event);
  return Code::kSuccess;
}

Code DestroyEvent(void* handle, const char* call) {
  return handles::Close(handle, kEvent, call) ? Code::kSuccess : Code::kInvalidHandle;
}

std::shared_ptr<Event> FindEvent(const void* handle, const char* call) {
  return handles::Find<Event>(handle, kEvent, call);
}

Code Record(Event& event, const std::shared_ptr<Stream>& stream) {
  Streams& streams = TheStreams();
  const Lock lock(streams.mutex);
  if (event.device != stream->device) {
    handles::Misuse("cudaEventRecord got an event and a stream of two devices");
    return Code::kInvalidHandle;
  }
  const Code code = Admit(streams, *stream);
  if (code != Code::kSuccess) {
    return code;
  }
  if (stream->capture != nullptr) {
    event.captured = stream->capture;
    return Code::kSuccess;
  }
  auto recording = std::make_shared<Recording>();
  Work work;
  work.call = "cudaEventRecord";
  work.run = [recording] {
    const Lock inner(TheStreams().mutex);
    recording->at = Clock::now();
    return Code::kSuccess;
  };
  recording->ticket = {stream, Append(streams, stream, std::move(work), {})};
  event.recording = std::move(recording);
  event.captured = nullptr;
  return Code::kSuccess;
}

Code Wait(const std::shared_ptr<Stream>& stream, Event& event) {
  Streams& streams = TheStreams();
  const Lock lock(streams.mutex);
  const Code code = Admit(streams, *stream);
  if (code != Code::kSuccess) {
    return code;
  }
  if (event.captured != nullptr || stream->capture != nullptr) {
    if (event.captured == stream->capture) {
      return Code::kSuccess;  // it is in order there already
    }
    Spoil(stream->capture.get());
    return Code::kCaptureIsolation;
  }
  if (!IsDone(event)) {
    Work work;
    work.call = "cudaStreamWaitEvent";
    Append(streams, stream, std::move(work), {event.recording->ticket});
  }
  return Code::kSuccess;
}

Code Synchronize(Event& event) {
  Streams& streams = TheStreams();
  Lock lock(streams.mutex);
  const Code code = AdmitQuestion(event);
  if (code != Code::kSuccess || event.recording == nullptr) {
    return code;
  }
  const Ticket ticket = event.recording->ticket;
  Await(streams, lock, *ticket.stream, ticket.number);
  return Broken(ticket.stream->device);
}

Code Query(Event& event) {
  Streams& streams = TheStreams();
  const Lock lock(streams.mutex);
  const Code code = AdmitQuestion(event);
  if (code != Code::kSuccess || event.recording == nullptr) {
    return code;
  }
  const Ticket& ticket = event.recording->ticket;
  if (!IsDone(event)) {
    Demand(*ticket.stream, ticket.number);
    streams.changed.notify_all();
    return Code::kNotReady;
  }
  return Broken(ticket.stream->device);
}

Code Elapsed(const Event& start, const Event& end, float* milliseconds) {
  const Lock lock(TheStreams().mutex);
  if (!start.timing || !end.timing || start.recording == nullptr || end.recording == nullptr) {
    return Code::kInvalidHandle;
  }
  if (!IsDone(start) || !IsDone(end)) {
    return Code::kNotReady;
  }
  *milliseconds =
      std::chrono::duration<float, std::milli>(end.recording->at - start.recording->at).count();
  return Code::kSuccess;
}

}  // namespace rehearsal

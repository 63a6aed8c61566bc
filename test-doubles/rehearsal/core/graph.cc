#include <utility>

#include "device.h"
#include "handles.h"
#include "stream.h"
#include "stream_state.h"

namespace rehearsal {
namespace {

constexpr const char* kGraph = "graph";
constexpr const char* kExecutable = "executable graph";

// The captures that forbid something: those of this thread, and the global ones of all.
bool Forbids(const Capture& capture) {
  return capture.mode == CaptureMode::kGlobal || (capture.mode == CaptureMode::kThreadLocal &&
                                                  capture.thread == std::this_thread::get_id());
}

}  // namespace

void Spoil(Capture* capture) {
  if (capture != nullptr) {
    capture->state = CaptureState::kInvalidated;
  }
}

Code BeginCapture(const std::shared_ptr<Stream>& stream, CaptureMode mode) {
  Streams& streams = TheStreams();
  const Lock lock(streams.mutex);
  if (streams.defaults[static_cast<std::size_t>(stream->device)] == stream) {
    return Code::kCaptureUnsupported;
  }
  if (stream->capture != nullptr) {
    return Code::kIllegalState;
  }
  const Code broken = Broken(stream->device);
  if (broken == Code::kSuccess) {
    stream->capture = std::make_shared<Capture>();
    stream->capture->mode = mode;
    stream->capture->thread = std::this_thread::get_id();
  }
  return broken;
}

Code EndCapture(const std::shared_ptr<Stream>& stream, const char* call, void** handle) {
  *handle = nullptr;
  std::shared_ptr<Capture> capture;
  {
    const Lock lock(TheStreams().mutex);
    if (stream->capture == nullptr) {
      return Code::kIllegalState;
    }
    if (stream->capture->mode != CaptureMode::kRelaxed &&
        stream->capture->thread != std::this_thread::get_id()) {
      return Code::kCaptureWrongThread;
    }
    capture = std::exchange(stream->capture, nullptr);
  }
  if (capture->state == CaptureState::kInvalidated) {
    return Code::kCaptureInvalidated;
  }
  auto graph = std::make_shared<Graph>();
  graph->works = std::move(capture->works);
  *handle = graph.get();
  handles::Open(graph.get(), kGraph, call, graph);
  return Code::kSuccess;
}

CaptureState CaptureOf(const Stream& stream) {
  const Lock lock(TheStreams().mutex);
  return stream.capture == nullptr ? CaptureState::kNone : stream.capture->state;
}

Code ForbiddenInCapture() {
  Streams& streams = TheStreams();
  const Lock lock(streams.mutex);
  Code code = Code::kSuccess;
  for (const auto& stream : streams.all) {
    if (stream->capture != nullptr && Forbids(*stream->capture)) {
      Spoil(stream->capture.get());
      code = Code::kCaptureUnsupported;
    }
  }
  return code;
}

Code DestroyGraph(void* graph, const char* call) {
  return handles::Close(graph, kGraph, call) ? Code::kSuccess : Code::kInvalidValue;
}

Code Instantiate(void* graph, const char* call, void** executable) {
  const auto from = handles::Find<Graph>(graph, kGraph, call);
  if (from == nullptr) {
    return Code::kInvalidValue;
  }
  auto made = std::make_shared<Executable>();
  made->works = from->works;
  *executable = made.get();
  handles::Open(made.get(), kExecutable, call, made);
  return Code::kSuccess;
}

Code Launch(void* executable, const std::shared_ptr<Stream>& stream, const char* call) {
  const auto found = handles::Find<Executable>(executable, kExecutable, call);
  if (found == nullptr) {
    return Code::kInvalidValue;
  }
  for (const Work& work : found->works) {
    const std::string broken = work.guard == nullptr ? "" : work.guard->Broken();
    if (!broken.empty()) {
      handles::Misuse(std::string(call) +
                      " launched a graph that is not valid any more: " + broken);
      return Code::kInvalidValue;
    }
  }
  Streams& streams = TheStreams();
  const Lock lock(streams.mutex);
  const Code code = Admit(streams, *stream);
  if (code != Code::kSuccess) {
    return code;
  }
  if (stream->capture != nullptr) {
    stream->capture->works.insert(stream->capture->works.end(), found->works.begin(),
                                  found->works.end());
    return Code::kSuccess;
  }
  for (const Work& work : found->works) {
    std::vector<Ticket> after;
    if (found->last.stream != nullptr && found->last.stream != stream) {
      after.push_back(found->last);
    }
    found->last = {stream, Append(streams, stream, work, std::move(after))};
  }
  return Code::kSuccess;
}

Code DestroyExecutable(void* executable, const char* call) {
  return handles::Close(executable, kExecutable, call) ? Code::kSuccess : Code::kInvalidValue;
}

}  // namespace rehearsal

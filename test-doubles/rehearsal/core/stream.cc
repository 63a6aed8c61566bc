#include "stream.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>

#include "device.h"
#include "faults.h"
#include "handles.h"
#include "stream_state.h"

namespace rehearsal {
namespace {

constexpr const char* kStream = "stream";
constexpr int kHoldMs = 20;

// Handles that stand for the default stream: none, and cudaStreamLegacy.
bool IsDefault(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle) <= 1; }

bool IsDone(const Ticket& ticket) { return ticket.stream->completed >= ticket.number; }

// Whether the first item of a stream may begin; `until` is when to look again at the latest.
bool MayBegin(Stream& stream, Clock::time_point* until) {
  const Item& item = stream.items.front();
  const std::uint64_t number = stream.completed + 1;
  const auto now = Clock::now();
  if (number > stream.demanded && now < item.due) {
    *until = item.due;
    return false;
  }
  *until = Clock::time_point::max();
  bool ready = true;
  for (const Ticket& ticket : item.after) {
    if (!IsDone(ticket)) {
      Demand(*ticket.stream, ticket.number);
      ready = false;
    }
  }
  return ready;
}

// Runs the first item, without the lock.
void RunFirst(Streams& streams, Lock& lock, Stream& stream) {
  stream.running = true;
  Work& work = stream.items.front().work;
  lock.unlock();
  faults::WaitAtRandom();
  Code code = Broken(stream.device);
  if (code == Code::kSuccess) {
    code = static_cast<Code>(faults::Check((std::string(work.call) + "~late").c_str()));
    if (code == Code::kSuccess && work.run) {
      code = work.run();
    }
    if (code != Code::kSuccess) {
      Break(stream.device, code);
    }
  }
  lock.lock();
  stream.running = false;
  ++stream.completed;
  // Its work is let go of without the lock: a guard's end may call anything.
  Item done = std::move(stream.items.front());
  stream.items.pop_front();
  streams.changed.notify_all();
  lock.unlock();
  done = {};
  lock.lock();
}

// The thread of a stream, until it is closed and empty.
void Run(std::shared_ptr<Stream> stream) {
  Streams& streams = TheStreams();
  Lock lock(streams.mutex);
  while (!stream->closing || !stream->items.empty()) {
    if (stream->items.empty()) {
      streams.changed.wait(lock);
      continue;
    }
    Clock::time_point until;
    if (MayBegin(*stream, &until)) {
      RunFirst(streams, lock, *stream);
    } else if (until == Clock::time_point::max()) {
      streams.changed.wait(lock);
    } else {
      streams.changed.wait_until(lock, until);
    }
  }
  std::erase(streams.all, stream);
}

std::shared_ptr<Stream> Start(Streams& streams, int device, bool blocking, int priority) {
  auto stream = std::make_shared<Stream>(device, blocking, priority);
  streams.all.push_back(stream);
  std::thread(Run, stream).detach();
  return stream;
}

std::shared_ptr<Stream> DefaultOf(Streams& streams, int device) {
  auto& stream = streams.defaults[static_cast<std::size_t>(device)];
  if (stream == nullptr) {
    stream = Start(streams, device, true, kLeastPriority);
  }
  return stream;
}

bool IsDefaultStream(const Streams& streams, const Stream& stream) {
  return streams.defaults[static_cast<std::size_t>(stream.device)].get() == &stream;
}

// The default stream and the blocking ones wait for each other.
void AddImplicit(const Streams& streams, const Stream& stream, std::vector<Ticket>* after) {
  if (!stream.blocking) {
    return;
  }
  const bool is_default = IsDefaultStream(streams, stream);
  for (const auto& other : streams.all) {
    if (other.get() != &stream && other->device == stream.device && other->blocking &&
        (is_default || IsDefaultStream(streams, *other)) && other->completed < other->submitted) {
      after->push_back({other, other->submitted});
    }
  }
}

}  // namespace

Streams::Streams() : defaults(static_cast<std::size_t>(DeviceCount())) {
  const char* const text = std::getenv("REHEARSAL_HOLD_MS");
  hold = std::chrono::milliseconds(text == nullptr ? kHoldMs : std::atoi(text));
}

Streams& TheStreams() {
  static Streams* const streams = new Streams();
  return *streams;
}

// ---- For events and graphs ----------------------------------------------------------------------

std::uint64_t Append(Streams& streams, const std::shared_ptr<Stream>& stream, Work work,
                     std::vector<Ticket> after) {
  AddImplicit(streams, *stream, &after);
  stream->items.push_back({std::move(work), std::move(after), Clock::now() + streams.hold});
  streams.changed.notify_all();
  return ++stream->submitted;
}

void Demand(Stream& stream, std::uint64_t number) {
  const std::uint64_t before = std::max(stream.demanded, stream.completed);
  if (number <= before) {
    return;
  }
  stream.demanded = number;
  for (std::uint64_t i = before; i < number; ++i) {
    for (const Ticket& ticket : stream.items[i - stream.completed].after) {
      Demand(*ticket.stream, ticket.number);
    }
  }
}

void Await(Streams& streams, Lock& lock, Stream& stream, std::uint64_t number) {
  Demand(stream, number);
  streams.changed.notify_all();
  streams.changed.wait(lock, [&] { return stream.completed >= number; });
}

Code Admit(Streams& streams, const Stream& stream) {
  const Code broken = Broken(stream.device);
  if (broken != Code::kSuccess) {
    return broken;
  }
  if (stream.capture != nullptr && stream.capture->state == CaptureState::kInvalidated) {
    return Code::kCaptureInvalidated;
  }
  if (IsDefaultStream(streams, stream)) {
    for (const auto& other : streams.all) {
      if (other->device == stream.device && other->blocking && other->capture != nullptr) {
        Spoil(other->capture.get());
        return Code::kCaptureImplicit;
      }
    }
  }
  return Code::kSuccess;
}

// ---- Streams ------------------------------------------------------------------------------------

Code CreateStream(bool blocking, int priority, const char* call, void** handle) {
  Streams& streams = TheStreams();
  std::shared_ptr<Stream> stream;
  {
    const Lock lock(streams.mutex);
    stream = Start(streams, CurrentDevice(), blocking,
                   std::clamp(priority, kGreatestPriority, kLeastPriority));
  }
  handles::Open(stream.get(), kStream, call, stream);
  *handle = stream.get();
  return Code::kSuccess;
}

Code DestroyStream(void* handle, const char* call) {
  bool closed = false;
  const auto stream =
      std::static_pointer_cast<Stream>(handles::Close(handle, kStream, call, &closed));
  if (!closed) {
    return Code::kInvalidHandle;
  }
  Streams& streams = TheStreams();
  const Lock lock(streams.mutex);
  // What is in it still runs, as CUDA says.
  stream->closing = true;
  streams.changed.notify_all();
  return Code::kSuccess;
}

std::shared_ptr<Stream> FindStream(const void* handle, const char* call) {
  if (!IsDefault(handle)) {
    return handles::Find<Stream>(handle, kStream, call);
  }
  Streams& streams = TheStreams();
  const Lock lock(streams.mutex);
  return DefaultOf(streams, CurrentDevice());
}

int DeviceOf(const Stream& stream) { return stream.device; }

int PriorityOf(const Stream& stream) { return stream.priority; }

Code Enqueue(const std::shared_ptr<Stream>& stream, Work work) {
  Streams& streams = TheStreams();
  const Lock lock(streams.mutex);
  const Code code = Admit(streams, *stream);
  if (code != Code::kSuccess) {
    return code;
  }
  if (stream->capture != nullptr) {
    stream->capture->works.push_back(std::move(work));
  } else {
    Append(streams, stream, std::move(work), {});
  }
  return Code::kSuccess;
}

Code Synchronize(Stream& stream) {
  Streams& streams = TheStreams();
  Lock lock(streams.mutex);
  if (stream.capture != nullptr) {
    Spoil(stream.capture.get());
    return Code::kCaptureUnsupported;
  }
  const Code code = Admit(streams, stream);
  if (code == Code::kSuccess) {
    Await(streams, lock, stream, stream.submitted);
  }
  return code == Code::kSuccess ? Broken(stream.device) : code;
}

Code Query(Stream& stream) {
  Streams& streams = TheStreams();
  const Lock lock(streams.mutex);
  if (stream.capture != nullptr) {
    Spoil(stream.capture.get());
    return Code::kCaptureUnsupported;
  }
  const Code code = Admit(streams, stream);
  if (code != Code::kSuccess) {
    return code;
  }
  Demand(stream, stream.submitted);
  streams.changed.notify_all();
  return stream.completed >= stream.submitted ? Code::kSuccess : Code::kNotReady;
}

void Drain(int device) {
  Streams& streams = TheStreams();
  Lock lock(streams.mutex);
  const auto all = streams.all;
  for (const auto& stream : all) {
    if (stream->device == device) {
      Await(streams, lock, *stream, stream->submitted);
    }
  }
}

void AwaitRunning(int device) {
  Streams& streams = TheStreams();
  Lock lock(streams.mutex);
  const auto all = streams.all;
  for (const auto& stream : all) {
    if (stream->device == device && stream->running) {
      const std::uint64_t number = stream->completed + 1;
      streams.changed.wait(lock, [&] { return stream->completed >= number; });
    }
  }
}

Code SynchronizeDevice(int device) {
  const Code forbidden = ForbiddenInCapture();
  if (forbidden != Code::kSuccess) {
    return forbidden;
  }
  Drain(device);
  return Broken(device);
}

bool IsInUse(const void* memory, std::uint64_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  Streams& streams = TheStreams();
  const Lock lock(streams.mutex);
  for (const auto& stream : streams.all) {
    for (const Item& item : stream->items) {
      const auto used = reinterpret_cast<std::uintptr_t>(item.work.host.memory);
      if (used < begin + bytes && begin < used + item.work.host.bytes) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace rehearsal

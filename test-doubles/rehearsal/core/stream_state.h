// What streams, events and graphs know of each other. All of it is guarded by one mutex.
#ifndef NEREID_REHEARSAL_STREAM_STATE_H_
#define NEREID_REHEARSAL_STREAM_STATE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "stream.h"

namespace rehearsal {

using Clock = std::chrono::steady_clock;

// A piece of work of a stream by its number, from 1 on.
struct Ticket {
  std::shared_ptr<Stream> stream;
  std::uint64_t number = 0;
};

struct Item {
  Work work;
  std::vector<Ticket> after;  // what must be done before, in other streams
  Clock::time_point due;      // begins by then, if nobody waits for it
};

// What is collected from a stream; a Guard's answer is asked at each launch.
struct Capture {
  CaptureMode mode;
  CaptureState state = CaptureState::kActive;
  std::thread::id thread;
  std::vector<Work> works;
};

class Stream {
 public:
  Stream(int device_number, bool is_blocking, int its_priority)
      : device(device_number), blocking(is_blocking), priority(its_priority) {}

  const int device;
  const bool blocking;  // waits for the default stream, which waits for it
  const int priority;
  std::deque<Item> items;       // the first one may be running
  std::uint64_t submitted = 0;  // numbers of work
  std::uint64_t completed = 0;
  std::uint64_t demanded = 0;  // up to here somebody waits
  bool running = false;        // the first item
  bool closing = false;
  std::shared_ptr<Capture> capture;  // null: it is not captured
};

// When an event was last recorded.
struct Recording {
  Ticket ticket;
  Clock::time_point at;  // once it is done
};

class Event {
 public:
  Event(int device_number, bool takes_time) : device(device_number), timing(takes_time) {}

  const int device;  // records what is in streams of this one only
  const bool timing;
  std::shared_ptr<Recording> recording;     // null: never
  std::shared_ptr<const Capture> captured;  // not null: last recorded in a captured stream
};

class Graph {
 public:
  std::vector<Work> works;
};

class Executable {
 public:
  std::vector<Work> works;
  Ticket last;  // its launches run one after another
};

// For the life of the process, as the threads of streams.
struct Streams {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::shared_ptr<Stream>> all;       // with a worker each
  std::vector<std::shared_ptr<Stream>> defaults;  // by device; null: not used yet
  std::chrono::milliseconds hold;

  Streams();
};

Streams& TheStreams();
using Lock = std::unique_lock<std::mutex>;

// Puts work at the end of a stream, which is not captured, and gives back its number.
std::uint64_t Append(Streams& streams, const std::shared_ptr<Stream>& stream, Work work,
                     std::vector<Ticket> after);

// Work up to a number begins at once, and what it depends on.
void Demand(Stream& stream, std::uint64_t number);

// Demands it and waits until it is done.
void Await(Streams& streams, Lock& lock, Stream& stream, std::uint64_t number);

// Spoils a capture that is under way.
void Spoil(Capture* capture);

// What is in the way of a call that puts something into the stream; kSuccess: nothing.
Code Admit(Streams& streams, const Stream& stream);

}  // namespace rehearsal

#endif  // NEREID_REHEARSAL_STREAM_STATE_H_

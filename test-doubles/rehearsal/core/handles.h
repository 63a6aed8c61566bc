#ifndef NEREID_REHEARSAL_HANDLES_H_
#define NEREID_REHEARSAL_HANDLES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

// One table of all that the stand-ins hand out: streams, events, graphs, memory, engines, contexts.
// A handle is used after its release, released twice or used as something else: that is a misuse,
// which is recorded and told on standard error and in the report. All of this may be called from
// any thread.
//
// REHEARSAL_MISUSE=abort: the first misuse ends the process, so that a test run cannot pass over
// it, and Java's runtime tells who called. REHEARSAL_REPORT=FILE: at the end of the process the
// report is appended to it, with the calls that were made.
namespace rehearsal::handles {

// A kind is a word or two, such as "stream" or "execution context"; the same text at each call.
// `object` is what Find gives back; it may be null for what needs none, as a C++ object that is its
// own handle. A handle that was closed may come again: memory is used again.
void Open(const void* handle, std::string_view kind, const char* call,
          std::shared_ptr<void> object = nullptr);

// Whether the handle is open and of that kind; else a misuse is recorded.
bool Check(const void* handle, std::string_view kind, const char* call);

// The object of a handle; null, with a misuse recorded: it is not open, or of another kind.
std::shared_ptr<void> Find(const void* handle, std::string_view kind, const char* call);

template <typename T>
std::shared_ptr<T> Find(const void* handle, std::string_view kind, const char* call) {
  return std::static_pointer_cast<T>(Find(handle, kind, call));
}

// Closes a handle and gives back its object, which may be null; `closed` is false, with a misuse
// recorded, where it is not open.
std::shared_ptr<void> Close(const void* handle, std::string_view kind, const char* call,
                            bool* closed);

// The same for what has no object.
bool Close(const void* handle, std::string_view kind, const char* call);

// Records a misuse of another sort: a sentence that says what was done by which call.
void Misuse(const std::string& what);

// How many were recorded; how many handles of a kind (empty: of any) are open.
std::size_t Misuses();
std::size_t Left(std::string_view kind = {});

// Misuses, then what is open with its kind and where it was made, each a line; empty: neither.
std::string Report();

// Forgets the misuses and what is closed; what is open stays.
void Reset();

}  // namespace rehearsal::handles

#endif  // NEREID_REHEARSAL_HANDLES_H_

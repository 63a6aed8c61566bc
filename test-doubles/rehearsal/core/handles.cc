#include "handles.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

#include "faults.h"

namespace rehearsal::handles {
namespace {

// So many closed handles are remembered, the newest: their addresses may not come again.
constexpr std::size_t kClosedKept = 1 << 16;

struct Entry {
  std::string kind;
  const char* opened_by = "";
  const char* closed_by = nullptr;  // null: it is open
  std::shared_ptr<void> object;
};

// For the life of the process: threads of streams come here until its end.
struct Table {
  std::mutex mutex;
  std::map<const void*, Entry> entries;
  std::deque<const void*> closed;  // the oldest first
  std::vector<std::string> misuses;
};

void WriteReport();

Table& TheTable() {
  static Table* const table = [] {
    if (std::getenv("REHEARSAL_REPORT") != nullptr) {
      std::atexit(WriteReport);
    }
    return new Table();
  }();
  return *table;
}

void Tell(Table& table, const std::string& what) {
  std::fprintf(stderr, "rehearsal: misuse: %s\n", what.c_str());
  table.misuses.push_back(what);
  const char* const setting = std::getenv("REHEARSAL_MISUSE");
  if (setting != nullptr && std::strcmp(setting, "abort") == 0) {
    std::abort();
  }
}

std::string Named(const void* handle, std::string_view kind) {
  std::ostringstream text;
  text << kind << ' ' << handle;
  return text.str();
}

// The entry of an open handle of that kind; null: there is none, which was told.
Entry* FindOpen(Table& table, const void* handle, std::string_view kind, const char* call) {
  const auto found = table.entries.find(handle);
  if (found == table.entries.end()) {
    Tell(table, std::string(call) + " got " + Named(handle, kind) + ", which never was there");
    return nullptr;
  }
  Entry& entry = found->second;
  if (entry.kind != kind) {
    Tell(table, std::string(call) + " got " + Named(handle, kind) + ", which is " +
                    Named(handle, entry.kind));
    return nullptr;
  }
  if (entry.closed_by != nullptr) {
    Tell(table, std::string(call) + " got " + Named(handle, kind) + ", which " + entry.closed_by +
                    " has closed");
    return nullptr;
  }
  return &entry;
}

void ForgetOldest(Table& table) {
  while (table.closed.size() > kClosedKept) {
    const auto found = table.entries.find(table.closed.front());
    if (found != table.entries.end() && found->second.closed_by != nullptr) {
      table.entries.erase(found);
    }
    table.closed.pop_front();
  }
}

void WriteReport() {
  if (std::FILE* const file = std::fopen(std::getenv("REHEARSAL_REPORT"), "a")) {
    std::fputs(Report().c_str(), file);
    std::istringstream calls(faults::Calls());
    for (std::string line; std::getline(calls, line);) {
      std::fprintf(file, "call: %s\n", line.c_str());
    }
    std::fclose(file);
  }
}

}  // namespace

void Open(const void* handle, std::string_view kind, const char* call,
          std::shared_ptr<void> object) {
  Table& table = TheTable();
  const std::lock_guard lock(table.mutex);
  Entry& entry = table.entries[handle];
  if (!entry.kind.empty() && entry.closed_by == nullptr) {
    Tell(table, std::string(call) + " made " + Named(handle, kind) + " where " +
                    Named(handle, entry.kind) + " is, from " + entry.opened_by);
  }
  entry = {std::string(kind), call, nullptr, std::move(object)};
}

bool Check(const void* handle, std::string_view kind, const char* call) {
  Table& table = TheTable();
  const std::lock_guard lock(table.mutex);
  return FindOpen(table, handle, kind, call) != nullptr;
}

std::shared_ptr<void> Find(const void* handle, std::string_view kind, const char* call) {
  Table& table = TheTable();
  const std::lock_guard lock(table.mutex);
  const Entry* const entry = FindOpen(table, handle, kind, call);
  return entry == nullptr ? nullptr : entry->object;
}

std::shared_ptr<void> Close(const void* handle, std::string_view kind, const char* call,
                            bool* closed) {
  Table& table = TheTable();
  const std::lock_guard lock(table.mutex);
  Entry* const entry = FindOpen(table, handle, kind, call);
  *closed = entry != nullptr;
  if (entry == nullptr) {
    return nullptr;
  }
  entry->closed_by = call;
  auto object = std::exchange(entry->object, nullptr);
  table.closed.push_back(handle);
  ForgetOldest(table);
  return object;
}

bool Close(const void* handle, std::string_view kind, const char* call) {
  bool closed = false;
  Close(handle, kind, call, &closed);
  return closed;
}

void Misuse(const std::string& what) {
  Table& table = TheTable();
  const std::lock_guard lock(table.mutex);
  Tell(table, what);
}

std::size_t Misuses() {
  Table& table = TheTable();
  const std::lock_guard lock(table.mutex);
  return table.misuses.size();
}

std::size_t Left(std::string_view kind) {
  Table& table = TheTable();
  const std::lock_guard lock(table.mutex);
  std::size_t count = 0;
  for (const auto& [handle, entry] : table.entries) {
    count += entry.closed_by == nullptr && (kind.empty() || entry.kind == kind) ? 1 : 0;
  }
  return count;
}

std::string Report() {
  Table& table = TheTable();
  const std::lock_guard lock(table.mutex);
  std::string lines;
  for (const std::string& misuse : table.misuses) {
    lines += "misuse: " + misuse + '\n';
  }
  for (const auto& [handle, entry] : table.entries) {
    if (entry.closed_by == nullptr) {
      lines += "left: " + Named(handle, entry.kind) + " of " + entry.opened_by + '\n';
    }
  }
  return lines;
}

void Reset() {
  Table& table = TheTable();
  const std::lock_guard lock(table.mutex);
  table.misuses.clear();
  table.closed.clear();
  std::erase_if(table.entries, [](const auto& item) { return item.second.closed_by != nullptr; });
}

}  // namespace rehearsal::handles

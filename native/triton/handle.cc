#include "triton/handle.h"

#include <chrono>
#include <deque>
#include <memory>
#include <thread>
#include <unordered_map>

#include "base/mutex.h"

namespace nereid::triton {

namespace {

constexpr std::array<std::string_view, kKinds> kNames = {
    "error",
    "message",
    "parameter",
    "buffer attributes",
    "metric family",
    "metric",
    "metric arguments",
    "metrics",
    "backend",
    "backend attribute",
    "model",
    "model instance",
    "request",
    "input",
    "output",
    "state",
    "response",
    "response factory",
    "response statistics",
    "memory manager",
    "block of memory",
    "server",
    "inference request",
    "inference response",
    "response allocator",
    "inference trace",
    "cache",
    "cache entry",
    "cache allocator",
    "repository agent",
    "repository agent's model",
};

std::string Plural(Kind kind) {
  switch (kind) {
    case Kind::kBufferAttributes:
    case Kind::kMetricArgs:
    case Kind::kMetrics:
    case Kind::kResponseStatistics:
      return std::string(NameOf(kind));
    case Kind::kMetricFamily:
      return "metric families";
    case Kind::kResponseFactory:
      return "response factories";
    case Kind::kCacheEntry:
      return "cache entries";
    case Kind::kMemory:
      return "blocks of memory";
    default:
      return std::string(NameOf(kind)) + "s";
  }
}

std::string Counted(Kind kind, int64_t count) {
  return std::to_string(count) + " " + (count == 1 ? std::string(NameOf(kind)) : Plural(kind));
}

struct Owners {
  Mutex mutex;
  std::deque<std::unique_ptr<Owner>> all NRD_GUARDED_BY(mutex);
};

Owners& TheOwners() {
  static auto* const owners = new Owners;  // plug-ins may still run when the process ends
  return *owners;
}

thread_local Owner* current_owner = nullptr;

// Open handles in checked mode. Threads with different handles seldom share a shard.
struct Shard {
  Mutex mutex;
  std::unordered_map<const void*, Kind> open NRD_GUARDED_BY(mutex);
};
constexpr size_t kShards = 64;

Shard& ShardOf(const void* pointer) {
  static auto* const shards = new std::array<Shard, kShards>;
  return (*shards)[(reinterpret_cast<uintptr_t>(pointer) >> 6) % kShards];
}

}  // namespace

std::string_view NameOf(Kind kind) { return kNames[static_cast<size_t>(kind)]; }

Owner& Owner::Of(std::string_view kind, std::string_view name) {
  std::string full(kind);
  if (!name.empty()) {
    full += " '";
    full += name;
    full += "'";
  }
  Owners& owners = TheOwners();
  const MutexLock lock(owners.mutex);
  for (const auto& owner : owners.all) {
    if (owner->name() == full) {
      return *owner;
    }
  }
  return *owners.all.emplace_back(new Owner(std::move(full)));
}

Owner& Owner::Current() {
  if (current_owner != nullptr) [[likely]] {
    return *current_owner;
  }
  static Owner& nobody = Of("a plug-in", "");
  return nobody;
}

bool Owner::AwaitInferences(std::chrono::nanoseconds patience) const {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (inferences_.load(std::memory_order_acquire) > 0) {
    if (std::chrono::steady_clock::now() > until) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

std::string Owner::Holdings() const {
  std::string text;
  for (size_t i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    if (const int64_t held = count(kind); held > 0) {
      text += (text.empty() ? "" : ", ") + Counted(kind, held);
    }
  }
  return text;
}

std::string Owner::AllHoldings() {
  Owners& owners = TheOwners();
  const MutexLock lock(owners.mutex);
  std::string text;
  for (const auto& owner : owners.all) {
    for (size_t i = 0; i < kKinds; ++i) {
      const auto kind = static_cast<Kind>(i);
      if (const int64_t held = owner->count(kind); held > 0) {
        text += Counted(kind, held) + " of " + owner->name() + "\n";
      }
    }
  }
  return text;
}

OwnerScope::OwnerScope(Owner& owner) : before_(current_owner) { current_owner = &owner; }

OwnerScope::~OwnerScope() { current_owner = before_; }

void Handle::CheckAll() { checked = true; }

bool Handle::IsListed(const void* pointer, Kind kind) {
  Shard& shard = ShardOf(pointer);
  const MutexLock lock(shard.mutex);
  const auto found = shard.open.find(pointer);
  return found != shard.open.end() && found->second == kind;
}

void Handle::List() {
  Shard& shard = ShardOf(this);
  const MutexLock lock(shard.mutex);
  shard.open[this] = kind_;
}

void Handle::Unlist() {
  Shard& shard = ShardOf(this);
  const MutexLock lock(shard.mutex);
  shard.open.erase(this);
}

}  // namespace nereid::triton

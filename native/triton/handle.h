// Objects of ours that a plug-in holds: they are known by their kind, and counted for their holder.
#ifndef NEREID_TRITON_HANDLE_H_
#define NEREID_TRITON_HANDLE_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace nereid::triton {

enum class Kind : uint32_t {
  kError,
  kMessage,
  kParameter,
  kBufferAttributes,
  kMetricFamily,
  kMetric,
  kMetricArgs,
  kMetrics,
  kBackend,
  kBackendAttribute,
  kModel,
  kInstance,
  kRequest,
  kInput,
  kOutput,
  kState,
  kResponse,
  kResponseFactory,
  kResponseStatistics,
  kMemoryManager,
  kMemory,
  kServer,
  kInferenceRequest,
  kInferenceResponse,
  kResponseAllocator,
  kInferenceTrace,
  kCache,
  kCacheEntry,
  kCacheAllocator,
  kAgent,
  kAgentModel,
  kCount
};
constexpr size_t kKinds = static_cast<size_t>(Kind::kCount);

// "request".
std::string_view NameOf(Kind kind);

// A plug-in as it is spoken of: "backend 'python'". Owners are never deleted, so that what a
// plug-in left behind can be told at any time.
class Owner {
 public:
  // The one for a plug-in; `kind` is "backend", "cache" or "repository agent".
  static Owner& Of(std::string_view kind, std::string_view name);
  // Whom the calling thread works for: the plug-in that it was sent into, or nobody in particular.
  static Owner& Current();

  [[nodiscard]] const std::string& name() const { return name_; }

  void Count(Kind kind, int64_t change) {
    counts_[static_cast<size_t>(kind)].fetch_add(change, std::memory_order_relaxed);
  }
  [[nodiscard]] int64_t count(Kind kind) const {
    return counts_[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
  }
  // An inference that it asked the server for: until it ends, callbacks of the plug-in are called.
  void BeginInference() { inferences_.fetch_add(1, std::memory_order_relaxed); }
  void EndInference() { inferences_.fetch_sub(1, std::memory_order_release); }
  // Waits until all have ended; false: some have not after so long.
  [[nodiscard]] bool AwaitInferences(std::chrono::nanoseconds patience) const;

  // "3 requests, 1 response"; empty when it holds nothing.
  [[nodiscard]] std::string Holdings() const;

  // The lines of nrt_handles_write.
  static std::string AllHoldings();

 private:
  friend class OwnerScope;
  explicit Owner(std::string name) : name_(std::move(name)) {}

  const std::string name_;
  std::array<std::atomic<int64_t>, kKinds> counts_{};
  std::atomic<int64_t> inferences_{0};
};

// While it lives the calling thread works for `owner`.
class OwnerScope {
 public:
  explicit OwnerScope(Owner& owner);
  ~OwnerScope();
  OwnerScope(const OwnerScope&) = delete;
  OwnerScope& operator=(const OwnerScope&) = delete;

 private:
  Owner* const before_;
};

// The base of everything that plug-ins name by a pointer, which is the address of this. A handle is
// valid between Open and Close; objects that are used again are opened anew.
class Handle {
 public:
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  // True if the pointer is a handle of that kind, and open. In checked mode it may point anywhere.
  static bool IsOpen(const void* pointer, Kind kind) {
    if (pointer == nullptr || checked) [[unlikely]] {
      return pointer != nullptr && IsListed(pointer, kind);
    }
    return static_cast<const Handle*>(pointer)->mark_.load(std::memory_order_acquire) == Mark(kind);
  }

  // From here on handles are looked up. Before the first is opened.
  static void CheckAll();

 protected:
  Handle() = default;
  ~Handle() { Close(); }

  // `owner`: who has to give it back; null: it belongs to something else.
  void Open(Kind kind, Owner* owner) {
    kind_ = kind;
    owner_ = owner;
    if (checked) [[unlikely]] {
      List();  // may be out of memory
    }
    if (owner != nullptr) {
      owner->Count(kind, 1);
    }
    mark_.store(Mark(kind), std::memory_order_release);
  }
  // False when it was not open: of two who close it one is late.
  bool Close() {
    if (mark_.exchange(0, std::memory_order_acq_rel) == 0) {
      return false;
    }
    if (checked) [[unlikely]] {
      Unlist();
    }
    if (owner_ != nullptr) {
      owner_->Count(kind_, -1);
    }
    return true;
  }
  // Close for a part of something else, which nobody but that closes.
  void ClosePart() {
    if (checked) [[unlikely]] {
      Close();
    }
    mark_.store(0, std::memory_order_release);
  }

 private:
  // An open handle begins with this.
  static constexpr uint32_t Mark(Kind kind) { return 0x4E520000 | static_cast<uint32_t>(kind); }
  static bool IsListed(const void* pointer, Kind kind);
  void List();
  void Unlist();

  inline static bool checked = false;

  std::atomic<uint32_t> mark_{0};
  Kind kind_ = Kind::kError;
  Owner* owner_ = nullptr;
};

// The object behind a plug-in's pointer; null when there is none of that kind. `T` has kKind and
// Handle as its first base.
template <typename T>
T* Find(const void* pointer) {
  return Handle::IsOpen(pointer, T::kKind)
             ? static_cast<T*>(static_cast<Handle*>(const_cast<void*>(pointer)))
             : nullptr;
}

// The pointer of an object, as the plug-in's type.
template <typename Opaque>
Opaque* Give(Handle* handle) {
  return reinterpret_cast<Opaque*>(handle);
}

}  // namespace nereid::triton

#endif  // NEREID_TRITON_HANDLE_H_

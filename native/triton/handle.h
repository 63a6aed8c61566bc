// Objects of this library that a plug-in holds: recognised by kind, and counted for the holder.
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

// A plug-in as messages name it: "backend 'python'". Owners are never deleted, so that leftovers of
// a plug-in can be reported at any time.
class Owner {
 public:
  // The owner for a plug-in; `kind` is "backend", "cache" or "repository agent".
  static Owner& Of(std::string_view kind, std::string_view name);
  // The plug-in that the calling thread runs for, or the owner without a name.
  static Owner& Current();

  [[nodiscard]] const std::string& name() const { return name_; }

  void Count(Kind kind, int64_t change) {
    counts_[static_cast<size_t>(kind)].fetch_add(change, std::memory_order_relaxed);
  }
  [[nodiscard]] int64_t count(Kind kind) const {
    return counts_[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
  }
  // Counts an inference that the plug-in asked for: until its end callbacks are called.
  void BeginInference() { inferences_.fetch_add(1, std::memory_order_relaxed); }
  void EndInference() { inferences_.fetch_sub(1, std::memory_order_release); }
  // Waits until all inferences have ended; false: some have not after that time.
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

// The calling thread works for `owner` while this lives.
class OwnerScope {
 public:
  explicit OwnerScope(Owner& owner);
  ~OwnerScope();
  OwnerScope(const OwnerScope&) = delete;
  OwnerScope& operator=(const OwnerScope&) = delete;

 private:
  Owner* const before_;
};

// The base of everything that plug-ins name by a pointer: the object's address. A handle is valid
// between Open and Close; reused objects are opened anew.
class Handle {
 public:
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  // True if the pointer is an open handle of that kind. In checked mode any pointer is allowed.
  static bool IsOpen(const void* pointer, Kind kind) {
    if (pointer == nullptr || checked) [[unlikely]] {
      return pointer != nullptr && IsListed(pointer, kind);
    }
    return static_cast<const Handle*>(pointer)->mark_.load(std::memory_order_acquire) == Mark(kind);
  }

  // Switches checked mode on, in which handles are looked up. Call it before the first is opened.
  static void CheckAll();

 protected:
  Handle() = default;
  ~Handle() { Close(); }

  // `owner` must give the handle back; null: it belongs to another object.
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
  // False if it was not open: when two threads close it, one is late.
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
  // Closes a part of another object, which only that object closes.
  void ClosePart() {
    if (checked) [[unlikely]] {
      Close();
    }
    mark_.store(0, std::memory_order_release);
  }

 private:
  // The first bytes of an open handle.
  static constexpr uint32_t Mark(Kind kind) { return 0x4E520000 | static_cast<uint32_t>(kind); }
  static bool IsListed(const void* pointer, Kind kind);
  void List();
  void Unlist();

  inline static bool checked = false;

  std::atomic<uint32_t> mark_{0};
  Kind kind_ = Kind::kError;
  Owner* owner_ = nullptr;
};

// The object behind a plug-in's pointer; null if it is not of that kind. `T` has kKind and Handle
// as its first base.
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

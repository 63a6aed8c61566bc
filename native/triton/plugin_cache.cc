#include "triton/plugin_cache.h"

#include <utility>

#include "triton/calls.h"

namespace nereid::triton {
namespace {

using TakeFn = int32_t (*)(void* taker, const void* data, uint64_t byte_size);
using GiveFn = void (*)(void* giver, void* data);

// Copies an entry from a lookup to the core.
class Taker : public CacheCopier {
 public:
  Taker(void* taker, TakeFn take) : taker_(taker), take_(take) {}

 private:
  Status CopyBuffer(const CacheBuffer& buffer) override {
    if (buffer.data == nullptr) {
      return Status::InvalidArgument("the entry's buffer is NULL");
    }
    const int32_t code = take_(taker_, buffer.data, buffer.byte_size);
    return code == NRD_OK ? Status() : Status(code, "what the cache has does not fit the request");
  }

  void* const taker_;
  const TakeFn take_;
};

// Copies the core's data to the place that the cache chose.
class Giver : public CacheCopier {
 public:
  Giver(void* giver, GiveFn give, uint64_t byte_size)
      : giver_(giver), give_(give), byte_size_(byte_size) {}

 private:
  Status CopyBuffer(const CacheBuffer& buffer) override {
    if (buffer.data == nullptr || buffer.byte_size != byte_size_) {
      return Status::InvalidArgument(
          "expected a buffer of " + std::to_string(byte_size_) + " bytes, got " +
          (buffer.data == nullptr ? "none" : "one of " + std::to_string(buffer.byte_size)));
    }
    give_(giver_, buffer.data);
    return Status();
  }

  void* const giver_;
  const GiveFn give_;
  const uint64_t byte_size_;
};

// Logs a failure of the plug-in; a missing or taken key is not a failure.
int32_t Outcome(const Status& status) {
  if (!status.ok() && status.code() != NRD_NOT_FOUND && status.code() != NRD_ALREADY_EXISTS) {
    Log(kLogError, status.message());
  }
  return status.code();
}

}  // namespace

Status CacheCopier::Copy(const CacheEntry& entry) {
  if (copied_) {
    return Status::InvalidArgument("the entry was copied before");
  }
  if (entry.buffers.size() != 1) {
    return Status::InvalidArgument("the entry has " + std::to_string(entry.buffers.size()) +
                                   " buffers, expected 1");
  }
  NRD_RETURN_IF_ERROR(CopyBuffer(entry.buffers[0]));
  copied_ = true;
  return Status();
}

Status PluginCache::Create(std::string_view name, std::string_view library, std::string_view config,
                           std::unique_ptr<PluginCache>* out) {
  std::unique_ptr<PluginCache> cache(new PluginCache(name));
  NRD_RETURN_IF_ERROR(cache->Open(library, config));
  *out = std::move(cache);
  return Status();
}

Status PluginCache::Open(std::string_view library, std::string_view config) {
  NRD_RETURN_IF_ERROR(PluginLibrary::Open(std::string(library), owner_, &library_));
  InitializeFn initialize = nullptr;
  library_->Take("TRITONCACHE_CacheInitialize", &initialize);
  library_->Take("TRITONCACHE_CacheFinalize", &finalize_);
  library_->Take("TRITONCACHE_CacheLookup", &lookup_);
  library_->Take("TRITONCACHE_CacheInsert", &insert_);
  if (initialize == nullptr || finalize_ == nullptr || lookup_ == nullptr || insert_ == nullptr) {
    return Status(NRD_FAILED_PRECONDITION,
                  owner_.name() + " (" + std::string(library) +
                      ") is no cache: expected TRITONCACHE_CacheInitialize, _CacheFinalize, "
                      "_CacheLookup and _CacheInsert");
  }
  const std::string settings(config);
  NRD_RETURN_IF_ERROR(CallPlugin(owner_, "TRITONCACHE_CacheInitialize",
                                 [&] { return initialize(&cache_, settings.c_str()); }));
  return cache_ != nullptr ? Status()
                           : Status::Internal(owner_.name() + " was initialised and gave no cache");
}

PluginCache::~PluginCache() {
  if (cache_ != nullptr) {
    Outcome(CallPlugin(owner_, "TRITONCACHE_CacheFinalize", [this] { return finalize_(cache_); }));
  }
}

nrd_cache PluginCache::Table() {
  nrd_cache table{};
  table.context = this;
  table.lookup = [](void* context, nrd_string key, void* taker, TakeFn take) {
    Taker copier(taker, take);
    return Outcome(static_cast<PluginCache*>(context)->Lookup(key, &copier));
  };
  table.insert = [](void* context, nrd_string key, uint64_t byte_size, void* giver, GiveFn give) {
    Giver copier(giver, give, byte_size);
    return Outcome(static_cast<PluginCache*>(context)->Insert(key, byte_size, &copier));
  };
  return table;
}

Status PluginCache::Lookup(nrd_string key, CacheCopier* copier) {
  CacheEntry entry;
  return Use(lookup_, "TRITONCACHE_CacheLookup", key, &entry, copier);
}

Status PluginCache::Insert(nrd_string key, uint64_t byte_size, CacheCopier* copier) {
  CacheEntry entry;
  entry.buffers.push_back({nullptr, byte_size});
  return Use(insert_, "TRITONCACHE_CacheInsert", key, &entry, copier);
}

Status PluginCache::Use(UseFn function, const char* name, nrd_string key, CacheEntry* entry,
                        CacheCopier* copier) {
  const std::string text(View(key));
  Status status = CallPlugin(owner_, name, [&] {
    return function(cache_, text.c_str(), Give<TRITONCACHE_CacheEntry>(entry),
                    Give<TRITONCACHE_Allocator>(copier));
  });
  if (!status.ok()) {
    return Status(status.code(),
                  owner_.name() + ", " + name + ": " + std::string(status.message()));
  }
  return copier->copied() ? std::move(status)
                          : Status::Internal(owner_.name() + ", " + name +
                                             ": succeeded without TRITONCACHE_Copy");
}

}  // namespace nereid::triton

// A response cache made for Triton, as nrd_cache: an entry has one buffer with the core's data. A
// failure of the plug-in is logged and counts as a miss.
#ifndef NEREID_TRITON_PLUGIN_CACHE_H_
#define NEREID_TRITON_PLUGIN_CACHE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "triton/core/tritoncache.h"
#include "triton/handle.h"
#include "triton/nereid_triton.h"
#include "triton/plugin_library.h"

namespace nereid::triton {

struct CacheBuffer {
  void* data;
  size_t byte_size;
};

// Behind TRITONCACHE_CacheEntry.
class CacheEntry : public Handle {
 public:
  static constexpr Kind kKind = Kind::kCacheEntry;

  CacheEntry() { Open(kKind, nullptr); }

  std::vector<CacheBuffer> buffers;
};

// Behind TRITONCACHE_Allocator: copies between the core and an entry's buffer, once.
class CacheCopier : public Handle {
 public:
  static constexpr Kind kKind = Kind::kCacheAllocator;

  virtual ~CacheCopier() = default;

  Status Copy(const CacheEntry& entry);
  [[nodiscard]] bool copied() const { return copied_; }

 protected:
  CacheCopier() { Open(kKind, nullptr); }

 private:
  virtual Status CopyBuffer(const CacheBuffer& buffer) = 0;

  bool copied_ = false;
};

class PluginCache {
 public:
  static Status Create(std::string_view name, std::string_view library, std::string_view config,
                       std::unique_ptr<PluginCache>* out);
  ~PluginCache();
  PluginCache(const PluginCache&) = delete;
  PluginCache& operator=(const PluginCache&) = delete;

  // Valid as long as this.
  [[nodiscard]] nrd_cache Table();

 private:
  using InitializeFn = TRITONSERVER_Error* (*)(TRITONCACHE_Cache**, const char*);
  using FinalizeFn = TRITONSERVER_Error* (*)(TRITONCACHE_Cache*);
  using UseFn = TRITONSERVER_Error* (*)(TRITONCACHE_Cache*, const char*, TRITONCACHE_CacheEntry*,
                                        TRITONCACHE_Allocator*);

  explicit PluginCache(std::string_view name) : owner_(Owner::Of("cache", name)) {}
  Status Open(std::string_view library, std::string_view config);
  Status Lookup(nrd_string key, CacheCopier* copier);
  Status Insert(nrd_string key, uint64_t byte_size, CacheCopier* copier);
  Status Use(UseFn function, const char* name, nrd_string key, CacheEntry* entry,
             CacheCopier* copier);

  Owner& owner_;
  std::unique_ptr<PluginLibrary> library_;
  FinalizeFn finalize_ = nullptr;
  UseFn lookup_ = nullptr;
  UseFn insert_ = nullptr;
  TRITONCACHE_Cache* cache_ = nullptr;
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_PLUGIN_CACHE_H_

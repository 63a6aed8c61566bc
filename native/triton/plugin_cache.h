// A response cache made for Triton, as nrd_cache: what the core stores is one buffer of an entry.
// What the plug-in fails at is logged, and counts as a miss.
#ifndef NEREID_TRITON_PLUGIN_CACHE_H_
#define NEREID_TRITON_PLUGIN_CACHE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "triton/core/tritoncache.h"
#include "triton/errors.h"
#include "triton/nereid_triton.h"

namespace nereid::triton {

// Behind TRITONCACHE_CacheEntry.
struct CacheBuffer {
  void* data;
  size_t byte_size;
};
struct CacheEntry {
  std::vector<CacheBuffer> buffers;
};

// Behind TRITONCACHE_Allocator: copies between the core and the one buffer of an entry, once.
class CacheCopier {
 public:
  CacheCopier() = default;
  CacheCopier(const CacheCopier&) = delete;
  CacheCopier& operator=(const CacheCopier&) = delete;
  virtual ~CacheCopier() = default;

  ErrorPtr Copy(const CacheEntry& entry);
  [[nodiscard]] bool copied() const { return copied_; }

 private:
  virtual ErrorPtr CopyBuffer(const CacheBuffer& buffer) = 0;

  bool copied_ = false;
};

class PluginCache {
 public:
  static Status Open(std::string_view name, std::string_view library, std::string_view config,
                     std::unique_ptr<PluginCache>* cache_out);
  ~PluginCache();
  PluginCache(const PluginCache&) = delete;
  PluginCache& operator=(const PluginCache&) = delete;

  [[nodiscard]] nrd_cache Table();

 private:
  using InitializeFn = TRITONSERVER_Error* (*)(TRITONCACHE_Cache**, const char*);
  using FinalizeFn = TRITONSERVER_Error* (*)(TRITONCACHE_Cache*);
  using UseFn = TRITONSERVER_Error* (*)(TRITONCACHE_Cache*, const char*, TRITONCACHE_CacheEntry*,
                                        TRITONCACHE_Allocator*);
  using TakeFn = int32_t (*)(void* taker, const void* data, uint64_t byte_size);
  using GiveFn = void (*)(void* giver, void* data);

  explicit PluginCache(std::string_view name) : name_(name) {}
  Status Load(std::string_view library);
  Status Initialize(std::string_view config);
  int32_t Lookup(nrd_string key, void* taker, TakeFn take);
  int32_t Insert(nrd_string key, uint64_t byte_size, void* giver, GiveFn give);
  // Calls the plug-in, and says what came of it.
  int32_t Use(UseFn function, const char* what, nrd_string key, CacheEntry* entry,
              CacheCopier* copier);

  const std::string name_;
  SharedLibrary library_;
  FinalizeFn finalize_ = nullptr;
  UseFn lookup_ = nullptr;
  UseFn insert_ = nullptr;
  TRITONCACHE_Cache* cache_ = nullptr;
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_PLUGIN_CACHE_H_

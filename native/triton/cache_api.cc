// TRITONCACHE_*, which caches call, and nrt_cache_*, by which the control plane opens them.
#include "triton/buffer_attributes.h"
#include "triton/calls.h"
#include "triton/errors.h"
#include "triton/plugin_cache.h"

using nereid::Status;
using nereid::View;
using nereid::triton::BufferAttributes;
using nereid::triton::CacheCopier;
using nereid::triton::CacheEntry;
using nereid::triton::Find;
using nereid::triton::PluginCache;
using nereid::triton::Serve;
using nereid::triton::Site;
using nereid::triton::WrongHandle;

namespace {

Status CheckIndex(const CacheEntry& entry, size_t index) {
  return index < entry.buffers.size()
             ? Status()
             : Status::InvalidArgument("there is no buffer " + std::to_string(index) +
                                       ", the entry has " + std::to_string(entry.buffers.size()));
}

// The attributes of a buffer that a cache gives.
Status ReadAttributes(const Site& site, const TRITONSERVER_BufferAttributes* pointer,
                      size_t* byte_size_out) {
  const auto* const attributes = Find<BufferAttributes>(pointer);
  if (attributes == nullptr) {
    return WrongHandle(site, BufferAttributes::kKind, pointer);
  }
  if (attributes->type == TRITONSERVER_MEMORY_GPU) {
    return Status::InvalidArgument(
        "the buffer is in the memory of a GPU, expected memory of the "
        "processor");
  }
  *byte_size_out = attributes->byte_size;
  return Status();
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONCACHE_ApiVersion(uint32_t* major, uint32_t* minor) {
  *major = TRITONCACHE_API_VERSION_MAJOR;
  *minor = TRITONCACHE_API_VERSION_MINOR;
  return nullptr;
}

TRITONSERVER_Error* TRITONCACHE_CacheEntryBufferCount(TRITONCACHE_CacheEntry* entry,
                                                      size_t* count) {
  return Serve<CacheEntry>(NRT_SITE, entry,
                           [&](CacheEntry& known) { *count = known.buffers.size(); });
}

TRITONSERVER_Error* TRITONCACHE_CacheEntryAddBuffer(
    TRITONCACHE_CacheEntry* entry, void* base, TRITONSERVER_BufferAttributes* buffer_attributes) {
  const Site site = NRT_SITE;
  return Serve<CacheEntry>(site, entry, [&](CacheEntry& known) -> Status {
    size_t byte_size = 0;
    NRD_RETURN_IF_ERROR(ReadAttributes(site, buffer_attributes, &byte_size));
    if (base == nullptr || byte_size == 0) {
      return Status::InvalidArgument("the buffer is NULL or empty");
    }
    known.buffers.push_back({base, byte_size});
    return Status();
  });
}

TRITONSERVER_Error* TRITONCACHE_CacheEntryGetBuffer(
    TRITONCACHE_CacheEntry* entry, size_t index, void** base,
    TRITONSERVER_BufferAttributes* buffer_attributes) {
  const Site site = NRT_SITE;
  return Serve<CacheEntry>(site, entry, [&](CacheEntry& known) -> Status {
    auto* const attributes = Find<BufferAttributes>(buffer_attributes);
    if (attributes == nullptr) {
      return WrongHandle(site, BufferAttributes::kKind, buffer_attributes);
    }
    NRD_RETURN_IF_ERROR(CheckIndex(known, index));
    *base = known.buffers[index].data;
    attributes->byte_size = known.buffers[index].byte_size;
    attributes->type = TRITONSERVER_MEMORY_CPU;
    attributes->id = 0;
    return Status();
  });
}

TRITONSERVER_Error* TRITONCACHE_CacheEntrySetBuffer(
    TRITONCACHE_CacheEntry* entry, size_t index, void* new_base,
    TRITONSERVER_BufferAttributes* buffer_attributes) {
  const Site site = NRT_SITE;
  return Serve<CacheEntry>(site, entry, [&](CacheEntry& known) -> Status {
    NRD_RETURN_IF_ERROR(CheckIndex(known, index));
    size_t byte_size = known.buffers[index].byte_size;
    if (buffer_attributes != nullptr) {
      NRD_RETURN_IF_ERROR(ReadAttributes(site, buffer_attributes, &byte_size));
    }
    known.buffers[index] = {new_base, byte_size};
    return Status();
  });
}

TRITONSERVER_Error* TRITONCACHE_Copy(TRITONCACHE_Allocator* allocator,
                                     TRITONCACHE_CacheEntry* entry) {
  const Site site = NRT_SITE;
  return Serve<CacheEntry>(site, entry, [&](CacheEntry& known) -> Status {
    auto* const copier = Find<CacheCopier>(allocator);
    return copier == nullptr ? WrongHandle(site, CacheCopier::kKind, allocator)
                             : copier->Copy(known);
  });
}

int32_t nrt_cache_open(nrd_string name, nrd_string library, nrd_string config,
                       nrt_cache** cache_out, nrd_cache* table_out, nrd_error* error_out) {
  std::unique_ptr<PluginCache> cache;
  const Status status = PluginCache::Create(View(name), View(library), View(config), &cache);
  if (status.ok()) {
    *table_out = cache->Table();
    *cache_out = reinterpret_cast<nrt_cache*>(cache.release());
  }
  return nereid::Report(status, error_out);
}

void nrt_cache_close(nrt_cache* cache) { delete reinterpret_cast<PluginCache*>(cache); }

}  // extern "C"

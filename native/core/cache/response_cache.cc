#include "core/cache/response_cache.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <list>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/counter.h"
#include "base/mutex.h"
#include "core/cache/cache_entry.h"
#include "core/cache/request_hash.h"

namespace nereid {
namespace {

constexpr uint32_t kMaxShards = 16;
// A small cache gets fewer shards, so that one response of some megabytes still fits into it.
constexpr uint64_t kMinShardBytes = uint64_t{4} << 20;

// Approximately the list node, the index node and the allocation overhead of an entry.
constexpr uint64_t kEntryOverheadBytes = 256;

uint32_t ShardCount(uint64_t byte_limit) {
  const uint64_t wanted = std::clamp<uint64_t>(byte_limit / kMinShardBytes, 1, kMaxShards);
  return static_cast<uint32_t>(std::bit_floor(wanted));
}

}  // namespace

struct ResponseCache::Entry {
  CacheKey key;
  uint64_t charged_bytes = 0;
  // Copies of the outputs; their `data` points into this entry's data, or is NULL.
  std::vector<nrd_tensor> outputs;
  uint64_t data_bytes = 0;
  std::unique_ptr<uint8_t[]> data;
};

struct alignas(64) ResponseCache::Shard {
  // Shared with lookups that copy from an entry while it is evicted.
  using EntryList = std::list<std::shared_ptr<const Entry>>;
  struct KeyHash {
    size_t operator()(const CacheKey& key) const { return key.lo; }
  };

  // Moves the entry out into `removed`, which the caller destroys without the lock.
  void Remove(EntryList::iterator at, EntryList* removed) NRD_REQUIRES(mutex) {
    bytes -= (*at)->charged_bytes;
    index.erase((*at)->key);
    removed->splice(removed->begin(), recent, at);
  }

  Mutex mutex;
  EntryList recent NRD_GUARDED_BY(mutex);  // the one used last is first
  std::unordered_map<CacheKey, EntryList::iterator, KeyHash> index NRD_GUARDED_BY(mutex);
  uint64_t bytes NRD_GUARDED_BY(mutex) = 0;
  uint64_t evictions NRD_GUARDED_BY(mutex) = 0;
  std::atomic<uint64_t> hits{0};
  std::atomic<uint64_t> misses{0};
};

ResponseCache::ResponseCache(uint64_t byte_limit)
    : keys_(HashKeys::Random()),
      byte_limit_(byte_limit),
      shard_count_(ShardCount(byte_limit)),
      shards_(new Shard[shard_count_]) {}

ResponseCache::~ResponseCache() = default;

Hash128 ResponseCache::HashOfModel(std::string_view model, std::string_view version) const {
  Hash128 hash(keys_);
  hash.AddText(model);
  hash.AddText(version);
  return hash;
}

ResponseCache::Shard& ResponseCache::ShardOf(const CacheKey& key) const {
  return shards_[key.hi & (shard_count_ - 1)];
}

CacheKey ResponseCache::KeyOf(std::string_view model, std::string_view version,
                              const nrd_request& request) const {
  Hash128 hash = HashOfModel(model, version);
  const uint64_t model_tag = hash.Finish().lo;
  HashRequest(request, &hash);
  const Hash128::Value value = hash.Finish();
  return {value.hi, value.lo, model_tag};
}

bool ResponseCache::Lookup(const CacheKey& key, BufferPool& pool, nrd_request* request,
                           PoolAccount* account) {
  Shard& shard = ShardOf(key);
  std::shared_ptr<const Entry> entry;
  {
    const MutexLock lock(shard.mutex);
    const auto found = shard.index.find(key);
    if (found != shard.index.end()) {
      shard.recent.splice(shard.recent.begin(), shard.recent, found->second);
      entry = *found->second;
    }
  }
  // Copying, which can take long, runs without the lock.
  if (entry == nullptr || !CopyOut(*entry, pool, request, account)) {
    AddShared(&shard.misses, 1);
    return false;
  }
  AddShared(&shard.hits, 1);
  return true;
}

bool ResponseCache::CopyOut(const Entry& entry, BufferPool& pool, nrd_request* request,
                            PoolAccount* account) {
  if (entry.outputs.size() != request->output_count) {
    return false;
  }
  void* slab;
  if (!pool.Allocate(entry.data_bytes, &slab, account).ok()) {
    return false;
  }
  // The block has the outputs at the same offsets as the slab.
  if (entry.data_bytes > 0) {
    std::memcpy(slab, entry.data.get(), entry.data_bytes);
  }
  for (uint32_t i = 0; i < request->output_count; ++i) {
    const nrd_tensor& stored = entry.outputs[i];
    nrd_tensor& output = request->outputs[i];
    const uint32_t flags = output.flags;
    output = stored;
    output.flags = flags;
    if (stored.data != nullptr) {
      output.data = static_cast<uint8_t*>(slab) +
                    (static_cast<const uint8_t*>(stored.data) - entry.data.get());
      output.slab = slab;
      BufferPool::Retain(slab);
    }
  }
  BufferPool::Release(slab);
  return true;
}

void ResponseCache::Insert(const CacheKey& key, const nrd_request& request) {
  Shard& shard = ShardOf(key);
  const uint64_t shard_limit = byte_limit_ / shard_count_;
  uint64_t charged_bytes = kEntryOverheadBytes + sizeof(Entry);
  for (uint32_t i = 0; i < request.output_count; ++i) {
    charged_bytes += sizeof(nrd_tensor) + AlignUp(request.outputs[i].byte_size);
  }
  if (charged_bytes > shard_limit) {
    return;
  }
  {
    const MutexLock lock(shard.mutex);
    if (shard.index.contains(key)) {
      return;
    }
  }
  const std::shared_ptr<Entry> entry = CopyIn(request);
  if (entry == nullptr) {
    return;
  }
  entry->key = key;
  entry->charged_bytes = charged_bytes;
  Shard::EntryList removed;
  // All allocations precede the change of the index.
  Shard::EntryList added{entry};
  const MutexLock lock(shard.mutex);
  const auto [place, is_new] = shard.index.try_emplace(key, added.begin());
  if (!is_new) {
    return;  // another thread has stored the same response
  }
  shard.recent.splice(shard.recent.begin(), added);
  shard.bytes += charged_bytes;
  while (shard.bytes > shard_limit) {
    shard.Remove(std::prev(shard.recent.end()), &removed);
    ++shard.evictions;
  }
}

std::shared_ptr<ResponseCache::Entry> ResponseCache::CopyIn(const nrd_request& request) {
  auto entry = std::make_shared<Entry>();
  entry->outputs.assign(request.outputs, request.outputs + request.output_count);
  for (const nrd_tensor& output : entry->outputs) {
    entry->data_bytes += output.data == nullptr ? 0 : AlignUp(output.byte_size);
  }
  entry->data.reset(new (std::nothrow) uint8_t[entry->data_bytes]);
  if (entry->data == nullptr) {
    return nullptr;
  }
  uint8_t* at = entry->data.get();
  for (nrd_tensor& output : entry->outputs) {
    output.slab = nullptr;
    if (output.data == nullptr) {
      continue;
    }
    if (output.byte_size > 0) {
      std::memcpy(at, output.data, output.byte_size);
      // Clears the gap, which is copied too: into a slab, and perhaps further.
      std::memset(at + output.byte_size, 0, AlignUp(output.byte_size) - output.byte_size);
    }
    output.data = at;
    at += AlignUp(output.byte_size);
  }
  return entry;
}

void ResponseCache::EraseModel(std::string_view model, std::string_view version) {
  const uint64_t model_tag = HashOfModel(model, version).Finish().lo;
  for (uint32_t i = 0; i < shard_count_; ++i) {
    Shard& shard = shards_[i];
    Shard::EntryList removed;
    const MutexLock lock(shard.mutex);
    for (auto at = shard.recent.begin(); at != shard.recent.end();) {
      const auto next = std::next(at);
      if ((*at)->key.model == model_tag) {
        shard.Remove(at, &removed);
      }
      at = next;
    }
  }
}

void ResponseCache::ReadStats(nrd_cache_stats* stats_out) const {
  nrd_cache_stats stats{};
  stats.struct_size = sizeof(stats);
  stats.byte_limit = byte_limit_;
  for (uint32_t i = 0; i < shard_count_; ++i) {
    Shard& shard = shards_[i];
    const MutexLock lock(shard.mutex);
    stats.bytes += shard.bytes;
    stats.entries += shard.index.size();
    stats.evictions += shard.evictions;
    stats.hits += ReadCounter(shard.hits);
    stats.misses += ReadCounter(shard.misses);
  }
  *stats_out = stats;
}

}  // namespace nereid

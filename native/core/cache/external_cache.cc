#include "core/cache/external_cache.h"

#include <array>
#include <cstring>
#include <exception>
#include <span>

#include "base/counter.h"
#include "base/sha256.h"
#include "base/tensor.h"
#include "core/cache/cache_entry.h"
#include "core/cache/request_hash.h"
#include "core/config/model_config.h"
#include "core/request/request.h"

namespace nereid {
namespace {

// The key as 48 hexadecimal digits.
using KeyText = std::array<char, 2 * sizeof(CacheKey)>;

KeyText TextOf(const CacheKey& key) {
  constexpr char kDigits[] = "0123456789abcdef";
  uint8_t bytes[sizeof(CacheKey)];
  std::memcpy(bytes, &key, sizeof(bytes));
  KeyText text;
  for (size_t i = 0; i < sizeof(bytes); ++i) {
    text[2 * i] = kDigits[bytes[i] >> 4];
    text[2 * i + 1] = kDigits[bytes[i] & 15];
  }
  return text;
}

nrd_string View(const KeyText& text) { return {text.data(), text.size()}; }

std::span<const TensorSpec> OutputsOf(const nrd_request& request) {
  return Request::From(&request)->config->VisibleOutputs();
}

struct Taker {
  const CacheKey& key;
  BufferPool& pool;
  PoolAccount* account;
  nrd_request* request;
  bool taken = false;
};

int32_t Take(void* context, const void* data, uint64_t byte_size) {
  auto* const taker = static_cast<Taker*>(context);
  if (taker->taken) {
    return NRD_FAILED_PRECONDITION;
  }
  try {
    taker->taken =
        ReadCacheEntry({static_cast<const uint8_t*>(data), byte_size}, taker->key,
                       OutputsOf(*taker->request), taker->pool, taker->account, taker->request);
  } catch (const std::exception&) {  // only memory for a message can be lacking here
  }
  return taker->taken ? NRD_OK : NRD_INVALID_ARGUMENT;
}

struct Giver {
  const CacheKey& key;
  const nrd_request& request;
  uint64_t byte_size;
};

void Give(void* context, void* data) {
  const auto* const giver = static_cast<const Giver*>(context);
  WriteCacheEntry(giver->key, OutputsOf(giver->request), giver->request,
                  {static_cast<uint8_t*>(data), giver->byte_size});
}

}  // namespace

CacheKey ExternalCache::KeyOf(std::string_view model, std::string_view version,
                              const nrd_request& request) const {
  Sha256 hash;
  hash.AddText(model);
  hash.AddText(version);
  HashRequest(request, &hash);
  const Sha256::Digest digest = hash.Finish();
  CacheKey key;
  static_assert(sizeof(key) <= sizeof(digest));
  std::memcpy(&key, digest.data(), sizeof(key));
  return key;
}

bool ExternalCache::Lookup(const CacheKey& key, BufferPool& pool, nrd_request* request,
                           PoolAccount* account) {
  const KeyText text = TextOf(key);
  Taker taker{.key = key, .pool = pool, .account = account, .request = request};
  const int32_t code = cache_.lookup(cache_.context, View(text), &taker, Take);
  if (code != NRD_OK && taker.taken) {
    DropTensors(request->outputs, request->output_count);
  }
  const bool hit = code == NRD_OK && taker.taken;
  AddShared(hit ? &hits_ : &misses_, 1);
  return hit;
}

void ExternalCache::Insert(const CacheKey& key, const nrd_request& request) {
  const KeyText text = TextOf(key);
  Giver giver{
      .key = key, .request = request, .byte_size = CacheEntrySize(OutputsOf(request), request)};
  (void)cache_.insert(cache_.context, View(text), giver.byte_size, &giver, Give);
}

void ExternalCache::ReadStats(nrd_cache_stats* stats_out) const {
  *stats_out = nrd_cache_stats{};
  stats_out->struct_size = sizeof(nrd_cache_stats);
  stats_out->hits = ReadCounter(hits_);
  stats_out->misses = ReadCounter(misses_);
}

}  // namespace nereid

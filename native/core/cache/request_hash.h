// Feeds a hash with everything in a request that its answer depends on.
#ifndef NEREID_CORE_CACHE_REQUEST_HASH_H_
#define NEREID_CORE_CACHE_REQUEST_HASH_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/status.h"
#include "base/tensor.h"
#include "nereid/nereid.h"

namespace nereid {

// A bit per output. A request without selected outputs wants all, and hashes so.
template <typename Hash>
void HashWantedOutputs(const nrd_request& request, Hash* hash) {
  const nrd_tensor* const outputs = request.outputs;
  const bool wants_all = std::none_of(outputs, outputs + request.output_count, IsSelected);
  for (uint32_t i = 0; i < request.output_count; i += 64) {
    const uint32_t count = std::min(request.output_count - i, 64U);
    uint64_t bits = 0;
    for (uint32_t j = 0; j < count; ++j) {
      bits |= uint64_t{wants_all || IsSelected(outputs[i + j])} << j;
    }
    hash->AddWord(bits);
  }
}

template <typename Hash>
void HashInput(const nrd_tensor& input, Hash* hash) {
  if (!IsSelected(input)) {
    hash->AddWord(0);
    return;
  }
  hash->AddPair(1, uint64_t{static_cast<uint32_t>(input.datatype)} << 32 | input.rank);
  for (uint32_t i = 0; i < input.rank; ++i) {
    hash->AddWord(static_cast<uint64_t>(input.shape[i]));
  }
  hash->AddBytes(input.data, input.byte_size);
}

template <typename Hash>
void HashValue(const nrd_value& value, Hash* hash) {
  hash->AddText(View(value.name));
  hash->AddText(View(value.text));
  hash->AddPair(static_cast<uint64_t>(value.number), std::bit_cast<uint64_t>(value.real));
  hash->AddWord(static_cast<uint32_t>(value.kind));
}

// Hashes the request without the model.
template <typename Hash>
void HashRequest(const nrd_request& request, Hash* hash) {
  hash->AddPair(request.input_count, request.output_count);
  HashWantedOutputs(request, hash);
  for (uint32_t i = 0; i < request.input_count; ++i) {
    HashInput(request.inputs[i], hash);
  }
  for (uint32_t i = 0; i < request.value_count; ++i) {
    HashValue(request.values[i], hash);
  }
}

}  // namespace nereid

#endif  // NEREID_CORE_CACHE_REQUEST_HASH_H_

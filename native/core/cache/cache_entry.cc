#include "core/cache/cache_entry.h"

#include <cstring>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "core/cache/hash128.h"

namespace nereid {
namespace {

// Changed whenever the format changes.
constexpr uint64_t kFormat = 0x3145'4843'4144'524E;  // "NRDACHE1"

struct Head {
  uint64_t format;
  CacheKey key;
  uint64_t check[2];  // hash of everything behind the head
};

struct OutputHead {
  uint64_t byte_size;
  int32_t datatype;
  uint32_t rank;
  uint32_t name_size;
  uint32_t is_there;
  // The sizes, as many as the rank, and the name follow.
};

// Computes a hash that detects accidental changes, not deliberate ones.
void Check(const uint8_t* data, uint64_t byte_size, uint64_t* check_out) {
  static constexpr HashKeys kKeys{{0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB,
                                   0xD6E8FEB86659FD93, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                                   0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53}};
  Hash128 hash(kKeys);
  hash.AddBytes(data, byte_size);
  const Hash128::Value value = hash.Finish();
  check_out[0] = value.hi;
  check_out[1] = value.lo;
}

class Writer {
 public:
  explicit Writer(uint8_t* at) : at_(at) {}
  void Append(const void* data, uint64_t byte_size) {
    if (byte_size > 0) {
      std::memcpy(at_, data, byte_size);
      at_ += byte_size;
    }
  }

 private:
  uint8_t* at_;
};

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> rest) : rest_(rest) {}
  // Takes bytes; null: fewer are left.
  const uint8_t* Take(uint64_t byte_size) {
    if (byte_size > rest_.size()) {
      return nullptr;
    }
    const uint8_t* const taken = rest_.data();
    rest_ = rest_.subspan(byte_size);
    return taken;
  }
  bool Read(void* target, uint64_t byte_size) {
    const uint8_t* const taken = Take(byte_size);
    if (taken != nullptr && byte_size > 0) {
      std::memcpy(target, taken, byte_size);
    }
    return taken != nullptr;
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::span<const uint8_t> rest_;
};

// Reads an output of an entry; false if it is not what the model has. If the output is there, it is
// selected, without memory.
bool ReadOutput(const TensorSpec& spec, bool wanted, Reader* reader, nrd_tensor* output) {
  OutputHead head;
  if (!reader->Read(&head, sizeof(head)) || head.rank > NRD_MAX_RANK ||
      !reader->Read(output->shape, head.rank * sizeof(int64_t)) ||
      head.name_size != spec.name.size()) {
    return false;
  }
  const uint8_t* const name = reader->Take(head.name_size);
  if (name == nullptr || std::memcmp(name, spec.name.data(), head.name_size) != 0) {
    return false;
  }
  output->byte_size = head.byte_size;
  output->datatype = head.datatype;
  output->rank = head.rank;
  if (head.is_there == 0) {
    return !wanted && head.byte_size == 0;
  }
  output->flags = NRD_TENSOR_SELECTED;
  uint64_t count = 0;
  uint64_t byte_size = head.byte_size;
  return head.datatype == spec.datatype && ElementCount(head.rank, output->shape, &count).ok() &&
         (spec.datatype == NRD_TYPE_BYTES ||
          TensorByteSize(spec.datatype, head.rank, output->shape, &byte_size).ok()) &&
         byte_size == head.byte_size;
}

bool IsValid(const nrd_tensor& output, const uint8_t* data) {
  uint64_t count = 0;
  return output.datatype != NRD_TYPE_BYTES ||
         (ElementCount(output.rank, output.shape, &count).ok() &&
          ValidateBytes(data, output.byte_size, count, "cached output").ok());
}

}  // namespace

uint64_t CacheEntrySize(std::span<const TensorSpec> specs, const nrd_request& request) {
  uint64_t byte_size = sizeof(Head);
  for (uint32_t i = 0; i < request.output_count; ++i) {
    const nrd_tensor& output = request.outputs[i];
    byte_size += sizeof(OutputHead) + specs[i].name.size();
    if (output.data != nullptr) {
      byte_size += output.rank * sizeof(int64_t) + output.byte_size;
    }
  }
  return byte_size;
}

void WriteCacheEntry(const CacheKey& key, std::span<const TensorSpec> specs,
                     const nrd_request& request, std::span<uint8_t> entry) {
  Writer writer(entry.data() + sizeof(Head));
  for (uint32_t i = 0; i < request.output_count; ++i) {
    const nrd_tensor& output = request.outputs[i];
    const bool there = output.data != nullptr;
    const OutputHead head{.byte_size = there ? output.byte_size : 0,
                          .datatype = there ? output.datatype : specs[i].datatype,
                          .rank = there ? output.rank : 0,
                          .name_size = static_cast<uint32_t>(specs[i].name.size()),
                          .is_there = there ? 1U : 0U};
    writer.Append(&head, sizeof(head));
    writer.Append(output.shape, head.rank * sizeof(int64_t));
    writer.Append(specs[i].name.data(), head.name_size);
  }
  for (uint32_t i = 0; i < request.output_count; ++i) {
    if (request.outputs[i].data != nullptr) {
      writer.Append(request.outputs[i].data, request.outputs[i].byte_size);
    }
  }
  Head head{.format = kFormat, .key = key, .check = {}};
  Check(entry.data() + sizeof(Head), entry.size() - sizeof(Head), head.check);
  std::memcpy(entry.data(), &head, sizeof(head));
}

bool ReadCacheEntry(std::span<const uint8_t> entry, const CacheKey& key,
                    std::span<const TensorSpec> specs, BufferPool& pool, PoolAccount* account,
                    nrd_request* request) {
  Reader reader(entry);
  Head head;
  if (!reader.Read(&head, sizeof(head)) || head.format != kFormat || !(head.key == key)) {
    return false;
  }
  uint64_t check[2];
  Check(entry.data() + sizeof(Head), entry.size() - sizeof(Head), check);
  if (std::memcmp(check, head.check, sizeof(check)) != 0) {
    return false;
  }
  std::vector<nrd_tensor> outputs(specs.size());
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!ReadOutput(specs[i], IsSelected(request->outputs[i]), &reader, &outputs[i])) {
      return false;
    }
  }
  uint64_t slab_size = 0;
  for (nrd_tensor& output : outputs) {
    if (!IsSelected(output)) {
      continue;
    }
    const uint8_t* const data = reader.Take(output.byte_size);
    if (data == nullptr || !IsValid(output, data)) {
      return false;
    }
    output.data = const_cast<uint8_t*>(data);  // the entry's memory, until it is copied below
    slab_size += AlignUp(output.byte_size);
  }
  void* slab = nullptr;
  if (!reader.empty() || !pool.Allocate(slab_size, &slab, account).ok()) {
    return false;
  }
  auto* at = static_cast<uint8_t*>(slab);
  for (size_t i = 0; i < specs.size(); ++i) {
    nrd_tensor& output = outputs[i];
    output.flags = request->outputs[i].flags;
    if (output.data != nullptr) {
      if (output.byte_size > 0) {
        std::memcpy(at, output.data, output.byte_size);
      }
      output.data = at;
      output.slab = slab;
      BufferPool::Retain(slab);
      at += AlignUp(output.byte_size);
    }
    request->outputs[i] = output;
  }
  BufferPool::Release(slab);
  return true;
}

}  // namespace nereid

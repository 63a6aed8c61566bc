#include "core/request/reshape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace nereid {
namespace {

using Place = std::vector<int64_t>::const_iterator;

std::string ToString(const std::vector<int64_t>& dims) {
  return ShapeToString(static_cast<uint32_t>(dims.size()), dims.data());
}

// Multiplies the fixed sizes from `*place` up to the next -1 or `end`, and leaves `*place` there.
Status TakeFixed(Place* place, Place end, uint64_t* count_out) {
  const Place next = std::find(*place, end, -1);
  const std::vector<int64_t> fixed(*place, next);
  *place = next;
  return ElementCount(static_cast<uint32_t>(fixed.size()), fixed.data(), count_out);
}

// Fills the k-th -1 of `to` with the size of `shape` at the k-th -1 of `from`.
void Fill(const std::vector<int64_t>& from, const std::vector<int64_t>& to, bool batched,
          nrd_tensor* tensor) {
  int64_t* const shape = tensor->shape + (batched ? 1 : 0);
  int64_t free_sizes[NRD_MAX_RANK];
  size_t free_count = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == -1) {
      free_sizes[free_count++] = shape[i];
    }
  }
  const int64_t* next_free = free_sizes;
  for (size_t i = 0; i < to.size(); ++i) {
    shape[i] = to[i] == -1 ? *next_free++ : to[i];
  }
  tensor->rank = static_cast<uint32_t>(to.size()) + (batched ? 1 : 0);
}

}  // namespace

Status CheckReshape(const TensorSpec& spec, std::string_view what) {
  const std::vector<int64_t>& dims = spec.dims;
  const std::vector<int64_t>& reshape = *spec.reshape;
  const std::string both =
      std::string(what) + " has dims " + ToString(dims) + " and reshape " + ToString(reshape);
  const auto free_dims = std::count(dims.begin(), dims.end(), -1);
  const auto free_reshape = std::count(reshape.begin(), reshape.end(), -1);
  if (free_dims != free_reshape) {
    return Status::InvalidArgument(both + ", which must have the same number of free dimensions " +
                                   "(-1), got " + std::to_string(free_dims) + " and " +
                                   std::to_string(free_reshape));
  }
  Place left = dims.begin();
  Place right = reshape.begin();
  for (std::ptrdiff_t part = 0; part <= free_dims; ++part) {
    uint64_t left_count = 0;
    uint64_t right_count = 0;
    if (!TakeFixed(&left, dims.end(), &left_count).ok() ||
        !TakeFixed(&right, reshape.end(), &right_count).ok()) {
      return Status::InvalidArgument(both + ", which hold more elements than a tensor can have");
    }
    if (left_count != right_count) {
      return Status::InvalidArgument(
          both + ", which must have the same number of elements" +
          (free_dims > 0 ? " before, between and after their free dimensions (-1)" : "") +
          ", got " + std::to_string(left_count) + " and " + std::to_string(right_count));
    }
    if (part < free_dims) {  // step over the -1
      ++left;
      ++right;
    }
  }
  return Status();
}

void ToBackendShape(const TensorSpec& spec, bool batched, nrd_tensor* tensor) {
  if (spec.reshape) {
    Fill(spec.dims, *spec.reshape, batched, tensor);
  }
}

void ToClientShape(const TensorSpec& spec, bool batched, nrd_tensor* tensor) {
  if (spec.reshape) {
    Fill(*spec.reshape, spec.dims, batched, tensor);
  }
}

}  // namespace nereid

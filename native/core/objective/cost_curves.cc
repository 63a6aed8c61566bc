#include "core/objective/cost_curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>

namespace nereid {
namespace {

constexpr double kSameSize = 0.26;  // octaves
constexpr size_t kMostSizes = 16;   // of a kind; further sizes use the nearest curve

double Distance(uint64_t a, uint64_t b) {
  return a == b ? 0 : std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
}

}  // namespace

CostCurves::Nearest CostCurves::NearestTo(uint32_t kind, uint64_t row_elements) const {
  Nearest nearest;
  size_t sizes = 0;
  for (const Entry& entry : entries_) {
    if (entry.kind != kind || (entry.row_elements == 0) != (row_elements == 0)) {
      continue;
    }
    ++sizes;
    if (nearest.entry == nullptr || Distance(entry.row_elements, row_elements) <
                                        Distance(nearest.entry->row_elements, row_elements)) {
      nearest.entry = &entry;
    }
  }
  nearest.stands_for_it =
      nearest.entry != nullptr &&
      (sizes >= kMostSizes || Distance(nearest.entry->row_elements, row_elements) <= kSameSize);
  return nearest;
}

CostCurve& CostCurves::Of(uint32_t kind, uint64_t row_elements) {
  const auto [nearest, stands_for_it] = NearestTo(kind, row_elements);
  if (stands_for_it) {
    return *nearest->curve;
  }
  auto curve = std::make_unique<CostCurve>(max_rows_);
  if (nearest != nullptr) {  // the curve of another size, neither of them 0
    const double ratio =
        static_cast<double>(row_elements) / static_cast<double>(nearest->row_elements);
    std::array<nrd_cost_point, 64> points;
    const uint32_t count = nearest->curve->Read(points.data(), points.size());
    for (uint32_t i = 0; i < std::min<size_t>(count, points.size()); ++i) {
      points[i].mean_ns *= ratio;
      points[i].high_ns *= ratio;
      points[i].weight = 1;
      curve->Begin(points[i]);
    }
  }
  const auto place = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.kind > kind || (entry.kind == kind && entry.row_elements > row_elements);
  });
  return *entries_.insert(place, {kind, row_elements, std::move(curve)})->curve;
}

const CostCurve& CostCurves::At(uint32_t kind, uint64_t row_elements) noexcept {
  try {
    return Of(kind, row_elements);
  } catch (const std::bad_alloc&) {
    return unknown_;
  }
}

uint32_t CostCurves::Read(nrd_cost_point* points_out, uint32_t capacity) const {
  uint32_t count = 0;
  for (const Entry& entry : entries_) {
    const uint32_t room = capacity > count ? capacity - count : 0;
    const uint32_t points = entry.curve->Read(points_out + (room > 0 ? count : 0), room);
    for (uint32_t i = count; i < std::min(count + points, capacity); ++i) {
      points_out[i].kind = entry.kind;
      points_out[i].row_elements = entry.row_elements;
    }
    count += points;
  }
  return count;
}

}  // namespace nereid

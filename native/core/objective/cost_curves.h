// The cost curves of a model: one for each kind of instance and size of a row.
#ifndef NEREID_CORE_OBJECTIVE_COST_CURVES_H_
#define NEREID_CORE_OBJECTIVE_COST_CURVES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/objective/cost_curve.h"

namespace nereid {

// Sizes within a fifth share a curve. A new curve begins with the nearest one's values, in
// proportion. Size 0 means that all rows have one size, and is near to no other. Not synchronised.
// The methods Of and At allocate for a new size.
class CostCurves {
 public:
  explicit CostCurves(int64_t max_rows) : max_rows_(max_rows), unknown_(max_rows) {}

  // `row_elements` 0: rows have one size. Throws if memory is lacking.
  CostCurve& Of(uint32_t kind, uint64_t row_elements);
  // The same for reading, without failure: if memory for a curve is lacking, the size is unknown.
  const CostCurve& At(uint32_t kind, uint64_t row_elements) noexcept;
  // Finds a curve; null: there is none yet.
  [[nodiscard]] CostCurve* Find(uint32_t kind, uint64_t row_elements) const {
    const Nearest nearest = NearestTo(kind, row_elements);
    return nearest.stands_for_it ? nearest.entry->curve.get() : nullptr;
  }

  // Writes points by kind and size, `capacity` at most; returns how many there are.
  uint32_t Read(nrd_cost_point* points_out, uint32_t capacity) const;

 private:
  struct Entry {
    uint32_t kind;
    uint64_t row_elements;
    std::unique_ptr<CostCurve> curve;
  };
  struct Nearest {
    const Entry* entry = nullptr;  // null: none
    bool stands_for_it = false;
  };

  [[nodiscard]] Nearest NearestTo(uint32_t kind, uint64_t row_elements) const;

  const int64_t max_rows_;
  const CostCurve unknown_;     // a curve without measurements
  std::vector<Entry> entries_;  // by kind and size
};

}  // namespace nereid

#endif  // NEREID_CORE_OBJECTIVE_COST_CURVES_H_

// Learns from executions how long those of so many rows take.
#ifndef NEREID_CORE_OBJECTIVE_COST_CURVE_H_
#define NEREID_CORE_OBJECTIVE_COST_CURVE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nereid/nereid.h"

namespace nereid {

// Times are kept for each number of rows, large ones in steps of about a fifth, and between them
// they are interpolated. Proportions and speed are learned separately. The proportions between
// sizes change slowly: an execution moves its own size by a twentieth. The speed of the machine
// changes for all sizes at once: the median of the last three executions, so that two that agree
// are believed and one alone is not; of the last seven or fifteen if more deviate. Other work on
// the machine, such as the frontends under load, does not slow all sizes equally, and sizes were
// learned at different times: after a change all lose weight.
//
// Only the product of the two is ever measured, so noise could drag them apart without end, and
// with them every size that is not executed at the moment. Therefore the speed differs from the
// usual by at most kMostChange, and a lasting speed becomes the usual.
//
// Not synchronised, and reads no clock. Only the constructor allocates.
class CostCurve {
 public:
  explicit CostCurve(int64_t max_rows);

  // Adds a known point, which counts as a few executions, whatever its weight.
  void Begin(const nrd_cost_point& point);
  void Measured(int64_t rows, int64_t duration_ns);

  // True if anything was ever measured; all else is 0 before.
  [[nodiscard]] bool known() const { return knot_count_ > 0; }
  [[nodiscard]] int64_t MeanNs(int64_t rows) const;
  // The duration that about a hundredth of the executions exceed.
  [[nodiscard]] int64_t HighNs(int64_t rows) const;
  // The duration that four of five of the last executions exceed.
  [[nodiscard]] int64_t LowNs(int64_t rows) const;
  // The duration for a caution: 1 the high one, 0 the mean, -1 the low one, and between them.
  [[nodiscard]] int64_t BoundNs(int64_t rows, double caution) const;
  // True if executions differ so much that the next one can hardly be predicted.
  [[nodiscard]] bool wild() const;
  // The approximate share of executions that take no longer than the budget.
  [[nodiscard]] double ShareWithin(int64_t rows, int64_t budget_ns) const;
  // Twice the largest size that was executed: more rows are not tried at once.
  [[nodiscard]] int64_t proven_rows() const { return proven_rows_; }
  [[nodiscard]] int64_t most_rows() const { return most_rows_; }
  // The largest number of rows, at most `limit`, that take no longer than the budget; 0: none.
  [[nodiscard]] int64_t RowsWithin(int64_t budget_ns, int64_t limit, double caution = 1) const;
  // The uncertainty of the prediction for so many rows, from 0 to 1.
  [[nodiscard]] double DoubtOf(int64_t rows) const;

  // Writes at most `capacity` points, without kind and size of a row; returns how many there are.
  uint32_t Read(nrd_cost_point* points_out, uint32_t capacity) const;

 private:
  struct Size {
    double rows = 0;     // mean of the sizes that the entry covers
    double mean_ns = 0;  // at the machine's usual speed
    double spread = 0;   // mean deviation, as a share of the mean
    double weight = 0;
    std::array<double, 3> first = {};  // the first executions: `seen` of them, at most three
    size_t seen = 0;
  };
  struct Knot {
    double rows = 0;
    double mean_ns = 0;
    double high_ns = 0;
    double weight = 0;
  };

  void FollowMachine(double implied, double spread);
  [[nodiscard]] double OfLast(size_t count, size_t index) const;
  void Update(Size& size, double rows, double duration_ns);
  void MakeKnots();
  void Pool(size_t last);
  [[nodiscard]] double At(double rows, double Knot::*what) const;

  const int64_t max_rows_;
  std::vector<Size> sizes_;
  std::vector<Knot> knots_;  // for the known sizes: not falling, and not rising above proportion
  size_t knot_count_ = 0;
  int64_t proven_rows_ = 0;
  int64_t most_rows_ = 1;
  double spread_ = 0.1;             // mean spread of all sizes
  double machine_ = 1;              // time of all executions now, relative to the usual
  double low_ = 1;                  // the same for the quick ones of the last executions
  std::array<double, 15> implied_;  // the same, from each of the last executions alone
  size_t next_implied_ = 0;
  double overrun_ = 0;    // excess over the prediction that surprises cause
  double surprises_ = 0;  // share of executions far from the prediction
};

}  // namespace nereid

#endif  // NEREID_CORE_OBJECTIVE_COST_CURVE_H_

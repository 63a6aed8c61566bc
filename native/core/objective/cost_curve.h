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
// they are interpolated. Two things are learned apart. The proportions between sizes change slowly:
// an execution moves its own size by a twentieth. The speed of the machine changes for all sizes at
// once: the median of what the last three executions say, so that two that agree are believed and
// one alone is not; of the last seven or fifteen where more stick out. A machine on which others
// are at work, such as the frontends under load, does not make all sizes slower alike, and some
// sizes were learned before and some since: after a change all have to prove themselves again.
//
// Only the product of the two is ever measured, so noise could drag them apart without end, and
// with them every size that is not executed at the moment. Therefore the machine is never taken to
// be more than kMostChange faster or slower than usual, and what lasts becomes the usual.
//
// Neither synchronised nor aware of clocks. Nothing here allocates but the constructor.
class CostCurve {
 public:
  explicit CostCurve(int64_t max_rows);

  // A point to begin with: it counts for a few executions, whatever its weight.
  void Begin(const nrd_cost_point& point);
  void Measured(int64_t rows, int64_t duration_ns);

  // True if anything was ever measured; all else is 0 before.
  [[nodiscard]] bool known() const { return knot_count_ > 0; }
  [[nodiscard]] int64_t MeanNs(int64_t rows) const;
  // The duration that about a hundredth of the executions exceed.
  [[nodiscard]] int64_t HighNs(int64_t rows) const;
  // The duration that four of five of the last executions exceed.
  [[nodiscard]] int64_t LowNs(int64_t rows) const;
  // With a caution of 1 the high one, with 0 the mean, with -1 the low one, and between them.
  [[nodiscard]] int64_t BoundNs(int64_t rows, double caution) const;
  // True if executions differ so much that little can be said of the next one.
  [[nodiscard]] bool wild() const;
  // The share of the executions that take no longer, about.
  [[nodiscard]] double ShareWithin(int64_t rows, int64_t budget_ns) const;
  // The largest that was executed, and twice that: more is not tried at once.
  [[nodiscard]] int64_t proven_rows() const { return proven_rows_; }
  [[nodiscard]] int64_t most_rows() const { return most_rows_; }
  // The largest number of rows, of at most `limit`, that take no longer; 0: not even one.
  [[nodiscard]] int64_t RowsWithin(int64_t budget_ns, int64_t limit, double caution = 1) const;
  // The doubt about what is said of so many rows, from 0 to 1.
  [[nodiscard]] double DoubtOf(int64_t rows) const;

  // Writes at most `capacity` points, without kind and size of a row; returns how many there are.
  uint32_t Read(nrd_cost_point* points_out, uint32_t capacity) const;

 private:
  struct Size {
    double rows = 0;     // mean of those that it stands for
    double mean_ns = 0;  // on the machine as it usually is
    double spread = 0;   // mean deviation, as a share of it
    double weight = 0;
    std::array<double, 3> first = {};  // executions, of which there were `seen`, at most three
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
  std::vector<Knot> knots_;  // of the sizes that were seen, neither falling nor above proportion
  size_t knot_count_ = 0;
  int64_t proven_rows_ = 0;
  int64_t most_rows_ = 1;
  double spread_ = 0.1;             // of all sizes
  double machine_ = 1;              // how much longer all takes now than usual
  double low_ = 1;                  // the same of those of the last executions that were quick
  std::array<double, 15> implied_;  // the same, as each of the last executions alone has it
  size_t next_implied_ = 0;
  double overrun_ = 0;    // how much longer executions take than predicted, by surprises alone
  double surprises_ = 0;  // share of the executions that had nothing to do with what was predicted
};

}  // namespace nereid

#endif  // NEREID_CORE_OBJECTIVE_COST_CURVE_H_

#include "core/objective/cost_curve.h"

#include <algorithm>
#include <cmath>

namespace nereid {
namespace {

constexpr int64_t kExactRows = 8;     // up to here each number has its own entry
constexpr double kStepsOfOctave = 4;  // beyond it
constexpr double kBeginWeight = 4;
constexpr double kMostWeight = 20;
// The uncertainty of a size that was executed once, beside the spread.
constexpr double kUncertain = 0.1;
constexpr double kLeastSpread = 0.01;
constexpr double kMostSpread = 1;
// Mean deviations above the mean that about a hundredth of a nearly normal distribution exceeds.
constexpr double kHighDeviations = 3;
// The machine's speed follows clear deviations at once. A lasting deviation becomes usual within
// some hundred executions: sizes learn it, and the speed returns to 1.
constexpr double kClearDeviations = 3;
constexpr double kMostChange = 16;
constexpr double kLasting = 0.998;
// An execution that takes more than twice as long as predicted, or less than half, is a surprise.
// With more surprises than this share, only most of the last executions together prove a change.
constexpr double kSurprise = 2;
constexpr double kSurpriseGain = 1.0 / 256;
constexpr double kSomeSurprises = 0.012;
constexpr double kManySurprises = 0.06;
// Executions are wild if surprises lengthen them this much on average, or if high ones take this
// many times the mean.
constexpr double kMostOverrun = 8;
constexpr double kOverrunGain = 1.0 / 128;
constexpr double kWildOverrun = 0.1;
constexpr double kWildHigh = 2;
constexpr size_t kFewAgree = 3;
constexpr size_t kSomeAgree = 7;
// The rank of the low execution among the last ones.
constexpr size_t kLow = 3;
// The share of executions below the low one and below the mean, if they differ much.
constexpr double kShareOfLow = 0.2;
constexpr double kShareOfMean = 0.6;
// A surprise multiplies the weight of its size by this.
constexpr double kDoubted = 0.8;
// Executions of other sizes multiply a size's weight by this: it is retried after thousands.
constexpr double kForgotten = 0.9995;
constexpr double kLeastWeight = 0.5;
// Below this weight, a size counts as a little cheaper per row than the size below, so that it is
// tried.
constexpr double kTrustedWeight = 3;
constexpr double kHope = 0.98;
// The most weight that a size keeps after a change of the machine.
constexpr double kWeightAfterChange = 2.5;
// With this spread, the few executions of a size may all have been slow by chance.
constexpr double kDoubtedSpread = 0.3;
constexpr double kDoubtOfFew = 0.0625;

size_t IndexOf(double rows) {
  if (rows <= kExactRows) {
    return static_cast<size_t>(std::max(rows, 1.0)) - 1;
  }
  const double steps = std::log2(rows / kExactRows) * kStepsOfOctave;
  return static_cast<size_t>(kExactRows - 1 + std::lround(steps));
}

bool IsSurprise(double ratio) { return ratio > kSurprise || ratio < 1 / kSurprise; }

}  // namespace

CostCurve::CostCurve(int64_t max_rows)
    : max_rows_(std::max<int64_t>(max_rows, 1)),
      sizes_(IndexOf(static_cast<double>(max_rows_)) + 1),
      knots_(sizes_.size()) {
  implied_.fill(1);
}

void CostCurve::Begin(const nrd_cost_point& point) {
  const double rows = std::min(static_cast<double>(point.rows), static_cast<double>(max_rows_));
  Size& size = sizes_[IndexOf(rows)];
  size = {.rows = rows,
          .mean_ns = point.mean_ns / machine_,
          .spread = std::clamp((point.high_ns / point.mean_ns - 1) / kHighDeviations, kLeastSpread,
                               kMostSpread),
          .weight = std::min(point.weight, kBeginWeight),
          .seen = 3};
  MakeKnots();
}

void CostCurve::Measured(int64_t rows, int64_t duration_ns) {
  const auto count = static_cast<double>(std::clamp<int64_t>(rows, 1, max_rows_));
  const double duration = std::max<double>(static_cast<double>(duration_ns), 1);
  Size& size = sizes_[IndexOf(count)];
  if (size.weight >= kTrustedWeight) {  // others would take their error for the machine's
    FollowMachine(duration / size.mean_ns, size.spread);
  }
  Update(size, count, duration / machine_);
  for (Size& other : sizes_) {
    other.weight = std::max(other.weight * kForgotten, std::min(other.weight, kLeastWeight));
  }
  MakeKnots();
}

void CostCurve::FollowMachine(double implied, double spread) {
  implied_[next_implied_] = std::clamp(implied, 1 / kMostChange, kMostChange);
  next_implied_ = (next_implied_ + 1) % implied_.size();
  const double ratio = implied / machine_;
  const double overrun = ratio > kSurprise ? std::min(ratio - 1, kMostOverrun) : 0;
  overrun_ += kOverrunGain * (overrun - overrun_);
  low_ = OfLast(implied_.size(), kLow);
  const size_t count = surprises_ < kSomeSurprises   ? kFewAgree
                       : surprises_ < kManySurprises ? kSomeAgree
                                                     : implied_.size();
  // A slow machine recovers as clearly as it became slow. A speed above the usual is believed only
  // if executions hardly differ; else the sizes learn it.
  const double found = OfLast(count, count / 2);
  const double median = machine_ > 1 ? std::max(found, 1.0) : found;
  const double change = machine_ > 1 ? std::max(median / machine_, machine_ / median) - 1
                                     : std::abs(median / machine_ - 1);
  const bool clear = change > kClearDeviations * std::max(spread, kLeastSpread * 2);
  machine_ = clear ? median : std::pow(machine_, kLasting);
  if (clear) {  // the proportions between sizes may have changed, too
    for (Size& size : sizes_) {
      size.weight = std::min(size.weight, kWeightAfterChange);
    }
  }
  surprises_ += kSurpriseGain * ((IsSurprise(implied / machine_) ? 1 : 0) - surprises_);
}

// The one of the last `count` that is larger than `index` others.
double CostCurve::OfLast(size_t count, size_t index) const {
  std::array<double, std::tuple_size_v<decltype(implied_)>> last{};
  for (size_t i = 0; i < count; ++i) {
    last[i] = implied_[(next_implied_ + implied_.size() - 1 - i) % implied_.size()];
  }
  const auto found = last.begin() + static_cast<ptrdiff_t>(index);
  std::nth_element(last.begin(), found, last.begin() + static_cast<ptrdiff_t>(count));
  return *found;
}

void CostCurve::Update(Size& size, double rows, double duration_ns) {
  if (size.seen < size.first.size()) {
    size.first[size.seen++] = duration_ns;
    // A single first execution proves nothing: of two, the lesser counts, of three, the middle one.
    std::array<double, 3> sorted = size.first;
    std::sort(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(size.seen));
    size.mean_ns = sorted[(size.seen - 1) / 2];
    size.rows = rows;
    size.spread = spread_;
    size.weight += 1;
    return;
  }
  // A deviation counts only up to a few times the usual one of this size.
  const double reach = std::max(4 * size.spread, 0.05);
  if (IsSurprise(duration_ns / size.mean_ns)) {
    size.weight *= kDoubted;
  }
  const double deviation = std::clamp(duration_ns / size.mean_ns - 1, -reach, reach);
  const double gain = 1 / std::min(size.weight + 1, kMostWeight);
  size.rows += gain * (rows - size.rows);
  size.mean_ns *= 1 + gain * deviation;
  size.spread += gain * (std::abs(deviation) - size.spread);
  size.spread = std::clamp(size.spread, kLeastSpread, kMostSpread);
  size.weight = std::min(size.weight + 1, kMostWeight);
  spread_ += (size.spread - spread_) / kMostWeight;
}

// A size that takes less than a smaller one does so by chance: both get their common mean.
void CostCurve::MakeKnots() {
  knot_count_ = 0;
  for (const Size& size : sizes_) {
    if (size.weight == 0) {
      continue;
    }
    const double uncertain = kHighDeviations * size.spread + kUncertain / size.weight;
    Knot knot{.rows = size.rows, .mean_ns = size.mean_ns * machine_, .weight = size.weight};
    if (knot_count_ > 0 && knot.weight < kTrustedWeight) {
      const Knot& below = knots_[knot_count_ - 1];
      knot.mean_ns = std::min(knot.mean_ns, kHope * below.mean_ns * knot.rows / below.rows);
    }
    knot.high_ns = knot.mean_ns * (1 + uncertain);
    knots_[knot_count_++] = knot;
  }
  for (size_t i = 1; i < knot_count_; ++i) {
    Pool(i);
  }
  for (size_t i = 1; i < knot_count_; ++i) {
    knots_[i].high_ns = std::max(knots_[i].high_ns, knots_[i - 1].high_ns);
  }
  proven_rows_ = knot_count_ == 0 ? 0 : std::lround(knots_[knot_count_ - 1].rows);
  most_rows_ = std::clamp<int64_t>(proven_rows_ * 2, 1, max_rows_);
}

// Puts a knot together with those before it that take more, at their mean by weight.
void CostCurve::Pool(size_t last) {
  size_t first = last;
  double mean_ns = knots_[last].mean_ns;
  double weight = knots_[last].weight;
  for (; first > 0 && knots_[first - 1].mean_ns > mean_ns; --first) {
    const Knot& before = knots_[first - 1];
    mean_ns = (mean_ns * weight + before.mean_ns * before.weight) / (weight + before.weight);
    weight += before.weight;
  }
  for (size_t k = first; k <= last; ++k) {
    knots_[k].high_ns *= mean_ns / knots_[k].mean_ns;
    knots_[k].mean_ns = mean_ns;
  }
}

// Beyond the known sizes, extrapolates from the last two, at most in proportion; from a single one,
// half of the cost grows.
double CostCurve::At(double rows, double Knot::*what) const {
  if (knot_count_ == 0) {
    return 0;
  }
  const auto end = knots_.begin() + static_cast<ptrdiff_t>(knot_count_);
  const auto above = std::lower_bound(
      knots_.begin(), end, rows, [](const Knot& knot, double value) { return knot.rows < value; });
  if (above == knots_.begin()) {
    return (*above).*what;
  }
  const Knot& below = *(above - 1);
  if (above != end) {
    const double share = (rows - below.rows) / (above->rows - below.rows);
    return below.*what + share * ((*above).*what - below.*what);
  }
  double slope = below.*what / below.rows;
  if (knot_count_ == 1) {
    slope /= 2;
  } else {
    const Knot& before = knots_[knot_count_ - 2];
    slope = std::min(slope, (below.*what - before.*what) / (below.rows - before.rows));
  }
  return below.*what + std::max(slope, 0.0) * (rows - below.rows);
}

int64_t CostCurve::MeanNs(int64_t rows) const {
  return static_cast<int64_t>(At(static_cast<double>(rows), &Knot::mean_ns));
}

int64_t CostCurve::HighNs(int64_t rows) const {
  return static_cast<int64_t>(At(static_cast<double>(rows), &Knot::high_ns));
}

int64_t CostCurve::LowNs(int64_t rows) const {
  return static_cast<int64_t>(std::min(low_ / machine_, 1.0) *
                              At(static_cast<double>(rows), &Knot::mean_ns));
}

int64_t CostCurve::BoundNs(int64_t rows, double caution) const {
  const int64_t mean_ns = MeanNs(rows);
  const int64_t away_ns = caution < 0 ? mean_ns - LowNs(rows) : HighNs(rows) - mean_ns;
  return mean_ns + static_cast<int64_t>(caution * static_cast<double>(away_ns));
}

bool CostCurve::wild() const {
  return knot_count_ > 0 &&
         (overrun_ > kWildOverrun ||
          knots_[knot_count_ - 1].high_ns > kWildHigh * knots_[knot_count_ - 1].mean_ns);
}

double CostCurve::ShareWithin(int64_t rows, int64_t budget_ns) const {
  const std::array<std::pair<int64_t, double>, 4> known = {
      {{0, 0}, {LowNs(rows), kShareOfLow}, {MeanNs(rows), kShareOfMean}, {HighNs(rows), 1}}};
  for (size_t i = 1; i < known.size(); ++i) {
    const auto& [above_ns, above] = known[i];
    const auto& [below_ns, below] = known[i - 1];
    if (budget_ns < above_ns) {
      const double part =
          static_cast<double>(budget_ns - below_ns) / static_cast<double>(above_ns - below_ns);
      return below + std::max(part, 0.0) * (above - below);
    }
  }
  return 1;
}

double CostCurve::DoubtOf(int64_t rows) const {
  const Size& size = sizes_[IndexOf(static_cast<double>(std::min(rows, max_rows_)))];
  if (size.spread > kDoubtedSpread) {
    return 1;
  }
  return size.weight < kTrustedWeight ? kDoubtOfFew : 0;
}

int64_t CostCurve::RowsWithin(int64_t budget_ns, int64_t limit, double caution) const {
  int64_t least = 0;  // that fits
  int64_t most = std::min(limit, most_rows_);
  while (least < most) {
    const int64_t middle = most - (most - least) / 2;
    if (BoundNs(middle, caution) <= budget_ns) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  return least;
}

uint32_t CostCurve::Read(nrd_cost_point* points_out, uint32_t capacity) const {
  for (size_t i = 0; i < knot_count_ && i < capacity; ++i) {
    points_out[i] = nrd_cost_point{};
    points_out[i].rows = static_cast<uint64_t>(std::lround(knots_[i].rows));
    points_out[i].mean_ns = knots_[i].mean_ns;
    points_out[i].high_ns = knots_[i].high_ns;
    points_out[i].weight = knots_[i].weight;
  }
  return static_cast<uint32_t>(knot_count_);
}

}  // namespace nereid

// Metrics that plug-ins make, which appear beside the server's own.
#ifndef NEREID_TRITON_METRICS_H_
#define NEREID_TRITON_METRICS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "triton/core/tritonserver.h"
#include "triton/handle.h"

namespace nereid::triton {

// One series of a family: its labels' values, and what it counts. Metrics with the same labels are
// one series.
class Series {
 public:
  explicit Series(std::vector<double> bounds) : bounds_(std::move(bounds)) {
    counts_.resize(bounds_.size() + 1);
  }

  void Add(double value);
  void Set(double value);
  void Observe(double value);
  [[nodiscard]] double value() const;

  // Writes the metric as Prometheus reads it; `labels` are in their braces, or nothing.
  void Write(std::string_view name, const std::string& labels, std::string* out) const;

 private:
  std::atomic<double> value_{0};      // of a histogram: the sum, which changes with the mutex held
  const std::vector<double> bounds_;  // of a histogram, ascending
  mutable Mutex mutex_;
  std::vector<uint64_t> counts_ NRD_GUARDED_BY(mutex_);
};

// All metrics of a name. Families of plug-ins with the same name and kind are one.
class Family {
 public:
  Family(TRITONSERVER_MetricKind kind, std::string name, std::string description)
      : kind_(kind), name_(std::move(name)), description_(std::move(description)) {}

  // The one for a name, made where there is none. NRD_INVALID_ARGUMENT: it is of another kind, or
  // the name is none.
  static Status Of(TRITONSERVER_MetricKind kind, const char* name, const char* description,
                   std::shared_ptr<Family>* out);
  // The text of all families that have a series.
  static std::string Text();

  [[nodiscard]] TRITONSERVER_MetricKind kind() const { return kind_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  // The series of these labels, which goes when nobody has it any more.
  std::shared_ptr<Series> SeriesOf(const std::string& labels, const std::vector<double>& bounds);

 private:
  void Write(std::string* out);

  const TRITONSERVER_MetricKind kind_;
  const std::string name_;
  const std::string description_;
  Mutex mutex_;
  std::map<std::string, std::weak_ptr<Series>> series_ NRD_GUARDED_BY(mutex_);
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_METRICS_H_

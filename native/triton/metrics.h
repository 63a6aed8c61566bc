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

// One series of a family: its labels' values and its number. Metrics with the same labels share one
// series.
class Series {
 public:
  explicit Series(std::vector<double> bounds) : bounds_(std::move(bounds)) {
    counts_.resize(bounds_.size() + 1);
  }

  void Add(double value);
  void Set(double value);
  void Observe(double value);
  [[nodiscard]] double value() const;

  // Writes the metric in Prometheus's format; `labels` are in braces, or empty.
  void Write(std::string_view name, const std::string& labels, std::string* out) const;

 private:
  std::atomic<double> value_{0};      // the sum for a histogram, changed under the mutex
  const std::vector<double> bounds_;  // of a histogram, ascending
  mutable Mutex mutex_;
  std::vector<uint64_t> counts_ NRD_GUARDED_BY(mutex_);
};

// All metrics of a name. Plug-ins that use the same name and kind share one family.
class Family {
 public:
  Family(TRITONSERVER_MetricKind kind, std::string name, std::string description)
      : kind_(kind), name_(std::move(name)), description_(std::move(description)) {}

  // The family of a name, made if it is missing. NRD_INVALID_ARGUMENT: it is of another kind, or
  // the name is invalid.
  static Status Of(TRITONSERVER_MetricKind kind, const char* name, const char* description,
                   std::shared_ptr<Family>* out);
  // The text of all families with a series.
  static std::string Text();

  [[nodiscard]] TRITONSERVER_MetricKind kind() const { return kind_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  // The series of these labels; it is deleted with its last holder.
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

// TRITONSERVER_Metric*: functions by which plug-ins make metrics.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <span>

#include "triton/errors.h"
#include "triton/metrics.h"
#include "triton/parameter.h"

namespace nereid::triton {

class MetricFamily : public Handle {
 public:
  static constexpr Kind kKind = Kind::kMetricFamily;

  explicit MetricFamily(std::shared_ptr<Family> of) : family(std::move(of)) {
    Open(kKind, &Owner::Current());
  }

  const std::shared_ptr<Family> family;
  std::atomic<int64_t> metrics{0};
};

class MetricArgs : public Handle {
 public:
  static constexpr Kind kKind = Kind::kMetricArgs;

  MetricArgs() { Open(kKind, &Owner::Current()); }

  std::vector<double> bounds;
};

class Metric : public Handle {
 public:
  static constexpr Kind kKind = Kind::kMetric;

  Metric(MetricFamily& of, std::shared_ptr<Series> in)
      : family(of), kind(of.family->kind()), series(std::move(in)) {
    ++family.metrics;
    Open(kKind, &Owner::Current());
  }
  ~Metric() { --family.metrics; }

  MetricFamily& family;
  const TRITONSERVER_MetricKind kind;
  const std::shared_ptr<Series> series;
};

}  // namespace nereid::triton

using nereid::Status;
using nereid::triton::Find;
using nereid::triton::Give;
using nereid::triton::Metric;
using nereid::triton::MetricArgs;
using nereid::triton::MetricFamily;
using nereid::triton::Parameter;
using nereid::triton::Serve;
using nereid::triton::Site;

namespace {

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c == '"' || c == '\\' ? "\\" + std::string(1, c) : std::string(1, c);
    }
  }
  return escaped;
}

Status Labels(const Site& site, std::span<const TRITONSERVER_Parameter* const> labels,
              std::string* out) {
  std::map<std::string, std::string> values;
  for (const TRITONSERVER_Parameter* const label : labels) {
    const Parameter* const parameter = Find<Parameter>(label);
    if (parameter == nullptr) {
      return nereid::triton::WrongHandle(site, Parameter::kKind, label);
    }
    if (parameter->type() != TRITONSERVER_PARAMETER_STRING) {
      return Status::InvalidArgument("Parameter [" + parameter->name() +
                                     "] must have a type of TRITONSERVER_PARAMETER_STRING to be "
                                     "added as a label.");
    }
    values[parameter->name()] = parameter->text();
  }
  for (const auto& [name, value] : values) {
    *out += (out->empty() ? "{" : ",") + name + "=\"" + Escaped(value) + "\"";
  }
  *out += out->empty() ? "" : "}";
  return Status();
}

Status Unsupported(TRITONSERVER_MetricKind kind, const char* what) {
  return Status(NRD_UNIMPLEMENTED,
                std::string(kind == TRITONSERVER_METRIC_KIND_COUNTER ? "a counter"
                            : kind == TRITONSERVER_METRIC_KIND_GAUGE ? "a gauge"
                                                                     : "a histogram") +
                    " does not support " + what);
}

TRITONSERVER_Error* NewMetric(const Site& site, TRITONSERVER_Metric** metric,
                              TRITONSERVER_MetricFamily* family,
                              std::span<const TRITONSERVER_Parameter* const> labels,
                              const TRITONSERVER_MetricArgs* args) {
  return Serve<MetricFamily>(site, family, [&](MetricFamily& known) -> Status {
    *metric = nullptr;
    const bool is_histogram = known.family->kind() == TRITONSERVER_METRIC_KIND_HISTOGRAM;
    const MetricArgs* const bounds = args == nullptr ? nullptr : Find<MetricArgs>(args);
    if (args != nullptr && bounds == nullptr) {
      return nereid::triton::WrongHandle(site, MetricArgs::kKind, args);
    }
    if (is_histogram != (bounds != nullptr && !bounds->bounds.empty())) {
      return Status::InvalidArgument("metric '" + known.family->name() +
                                     (is_histogram ? "' is a histogram, which needs buckets"
                                                   : "' is no histogram, and has no arguments"));
    }
    std::string text;
    NRD_RETURN_IF_ERROR(Labels(site, labels, &text));
    *metric = Give<TRITONSERVER_Metric>(new Metric(
        known,
        known.family->SeriesOf(text, is_histogram ? bounds->bounds : std::vector<double>())));
    return Status();
  });
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_MetricFamilyNew(TRITONSERVER_MetricFamily** family,
                                                 const TRITONSERVER_MetricKind kind,
                                                 const char* name, const char* description) {
  return Serve(NRT_SITE, [&]() -> Status {
    *family = nullptr;
    if (kind < TRITONSERVER_METRIC_KIND_COUNTER || kind > TRITONSERVER_METRIC_KIND_HISTOGRAM) {
      return Status::InvalidArgument("there is no kind " + std::to_string(kind) + " of metrics");
    }
    std::shared_ptr<nereid::triton::Family> of;
    NRD_RETURN_IF_ERROR(nereid::triton::Family::Of(kind, name, description, &of));
    *family = Give<TRITONSERVER_MetricFamily>(new MetricFamily(std::move(of)));
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_MetricFamilyDelete(TRITONSERVER_MetricFamily* family) {
  return Serve<MetricFamily>(NRT_SITE, family, [](MetricFamily& known) -> Status {
    if (const int64_t metrics = known.metrics.load(); metrics > 0) {
      return Status::Internal("the metric family '" + known.family->name() + "' has " +
                              std::to_string(metrics) + " metrics, which are deleted before it");
    }
    delete &known;
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_GetMetricFamilyKind(TRITONSERVER_MetricFamily* family,
                                                     TRITONSERVER_MetricKind* kind) {
  return Serve<MetricFamily>(NRT_SITE, family,
                             [&](MetricFamily& known) { *kind = known.family->kind(); });
}

TRITONSERVER_Error* TRITONSERVER_MetricArgsNew(TRITONSERVER_MetricArgs** args) {
  return Serve(NRT_SITE, [&] { *args = Give<TRITONSERVER_MetricArgs>(new MetricArgs); });
}

TRITONSERVER_Error* TRITONSERVER_MetricArgsSetHistogram(TRITONSERVER_MetricArgs* args,
                                                        const double* buckets,
                                                        const uint64_t bucket_count) {
  return Serve<MetricArgs>(NRT_SITE, args, [&](MetricArgs& known) -> Status {
    const std::span<const double> bounds(buckets, bucket_count);
    const bool ascending =
        std::adjacent_find(bounds.begin(), bounds.end(),
                           [](double a, double b) { return !(a < b); }) == bounds.end() &&
        std::none_of(bounds.begin(), bounds.end(), [](double bound) { return std::isnan(bound); });
    if (!ascending) {
      return Status::InvalidArgument("the bounds of a histogram's buckets do not ascend");
    }
    known.bounds.assign(bounds.begin(), bounds.end());
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_MetricArgsDelete(TRITONSERVER_MetricArgs* args) {
  return Serve<MetricArgs>(NRT_SITE, args, [](MetricArgs& known) { delete &known; });
}

TRITONSERVER_Error* TRITONSERVER_MetricNew(TRITONSERVER_Metric** metric,
                                           TRITONSERVER_MetricFamily* family,
                                           const TRITONSERVER_Parameter** labels,
                                           const uint64_t label_count) {
  return NewMetric(NRT_SITE, metric, family, std::span(labels, label_count), nullptr);
}

TRITONSERVER_Error* TRITONSERVER_MetricNewWithArgs(TRITONSERVER_Metric** metric,
                                                   TRITONSERVER_MetricFamily* family,
                                                   const TRITONSERVER_Parameter** labels,
                                                   const uint64_t label_count,
                                                   const TRITONSERVER_MetricArgs* args) {
  return NewMetric(NRT_SITE, metric, family, std::span(labels, label_count), args);
}

TRITONSERVER_Error* TRITONSERVER_MetricDelete(TRITONSERVER_Metric* metric) {
  return Serve<Metric>(NRT_SITE, metric, [](Metric& known) { delete &known; });
}

TRITONSERVER_Error* TRITONSERVER_MetricValue(TRITONSERVER_Metric* metric, double* value) {
  return Serve<Metric>(NRT_SITE, metric, [&](Metric& known) -> Status {
    if (known.kind == TRITONSERVER_METRIC_KIND_HISTOGRAM) {
      return Unsupported(known.kind, "Value");
    }
    *value = known.series->value();
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_MetricIncrement(TRITONSERVER_Metric* metric, double value) {
  return Serve<Metric>(NRT_SITE, metric, [&](Metric& known) -> Status {
    if (known.kind == TRITONSERVER_METRIC_KIND_HISTOGRAM) {
      return Unsupported(known.kind, "Increment");
    }
    if (known.kind == TRITONSERVER_METRIC_KIND_COUNTER && !(value >= 0)) {
      return Status::InvalidArgument("a counter can only be incremented by what is not negative");
    }
    known.series->Add(value);
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_MetricSet(TRITONSERVER_Metric* metric, double value) {
  return Serve<Metric>(NRT_SITE, metric, [&](Metric& known) -> Status {
    if (known.kind != TRITONSERVER_METRIC_KIND_GAUGE) {
      return Unsupported(known.kind, "Set");
    }
    known.series->Set(value);
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_MetricObserve(TRITONSERVER_Metric* metric, double value) {
  return Serve<Metric>(NRT_SITE, metric, [&](Metric& known) -> Status {
    if (known.kind != TRITONSERVER_METRIC_KIND_HISTOGRAM) {
      return Unsupported(known.kind, "Observe");
    }
    known.series->Observe(value);
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_GetMetricKind(TRITONSERVER_Metric* metric,
                                               TRITONSERVER_MetricKind* kind) {
  return Serve<Metric>(NRT_SITE, metric, [&](Metric& known) { *kind = known.kind; });
}

}  // extern "C"

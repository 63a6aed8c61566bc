#include "triton/metrics.h"

#include <algorithm>
#include <charconv>

#include "triton/nereid_triton.h"

namespace nereid::triton {

namespace {

struct Families {
  Mutex mutex;
  std::map<std::string, std::weak_ptr<Family>> all NRD_GUARDED_BY(mutex);
};

Families& TheFamilies() {
  static auto* const families = new Families;
  return *families;
}

bool IsMetricName(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
  };
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::string Number(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  return error == std::errc() ? std::string(text, end) : "NaN";
}

std::string_view TypeName(TRITONSERVER_MetricKind kind) {
  return kind == TRITONSERVER_METRIC_KIND_COUNTER ? "counter"
         : kind == TRITONSERVER_METRIC_KIND_GAUGE ? "gauge"
                                                  : "histogram";
}

// Removes line breaks from a description.
std::string OnOneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    line += c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
  }
  return line;
}

// Adds one label to `labels`.
std::string With(const std::string& labels, const std::string& more) {
  return labels.empty() ? "{" + more + "}" : labels.substr(0, labels.size() - 1) + "," + more + "}";
}

void WriteLine(std::string_view name, std::string_view suffix, const std::string& labels,
               const std::string& value, std::string* out) {
  out->append(name).append(suffix).append(labels).append(" ").append(value).append("\n");
}

}  // namespace

void Series::Add(double value) { value_.fetch_add(value, std::memory_order_relaxed); }

void Series::Set(double value) { value_.store(value, std::memory_order_relaxed); }

void Series::Observe(double value) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  const MutexLock lock(mutex_);
  Add(value);
  ++counts_[static_cast<size_t>(bucket)];
}

double Series::value() const { return value_.load(std::memory_order_relaxed); }

void Series::Write(std::string_view name, const std::string& labels, std::string* out) const {
  if (bounds_.empty()) {
    WriteLine(name, "", labels, Number(value()), out);
    return;
  }
  const MutexLock lock(mutex_);
  uint64_t count = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    count += counts_[i];
    const std::string bound = i < bounds_.size() ? Number(bounds_[i]) : "+Inf";
    WriteLine(name, "_bucket", With(labels, "le=\"" + bound + "\""), std::to_string(count), out);
  }
  WriteLine(name, "_sum", labels, Number(value()), out);
  WriteLine(name, "_count", labels, std::to_string(count), out);
}

Status Family::Of(TRITONSERVER_MetricKind kind, const char* name, const char* description,
                  std::shared_ptr<Family>* out) {
  if (name == nullptr || !IsMetricName(name)) {
    return Status::InvalidArgument("'" + std::string(name == nullptr ? "" : name) +
                                   "' is no name of a metric");
  }
  Families& families = TheFamilies();
  const MutexLock lock(families.mutex);
  std::weak_ptr<Family>& known = families.all[name];
  *out = known.lock();
  if (*out == nullptr) {
    *out = std::make_shared<Family>(kind, name, description == nullptr ? "" : description);
    known = *out;
  } else if ((*out)->kind() != kind) {
    return Status::InvalidArgument("the metric family '" + std::string(name) + "' is a " +
                                   std::string(TypeName((*out)->kind())) + ", and no " +
                                   std::string(TypeName(kind)));
  }
  return Status();
}

std::shared_ptr<Series> Family::SeriesOf(const std::string& labels,
                                         const std::vector<double>& bounds) {
  const MutexLock lock(mutex_);
  std::weak_ptr<Series>& known = series_[labels];
  std::shared_ptr<Series> series = known.lock();
  if (series == nullptr) {
    series = std::make_shared<Series>(bounds);
    known = series;
  }
  return series;
}

void Family::Write(std::string* out) {
  const MutexLock lock(mutex_);
  std::erase_if(series_, [](const auto& entry) { return entry.second.expired(); });
  bool begun = false;
  for (const auto& [labels, weak] : series_) {
    const std::shared_ptr<Series> series = weak.lock();
    if (series == nullptr) {
      continue;
    }
    if (!begun) {
      out->append("# HELP ")
          .append(name_)
          .append(" ")
          .append(OnOneLine(description_))
          .append("\n# TYPE ");
      out->append(name_).append(" ").append(TypeName(kind_)).append("\n");
      begun = true;
    }
    series->Write(name_, labels, out);
  }
}

std::string Family::Text() {
  std::string text;
  Families& families = TheFamilies();
  const MutexLock lock(families.mutex);
  std::erase_if(families.all, [](const auto& entry) { return entry.second.expired(); });
  for (const auto& [name, weak] : families.all) {
    if (const std::shared_ptr<Family> family = weak.lock(); family != nullptr) {
      family->Write(&text);
    }
  }
  return text;
}

}  // namespace nereid::triton

extern "C" {

void nrt_metrics_write(void* taker, nrt_take_fn take) {
  const std::string text = nereid::triton::Family::Text();
  take(taker, text.data(), text.size());
}

}  // extern "C"

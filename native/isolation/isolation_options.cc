#include "isolation/isolation_options.h"

#include <charconv>
#include <fstream>
#include <string_view>

namespace nereid {
namespace {

struct Number {
  std::string_view key;
  uint64_t IsolationOptions::*field;
  uint64_t least;
  uint64_t most;
};

constexpr Number kNumbers[] = {
    {"isolation_timeout_ms", &IsolationOptions::timeout_ms, 0, 86'400'000},
    {"isolation_load_ms", &IsolationOptions::load_ms, 1, 86'400'000},
    {"isolation_tensor_mb", &IsolationOptions::tensor_mb, 1, 1 << 20},
    {kIsolationMemory, &IsolationOptions::memory_mb, 0, 1 << 24},
    {"isolation_deaths", &IsolationOptions::deaths_in_a_row, 1, 1'000'000},
};

Status ReadNumber(std::string_view value, const Number& number, IsolationOptions* options) {
  uint64_t read = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (error != std::errc() || end != value.data() + value.size() || read < number.least ||
      read > number.most) {
    return Status::InvalidArgument("parameter " + std::string(number.key) + " is '" +
                                   std::string(value) + "', expected a whole number from " +
                                   std::to_string(number.least) + " to " +
                                   std::to_string(number.most));
  }
  options->*number.field = read;
  return Status();
}

// Parses a mark and a number at the beginning of `rest`.
bool Take(char mark, std::string_view* rest, uint32_t* number_out) {
  const char* const end = rest->data() + rest->size();
  if (!rest->starts_with(mark)) {
    return false;
  }
  const auto [next, error] = std::from_chars(rest->data() + 1, end, *number_out);
  if (error == std::errc()) {
    *rest = {next, end};
  }
  return error == std::errc();
}

bool ParseProcessors(std::string_view list, cpu_set_t* set_out) {
  CPU_ZERO(set_out);
  const std::string marked = "," + std::string(list);
  std::string_view rest = marked;
  for (uint32_t first = 0; Take(',', &rest, &first);) {
    uint32_t last = first;
    uint32_t stride = 1;
    if (Take('-', &rest, &last)) {
      Take(':', &rest, &stride);
    }
    if (last < first || last >= CPU_SETSIZE || stride == 0) {
      return false;
    }
    for (uint64_t i = first; i <= last; i += stride) {
      CPU_SET(i, set_out);
    }
  }
  return rest.empty();
}

// The processors that the calling thread may run on, in the system's notation.
std::string OwnProcessors() {
  std::ifstream status("/proc/thread-self/status");
  std::string word;
  while (status >> word && word != "Cpus_allowed_list:") {
  }
  status >> word;
  return word;
}

}  // namespace

Status ReadProcessors(std::string_view list, cpu_set_t* set_out) {
  const std::string got =
      "parameter " + std::string(kIsolationCpus) + " is '" + std::string(list) + "', ";
  cpu_set_t own;
  if (!ParseProcessors(list, set_out)) {
    return Status::InvalidArgument(got + "expected a list of processors below " +
                                   std::to_string(CPU_SETSIZE) + " such as '0-3,7'");
  }
  if (sched_getaffinity(0, sizeof(own), &own) == 0) {
    CPU_AND(set_out, set_out, &own);
  }
  return CPU_COUNT(set_out) != 0
             ? Status()
             : Status::InvalidArgument(
                   got + "none of which this process may use, expected some of " + OwnProcessors());
}

Status ReadIsolationOptions(const nrd_model_options& options, IsolationOptions* options_out) {
  bool plugin = false;
  for (uint64_t i = 0; i < options.parameter_count; ++i) {
    const std::string_view key = View(options.parameters[i].key);
    const std::string_view value = View(options.parameters[i].value);
    if (key == "isolation.child") {
      options_out->child_path = value;
    } else if (key == "isolation.group") {
      options_out->group = value;
    } else if (key == kIsolatedBackend) {
      plugin = value == kPlugins;
      options_out->with_requests = plugin || value == kJava;
    } else if (key == kIsolationCpus) {
      cpu_set_t processors;
      NRD_RETURN_IF_ERROR(ReadProcessors(value, &processors));
      options_out->cpus = value;
    }
    for (const Number& number : kNumbers) {
      if (key == number.key) {
        NRD_RETURN_IF_ERROR(ReadNumber(value, number, options_out));
      }
    }
  }
  if (plugin && !options_out->group.empty()) {
    return Status(
        NRD_UNIMPLEMENTED,
        "a model of a plug-in has a process alone, and not in group '" + options_out->group + "'");
  }
  return options_out->child_path.empty()
             ? Status::InvalidArgument("an isolated model needs the parameter isolation.child")
             : Status();
}

}  // namespace nereid

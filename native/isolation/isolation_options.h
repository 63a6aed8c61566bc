// The parameters of an isolated model; docs/isolation.md lists those that users give.
#ifndef NEREID_ISOLATION_ISOLATION_OPTIONS_H_
#define NEREID_ISOLATION_ISOLATION_OPTIONS_H_

#include <sched.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "nereid/nereid.h"

namespace nereid {

// Names of parameters that the child reads as well.
inline constexpr char kIsolatedBackend[] = "isolation.backend";
inline constexpr char kIsolationMemory[] = "isolation_memory_mb";
inline constexpr char kIsolationCpus[] = "isolation_cpus";
// The backend that stands for all plug-ins made for Triton.
inline constexpr char kPlugins[] = "triton";
// The backend that stands for all backends in Java.
inline constexpr char kJava[] = "java";

struct IsolationOptions {
  std::string child_path;  // isolation.child: the executable
  std::string group;  // isolation.group: models of one group share a process; empty: no sharing
  bool with_requests = false;    // isolation.backend answers each request of a batch by itself
  uint64_t timeout_ms = 60'000;  // isolation_timeout_ms: longest execution; 0: no limit
  uint64_t load_ms = 600'000;    // isolation_load_ms: the longest step of loading
  uint64_t tensor_mb = 1024;     // isolation_tensor_mb: the most for a batch's inputs, and for its
                                 // outputs
  uint64_t memory_mb = 0;        // isolation_memory_mb: the child's own memory; 0: no limit
  std::string cpus;              // isolation_cpus: processors for the child; empty: the parent's
  uint64_t deaths_in_a_row = 5;  // isolation_deaths: deaths in a row that end the model
};

// Reads the options; unknown parameters are left to the backend.
Status ReadIsolationOptions(const nrd_model_options& options, IsolationOptions* options_out);

// Reads the value of isolation_cpus, in the syntax of taskset: "0-3,7", or "0-31:2" for each second
// one. `set_out` gets the ones that the calling thread may run on.
Status ReadProcessors(std::string_view list, cpu_set_t* set_out);

}  // namespace nereid

#endif  // NEREID_ISOLATION_ISOLATION_OPTIONS_H_

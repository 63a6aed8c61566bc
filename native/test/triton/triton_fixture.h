// Fixtures of the tests of plug-ins: the host that libtritonserver.so runs in, models of plug-in
// backends, and requests over the C ABI with the values that such a backend adds to its outputs.
#ifndef NEREID_TEST_TRITON_FIXTURE_H_
#define NEREID_TEST_TRITON_FIXTURE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "doctest/doctest.h"
#include "nereid/nereid.h"
#include "triton/nereid_triton.h"

namespace nereid::test {

inline nrd_string View(std::string_view text) { return {text.data(), text.size()}; }
inline std::string Text(nrd_string text) { return {text.data, text.size}; }

// The message of a failed call; empty after success.
class Errors {
 public:
  Errors() { error_.struct_size = sizeof(error_); }
  nrd_error* out() { return &error_; }
  [[nodiscard]] std::string message() const { return {error_.message, error_.message_size}; }

 private:
  nrd_error error_{};
};

// A response: its values by name, and OUTPUT0's elements.
using Value = std::variant<std::string, int64_t, bool, double>;
Value ValueOf(const nrd_value& value);
struct Reply {
  std::map<std::string, Value> values;
  std::vector<int32_t> output;
  std::string error;  // in place of outputs
};

// An event of a traced request.
struct Activity {
  uint64_t tag = 0;
  uint64_t trace = 0;
  uint64_t parent = 0;
  int64_t time_ns = 0;
  std::string model;
  std::string name;
  std::string tensor;
  std::vector<int32_t> values;
};

// The process has one host: libtritonserver.so is started once, with its runtime.
class PluginHost {
 public:
  static PluginHost& Get();

  nrd_runtime* runtime() { return runtime_; }
  // Models that plug-ins find by name.
  void Offer(const std::string& name, nrd_model* model, bool decoupled = false);
  void Withdraw(const std::string& name);
  // How many times a model is pinned.
  int64_t pins();
  // Loads and unloads by plug-ins since the last call, a line each.
  std::string TakeLoads();
  // Log messages since the last call, a line each.
  std::string TakeLog();
  // The configuration that a backend completed for the load.
  std::string completed(uint64_t load);
  // Events of traced requests since the last call.
  std::vector<Activity> TakeActivities();
  // The metrics that plug-ins made; the server's handles that they hold.
  static std::string Metrics();
  static std::string Handles();

 private:
  PluginHost();
  static int32_t Acquire(void* self, nrd_string name, int64_t version, uint64_t sequence_id,
                         nrd_string sequence_name, uint32_t flags, nrt_found_model* found_out,
                         nrd_error* error_out);

  static int32_t Load(void* self, nrd_string name, const nrd_value* values, uint32_t count,
                      nrd_error* error_out);
  static int32_t Unload(void* self, nrd_string name, int32_t with_dependents, nrd_error* error_out);

  nrd_runtime* runtime_ = nullptr;
  std::mutex mutex_;
  std::map<std::string, nrt_found_model> offered_;
  int64_t pins_ = 0;
  std::string loads_;
  std::string log_;
  std::map<uint64_t, std::string> completed_;
  std::vector<Activity> activities_;
};

// A backend made for Triton.
class Plugin {
 public:
  explicit Plugin(const std::string& library, const std::string& name = "probe");
  // A backend whose models have processes of their own, with these parameters as well. With
  // NEREID_ISOLATED_PLUGINS all backends are such.
  using Parameters = std::map<std::string, std::string>;
  Plugin(const std::string& library, const std::string& name, Parameters isolation);
  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  nrt_backend* get() { return backend_; }
  const nrd_backend& table() const { return table_; }
  const Parameters& parameters() const { return parameters_; }
  // Closes without waiting for inferences that the backend began.
  void CloseAtOnce();
  // Opens a plug-in that must be refused, and returns the message.
  static std::string Refusal(const std::string& library, const std::string& name);

 private:
  void Isolate(const std::string& library, const std::string& name);

  nrt_backend* backend_ = nullptr;
  nrd_backend table_{};
  Parameters parameters_;
};

struct PluginModelSettings {
  std::string name = "m";
  int64_t max_batch_size = 8;
  uint32_t flags = 0;  // NRD_MODEL_*
  uint32_t instance_count = 1;
  uint64_t max_queue_delay_ns = 0;
  std::string outputs = R"([{"name":"OUTPUT0","data_type":"TYPE_INT32","dims":[-1]}])";
  bool auto_complete = false;
  const nrd_sequence_options* sequences = nullptr;
  bool with_state = false;
  std::string profiles = "[]";
  std::string secondary = "[]";
  uint32_t passive_count = 0;
};

// A model of INPUT0 and OUTPUT0, both INT32 [-1].
class PluginModel {
 public:
  explicit PluginModel(Plugin& plugin, const PluginModelSettings& settings = {});
  ~PluginModel();
  PluginModel(const PluginModel&) = delete;
  PluginModel& operator=(const PluginModel&) = delete;

  nrd_model* get() { return model_; }
  [[nodiscard]] uint64_t load() const { return load_; }
  nrd_model_stats stats();
  // Loads a model that must be refused, and returns the message.
  static std::string Refusal(Plugin& plugin, const PluginModelSettings& settings);
  // Returns the status; the caller owns the model.
  static int32_t Load(Plugin& plugin, const PluginModelSettings& settings, nrd_model** model_out);

 private:
  nrd_model* model_ = nullptr;
  uint64_t load_ = 0;
};

// A request of one row, unless said otherwise.
class PluginRequest {
 public:
  explicit PluginRequest(PluginModel& model, const std::string& what,
                         std::vector<int32_t> elements = {1, 2, 3});
  ~PluginRequest();
  PluginRequest(const PluginRequest&) = delete;
  PluginRequest& operator=(const PluginRequest&) = delete;

  PluginRequest& With(const std::string& name, Value value);
  nrd_request* get() { return record_; }
  nrd_request* operator->() { return record_; }

  void Submit();
  // Waits for the end for at most half a minute; returns the status.
  int32_t Wait();
  int32_t Run() {
    Submit();
    return Wait();
  }
  [[nodiscard]] std::string message() const;
  // All responses in order, with the last one if there is one.
  const std::vector<Reply>& replies();
  // Checks the probe's report in the only response: nothing was wrong.
  void CheckReport();

 private:
  static void Complete(void* self, nrd_request* request);
  static void Respond(void* self, nrd_request* request, nrd_tensor* outputs, uint32_t count);
  void Keep(const nrd_tensor* outputs, uint32_t count);

  nrd_request* record_ = nullptr;
  std::vector<int32_t> elements_;
  std::deque<std::pair<std::string, Value>> given_;
  std::vector<nrd_value> values_;
  const nrd_receiver receiver_{this, Complete, Respond};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::vector<Reply> replies_;
};

}  // namespace nereid::test

#endif  // NEREID_TEST_TRITON_FIXTURE_H_

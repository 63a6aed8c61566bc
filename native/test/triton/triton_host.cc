// The host of the tests, and the plug-ins in it.
#include <cstdlib>
#include <cstring>
#include <utility>

#include "test/triton/triton_fixture.h"

namespace nereid::test {
namespace {

PluginHost* Self(void* context) { return static_cast<PluginHost*>(context); }

void Say(nrd_error* error_out, int32_t code, std::string_view message) {
  error_out->code = code;
  error_out->message_size = static_cast<uint32_t>(message.size());
  std::memcpy(error_out->message, message.data(), message.size());
}

void Append(void* taker, const char* text, uint64_t size) {
  static_cast<std::string*>(taker)->append(text, size);
}

}  // namespace

PluginHost& PluginHost::Get() {
  // It lives as long as the process, as the library does.
  static auto* const host = new PluginHost;
  return *host;
}

int32_t PluginHost::Acquire(void* self, nrd_string name, int64_t /*version*/,
                            uint64_t /*sequence_id*/, nrd_string /*sequence_name*/,
                            uint32_t /*flags*/, nrt_found_model* found_out, nrd_error* error_out) {
  const std::lock_guard lock(Self(self)->mutex_);
  const auto found = Self(self)->offered_.find(Text(name));
  if (found == Self(self)->offered_.end()) {
    Say(error_out, NRD_NOT_FOUND, "there is no model '" + Text(name) + "'");
    return NRD_NOT_FOUND;
  }
  *found_out = found->second;
  ++Self(self)->pins_;
  return NRD_OK;
}

int32_t PluginHost::Load(void* self, nrd_string name, const nrd_value* values, uint32_t count,
                         nrd_error* error_out) {
  if (Text(name) != "loadable") {
    Say(error_out, NRD_UNIMPLEMENTED, "nothing is loaded here");
    return NRD_UNIMPLEMENTED;
  }
  const std::lock_guard lock(Self(self)->mutex_);
  Self(self)->loads_ += "load " + Text(name);
  for (uint32_t i = 0; i < count; ++i) {
    Self(self)->loads_ += " " + Text(values[i].name) + "=" + Text(values[i].text);
  }
  Self(self)->loads_ += "\n";
  return NRD_OK;
}

int32_t PluginHost::Unload(void* self, nrd_string name, int32_t with_dependents,
                           nrd_error* error_out) {
  if (Text(name) != "loadable") {
    Say(error_out, NRD_UNIMPLEMENTED, "nothing is unloaded here");
    return NRD_UNIMPLEMENTED;
  }
  const std::lock_guard lock(Self(self)->mutex_);
  Self(self)->loads_ += (with_dependents != 0 ? "unload all " : "unload ") + Text(name) + "\n";
  return NRD_OK;
}

PluginHost::PluginHost() {
  Errors errors;
  nrd_runtime_options options{};
  options.struct_size = sizeof(options);
  // Requests have receivers of their own; this says that models may be decoupled.
  options.respond = [](void*, uint64_t, nrd_tensor*, uint32_t) {};
  REQUIRE_MESSAGE(nrd_runtime_create(&options, &runtime_, errors.out()) == NRD_OK,
                  errors.message());
  nrt_host host{};
  host.struct_size = sizeof(host);
  host.flags = NRT_HOST_CHECKED;
  host.context = this;
  host.runtime = runtime_;
  host.log = [](void* self, int32_t, nrd_string, uint32_t, nrd_string message) {
    const std::lock_guard lock(Self(self)->mutex_);
    Self(self)->log_ += Text(message) + "\n";
  };
  host.model_acquire = Acquire;
  host.model_release = [](void* self, uint64_t) {
    const std::lock_guard lock(Self(self)->mutex_);
    --Self(self)->pins_;
  };
  host.model_ready = [](void* self, nrd_string name, int64_t, int32_t* ready_out, nrd_error*) {
    const std::lock_guard lock(Self(self)->mutex_);
    *ready_out = Self(self)->offered_.contains(Text(name)) ? 1 : 0;
    return static_cast<int32_t>(NRD_OK);
  };
  host.model_load = Load;
  host.model_unload = Unload;
  host.document = [](void*, int32_t kind, nrd_string name, int64_t version, void* taker,
                     nrt_take_fn take, nrd_error*) {
    const std::string json = "{\"kind\":" + std::to_string(kind) + ",\"name\":\"" + Text(name) +
                             "\",\"version\":" + std::to_string(version) +
                             ",\"max_batch_size\":" + (Text(name) == "batched" ? "8" : "0") + "}";
    take(taker, json.data(), json.size());
    return static_cast<int32_t>(NRD_OK);
  };
  host.server_live = [](void*) { return 1; };
  host.server_ready = [](void*) { return 1; };
  host.config_completed = [](void* self, uint64_t load, nrd_string json, nrd_error* error_out) {
    const std::lock_guard lock(Self(self)->mutex_);
    Self(self)->completed_[load] = Text(json);
    if (Text(json).find("OUTPUT0") == std::string::npos) {
      Say(error_out, NRD_INVALID_ARGUMENT, "there is no output");
      return static_cast<int32_t>(NRD_INVALID_ARGUMENT);
    }
    return static_cast<int32_t>(NRD_OK);
  };
  host.trace_activity = [](void* self, const nrt_activity* activity) {
    const std::lock_guard lock(Self(self)->mutex_);
    Activity told{activity->tag,
                  activity->trace,
                  activity->parent,
                  activity->time_ns,
                  Text(activity->model),
                  Text(activity->name),
                  {},
                  {}};
    if (const nrd_tensor* const tensor = activity->tensor; tensor != nullptr) {
      const auto* const values = static_cast<const int32_t*>(tensor->data);
      told.tensor = Text(activity->tensor_name);
      told.values.assign(values, values + tensor->byte_size / sizeof(int32_t));
    }
    Self(self)->activities_.push_back(std::move(told));
  };
  REQUIRE_MESSAGE(nrt_start(&host, errors.out()) == NRD_OK, errors.message());
}

void PluginHost::Offer(const std::string& name, nrd_model* model, bool decoupled) {
  const std::lock_guard lock(mutex_);
  offered_[name] = {model, 0, 1, decoupled ? 1 : 0, 0};
}

void PluginHost::Withdraw(const std::string& name) {
  const std::lock_guard lock(mutex_);
  offered_.erase(name);
}

std::string PluginHost::TakeLog() {
  const std::lock_guard lock(mutex_);
  return std::exchange(log_, "");
}

int64_t PluginHost::pins() {
  const std::lock_guard lock(mutex_);
  return pins_;
}

std::string PluginHost::TakeLoads() {
  const std::lock_guard lock(mutex_);
  return std::exchange(loads_, "");
}

std::string PluginHost::completed(uint64_t load) {
  const std::lock_guard lock(mutex_);
  return completed_[load];
}

std::vector<Activity> PluginHost::TakeActivities() {
  const std::lock_guard lock(mutex_);
  return std::exchange(activities_, {});
}

std::string PluginHost::Metrics() {
  std::string text;
  nrt_metrics_write(&text, Append);
  return text;
}

std::string PluginHost::Handles() {
  std::string text;
  nrt_handles_write(&text, Append);
  return text;
}

namespace {

int32_t OpenPlugin(const std::string& library, const std::string& name, nrt_backend** backend_out,
                   Errors& errors) {
  PluginHost::Get();
  const std::string directory = library.substr(0, library.rfind('/'));
  const nrd_parameter config = {View("colour"), View("blue")};
  return nrt_backend_open(View(name), View(directory), View(library), &config, 1, backend_out,
                          errors.out());
}

}  // namespace

Plugin::Plugin(const std::string& library, const std::string& name) {
  if (std::getenv("NEREID_ISOLATED_PLUGINS") != nullptr) {
    Isolate(library, name);
    return;
  }
  Errors errors;
  REQUIRE_MESSAGE(OpenPlugin(library, name, &backend_, errors) == NRD_OK, errors.message());
  table_.struct_size = sizeof(table_);
  nrt_backend_table(backend_, &table_);
}

Plugin::Plugin(const std::string& library, const std::string& name, Parameters isolation)
    : parameters_(std::move(isolation)) {
  Isolate(library, name);
}

void Plugin::Isolate(const std::string& library, const std::string& name) {
  Errors errors;
  REQUIRE_MESSAGE(nrd_backend_isolate(PluginHost::Get().runtime(), "triton", 6, &table_,
                                      errors.out()) == NRD_OK,
                  errors.message());
  parameters_.insert({{"isolation.backend", "triton"},
                      {"isolation.child", NEREID_CHILD_PATH},
                      {"isolation.core", NEREID_CORE_PATH},
                      {"isolation.triton", NEREID_TRITON_PATH},
                      {"isolation.plugin", library},
                      {"isolation.plugin_name", name},
                      {"isolation.plugin_directory", library.substr(0, library.rfind('/'))},
                      {"isolation.setting:colour", "blue"}});
}

Plugin::~Plugin() {
  if (backend_ != nullptr) {
    constexpr uint64_t kLong = 30'000'000'000;
    nrt_backend_close(backend_, kLong);
    CHECK(PluginHost::Handles() == "");
  }
}

void Plugin::CloseAtOnce() { nrt_backend_close(std::exchange(backend_, nullptr), 0); }

std::string Plugin::Refusal(const std::string& library, const std::string& name) {
  Errors errors;
  nrt_backend* backend = nullptr;
  REQUIRE(OpenPlugin(library, name, &backend, errors) != NRD_OK);
  return errors.message();
}

}  // namespace nereid::test

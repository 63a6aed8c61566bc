#include "isolation/child/plugin_backend.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "triton/nereid_triton.h"

namespace nereid {
namespace {

constexpr std::string_view kSetting = "isolation.setting:";

// Functions of the two libraries, which this program loads at run time.
struct Functions {
  decltype(&nrd_runtime_create) runtime_create;
  decltype(&nrt_start) start;
  decltype(&nrt_backend_open) backend_open;
  decltype(&nrt_backend_table) backend_table;
  decltype(&nrt_model_batcher) model_batcher;
  decltype(&nrt_model_configure) model_configure;
};

Functions functions;
nrd_backend plugins{};  // the table of the plug-in
std::string completed;  // the configuration, while the model is opened

template <typename Function>
Status Find(void* library, const char* name, Function* function_out) {
  *function_out = reinterpret_cast<Function>(dlsym(library, name));
  return *function_out != nullptr
             ? Status()
             : Status::Internal(std::string("a library of an isolated plug-in lacks ") + name);
}

Status FindFunctions(const nrd_model_options& options) {
  void* core = nullptr;
  void* triton = nullptr;
  NRD_RETURN_IF_ERROR(OpenLibrary(ParameterOf(options, "isolation.core"), &core));
  NRD_RETURN_IF_ERROR(OpenLibrary(ParameterOf(options, "isolation.triton"), &triton));
  NRD_RETURN_IF_ERROR(Find(core, "nrd_runtime_create", &functions.runtime_create));
  NRD_RETURN_IF_ERROR(Find(triton, "nrt_start", &functions.start));
  NRD_RETURN_IF_ERROR(Find(triton, "nrt_backend_open", &functions.backend_open));
  NRD_RETURN_IF_ERROR(Find(triton, "nrt_backend_table", &functions.backend_table));
  NRD_RETURN_IF_ERROR(Find(triton, "nrt_model_configure", &functions.model_configure));
  return Find(triton, "nrt_model_batcher", &functions.model_batcher);
}

int32_t Refuse(nrd_error* error_out, const char* what) {
  return Report(Status(NRD_UNIMPLEMENTED, std::string("an isolated plug-in cannot ") + what +
                                              ": the server is in another process"),
                error_out);
}

// Makes the host of the plug-in: its log goes to the parent, its metrics are dropped. Handles are
// checked, since an isolated plug-in is not trusted: a wrong one is an error and no crash.
nrt_host Host(nrd_runtime* runtime) {
  nrt_host host{};
  host.struct_size = sizeof(host);
  host.flags = NRT_HOST_CHECKED;
  host.runtime = runtime;
  host.log = [](void*, int32_t, nrd_string, uint32_t, nrd_string message) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size), message.data);
  };
  host.model_acquire = [](void*, nrd_string, int64_t, uint64_t, nrd_string, uint32_t,
                          nrt_found_model*, nrd_error* error_out) -> int32_t {
    return Refuse(error_out, "ask other models");
  };
  host.model_release = [](void*, uint64_t) {};
  host.model_ready = [](void*, nrd_string, int64_t, int32_t*, nrd_error* error_out) -> int32_t {
    return Refuse(error_out, "ask whether a model is ready");
  };
  host.model_load = [](void*, nrd_string, const nrd_value*, uint32_t,
                       nrd_error* error_out) -> int32_t {
    return Refuse(error_out, "load models");
  };
  host.model_unload = [](void*, nrd_string, int32_t, nrd_error* error_out) -> int32_t {
    return Refuse(error_out, "unload models");
  };
  host.document = [](void*, int32_t, nrd_string, int64_t, void*, nrt_take_fn,
                     nrd_error* error_out) -> int32_t {
    return Refuse(error_out, "read what the server says of itself and its models");
  };
  host.server_live = [](void*) -> int32_t { return 1; };
  host.server_ready = [](void*) -> int32_t { return 1; };
  // The parent gets the configuration with the answer to kOpen, and completes the rest.
  host.config_completed = [](void*, uint64_t load, nrd_string json,
                             nrd_error* error_out) -> int32_t {
    completed = View(json);
    return functions.model_configure(load, json, error_out);
  };
  host.trace_activity = [](void*, const nrt_activity*) {};
  return host;
}

Status Start() {
  nrd_error error{};
  error.struct_size = sizeof(error);
  nrd_runtime_options options{};
  options.struct_size = sizeof(options);
  nrd_runtime* runtime = nullptr;
  NRD_RETURN_IF_ERROR(StatusFromCallback(functions.runtime_create(&options, &runtime, &error),
                                         error, "making a runtime"));
  const nrt_host host = Host(runtime);
  return StatusFromCallback(functions.start(&host, &error), error, "starting the plug-in's host");
}

// The parent forms the batches, and cannot ask the plug-in's batcher.
int32_t OpenModel(void* context, const nrd_model_options* options, void** model_out,
                  nrd_error* error_out) {
  const int32_t code = plugins.open_model(context, options, model_out, error_out);
  if (code != NRD_OK) {
    return code;
  }
  const std::string load(ParameterOf(*options, "nereid.load"));
  nrd_batcher batcher{};
  if (functions.model_batcher(std::strtoull(load.c_str(), nullptr, 10), &batcher, nullptr) !=
      NRD_OK) {
    return NRD_OK;
  }
  plugins.close_model(*model_out);
  return Report(Status(NRD_UNIMPLEMENTED,
                       "the plug-in says which requests go together (TRITONBACKEND_ModelBatch...), "
                       "as one that is isolated cannot"),
                error_out);
}

}  // namespace

Status PluginBackend(const nrd_model_options& options, ChildBackend* backend_out) {
  NRD_RETURN_IF_ERROR(FindFunctions(options));
  NRD_RETURN_IF_ERROR(Start());
  std::vector<nrd_parameter> settings;
  for (const nrd_parameter& parameter : std::span(options.parameters, options.parameter_count)) {
    if (View(parameter.key).starts_with(kSetting)) {
      settings.push_back(
          {AsNrdString(View(parameter.key).substr(kSetting.size())), parameter.value});
    }
  }
  nrd_error error{};
  error.struct_size = sizeof(error);
  nrt_backend* backend = nullptr;
  const int32_t code =
      functions.backend_open(AsNrdString(ParameterOf(options, "isolation.plugin_name")),
                             AsNrdString(ParameterOf(options, "isolation.plugin_directory")),
                             AsNrdString(ParameterOf(options, "isolation.plugin")), settings.data(),
                             static_cast<uint32_t>(settings.size()), &backend, &error);
  NRD_RETURN_IF_ERROR(StatusFromCallback(code, error, "opening the plug-in"));
  functions.backend_table(backend, &plugins);
  backend_out->table = plugins;
  backend_out->table.open_model = OpenModel;
  backend_out->completed = &completed;
  return Status();
}

}  // namespace nereid

// The C ABI's part for models that run in a process of their own.
#include <string_view>

#include "base/guarded.h"
#include "core/api/runtime_handle.h"
#include "core/model/model.h"
#include "isolation/isolated_backend.h"
#include "isolation/isolation_options.h"
#include "nereid/nereid.h"

extern "C" {

int32_t nrd_backend_isolate(nrd_runtime* runtime, const char* name, uint64_t name_size,
                            nrd_backend* backend_out, nrd_error* error_out) {
  if (std::string_view(name, name_size) == nereid::kJava) {
    *backend_out = nereid::IsolatedBackend(runtime, {});
    return NRD_OK;
  }
  if (std::string_view(name, name_size) == nereid::kPlugins) {
    *backend_out = nereid::IsolatedPlugins(runtime);
    return NRD_OK;
  }
  nrd_backend inner{};
  const int32_t code = nrd_backend_find(name, name_size, &inner, error_out);
  if (code == NRD_OK) {
    *backend_out = nereid::IsolatedBackend(runtime, inner);
  }
  return code;
}

void nrd_source_completed(nrd_source* source, nrd_string* json_out) {
  const auto& opened = *reinterpret_cast<const nereid::ModelSource*>(source);
  const nereid::IsolatedModel* const isolated =
      nereid::AsIsolated(opened.backend(), opened.state());
  *json_out =
      isolated == nullptr ? nrd_string{} : nereid::AsNrdString(isolated->described().completed);
}

int32_t nrd_model_isolation_read(nrd_model* model, nrd_isolation_stats* stats_out,
                                 nrd_error* reason_out) {
  *stats_out = nrd_isolation_stats{};
  stats_out->struct_size = sizeof(nrd_isolation_stats);
  const nereid::ModelSource* const source = reinterpret_cast<nereid::Model*>(model)->source();
  nereid::IsolatedModel* const isolated =
      source == nullptr ? nullptr : nereid::AsIsolated(source->backend(), source->state());
  if (isolated == nullptr) {
    return NRD_NOT_FOUND;
  }
  return nereid::Guarded(nullptr, [&] {
    isolated->ReadStats(stats_out, reason_out);
    return nereid::Status();
  });
}

}  // extern "C"

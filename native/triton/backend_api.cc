// TRITONBACKEND_Backend*: functions by which a backend asks about itself.
#include "triton/backend.h"
#include "triton/errors.h"

using nereid::Status;
using nereid::triton::Backend;
using nereid::triton::BackendAttribute;
using nereid::triton::Give;
using nereid::triton::Serve;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_BackendName(TRITONBACKEND_Backend* backend, const char** name) {
  return Serve<Backend>(NRT_SITE, backend, [&](Backend& known) { *name = known.name().c_str(); });
}

TRITONSERVER_Error* TRITONBACKEND_BackendConfig(TRITONBACKEND_Backend* backend,
                                                TRITONSERVER_Message** config) {
  return Serve<Backend>(NRT_SITE, backend, [&](Backend& known) {
    *config = Give<TRITONSERVER_Message>(&known.config());
  });
}

TRITONSERVER_Error* TRITONBACKEND_BackendExecutionPolicy(TRITONBACKEND_Backend* backend,
                                                         TRITONBACKEND_ExecutionPolicy* policy) {
  return Serve<Backend>(NRT_SITE, backend, [&](Backend& known) { *policy = known.policy.load(); });
}

TRITONSERVER_Error* TRITONBACKEND_BackendSetExecutionPolicy(TRITONBACKEND_Backend* backend,
                                                            TRITONBACKEND_ExecutionPolicy policy) {
  return Serve<Backend>(NRT_SITE, backend, [&](Backend& known) { known.policy.store(policy); });
}

TRITONSERVER_Error* TRITONBACKEND_BackendArtifacts(TRITONBACKEND_Backend* backend,
                                                   TRITONBACKEND_ArtifactType* type,
                                                   const char** location) {
  return Serve<Backend>(NRT_SITE, backend, [&](Backend& known) {
    *type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
    *location = known.directory().c_str();
  });
}

TRITONSERVER_Error* TRITONBACKEND_BackendMemoryManager(TRITONBACKEND_Backend* backend,
                                                       TRITONBACKEND_MemoryManager** manager) {
  return Serve<Backend>(NRT_SITE, backend, [&](Backend& known) {
    *manager = Give<TRITONBACKEND_MemoryManager>(&known.memory());
  });
}

TRITONSERVER_Error* TRITONBACKEND_BackendState(TRITONBACKEND_Backend* backend, void** state) {
  return Serve<Backend>(NRT_SITE, backend, [&](Backend& known) { *state = known.state.load(); });
}

TRITONSERVER_Error* TRITONBACKEND_BackendSetState(TRITONBACKEND_Backend* backend, void* state) {
  return Serve<Backend>(NRT_SITE, backend, [&](Backend& known) { known.state.store(state); });
}

TRITONSERVER_Error* TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute* attribute, const TRITONSERVER_InstanceGroupKind kind,
    const uint64_t count, const uint64_t* /*devices*/, const uint64_t /*device_count*/) {
  return Serve<BackendAttribute>(NRT_SITE, attribute, [&](BackendAttribute& known) -> Status {
    constexpr size_t kMost = std::size(nrt_backend_info{}.preferred_kind);
    if (known.info.preferred_group_count == kMost) {
      return Status::InvalidArgument("a backend may prefer " + std::to_string(kMost) +
                                     " instance groups at most");
    }
    const uint32_t at = known.info.preferred_group_count++;
    known.info.preferred_kind[at] = kind;
    known.info.preferred_instances[at] = static_cast<int64_t>(count);
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(
    TRITONBACKEND_BackendAttribute* attribute, bool enabled) {
  return Serve<BackendAttribute>(NRT_SITE, attribute, [&](BackendAttribute& known) {
    known.info.parallel_instance_loading = enabled ? 1 : 0;
  });
}

}  // extern "C"

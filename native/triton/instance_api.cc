// TRITONBACKEND_ModelInstance*: functions by which a backend asks and reports about an instance.
#include "triton/errors.h"
#include "triton/instance.h"

using nereid::Status;
using nereid::triton::Give;
using nereid::triton::Instance;
using nereid::triton::Serve;

namespace {

Status OutOfBounds(uint32_t index, size_t count, const char* what) {
  return Status::InvalidArgument("out of bounds index " + std::to_string(index) +
                                 ": instance has " + std::to_string(count) + " " + what);
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceName(TRITONBACKEND_ModelInstance* instance,
                                                    const char** name) {
  return Serve<Instance>(NRT_SITE, instance,
                         [&](Instance& known) { *name = known.info().name.c_str(); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceKind(TRITONBACKEND_ModelInstance* instance,
                                                    TRITONSERVER_InstanceGroupKind* kind) {
  return Serve<Instance>(NRT_SITE, instance, [&](Instance& known) { *kind = known.info().kind; });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceDeviceId(TRITONBACKEND_ModelInstance* instance,
                                                        int32_t* device) {
  return Serve<Instance>(NRT_SITE, instance,
                         [&](Instance& known) { *device = known.info().device; });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceHostPolicy(TRITONBACKEND_ModelInstance* instance,
                                                          TRITONSERVER_Message** policy) {
  return Serve<Instance>(NRT_SITE, instance, [&](Instance& known) {
    *policy = Give<TRITONSERVER_Message>(&known.host_policy());
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceIsPassive(TRITONBACKEND_ModelInstance* instance,
                                                         bool* passive) {
  return Serve<Instance>(NRT_SITE, instance,
                         [&](Instance& known) { *passive = known.info().passive; });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileCount(TRITONBACKEND_ModelInstance* instance,
                                                            uint32_t* count) {
  return Serve<Instance>(NRT_SITE, instance, [&](Instance& known) {
    *count = static_cast<uint32_t>(known.info().profiles.size());
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileName(TRITONBACKEND_ModelInstance* instance,
                                                           const uint32_t index,
                                                           const char** name) {
  return Serve<Instance>(NRT_SITE, instance, [&](Instance& known) -> Status {
    const auto& profiles = known.info().profiles;
    *name = nullptr;
    if (index >= profiles.size()) {
      return OutOfBounds(index, profiles.size(), "optimization profiles");
    }
    *name = profiles[index].c_str();
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceCount(
    TRITONBACKEND_ModelInstance* instance, uint32_t* count) {
  return Serve<Instance>(NRT_SITE, instance, [&](Instance& known) {
    *count = static_cast<uint32_t>(known.info().secondary_devices.size());
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(
    TRITONBACKEND_ModelInstance* instance, uint32_t index, const char** kind, int64_t* id) {
  return Serve<Instance>(NRT_SITE, instance, [&](Instance& known) -> Status {
    const auto& devices = known.info().secondary_devices;
    if (index >= devices.size()) {
      return OutOfBounds(index, devices.size(), "secondary devices");
    }
    *kind = devices[index].kind.c_str();
    *id = devices[index].id;
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance* instance,
                                                     TRITONBACKEND_Model** model) {
  return Serve<Instance>(NRT_SITE, instance, [&](Instance& known) {
    *model = Give<TRITONBACKEND_Model>(&known.model());
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance* instance,
                                                     void** state) {
  return Serve<Instance>(NRT_SITE, instance, [&](Instance& known) { *state = known.state.load(); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance* instance,
                                                        void* state) {
  return Serve<Instance>(NRT_SITE, instance, [&](Instance& known) { known.state.store(state); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportMemoryUsage(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_BufferAttributes** usage,
    uint32_t usage_count) {
  return Serve<Instance>(NRT_SITE, instance, [&](Instance& known) {
    Status status;
    known.reported_bytes = nereid::triton::ReportedBytes(usage, usage_count, &status);
    return status;
  });
}

}  // extern "C"

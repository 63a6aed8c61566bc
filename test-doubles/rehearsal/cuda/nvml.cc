// libnvidia-ml.so.1: what is told of devices. nvmlReturn_t appears as int, nvmlDevice_t as void*.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>

#include "call.h"

namespace {

// Of nvmlReturn_t.
constexpr int kSuccess = 0;
constexpr int kUninitialized = 1;
constexpr int kInvalidArgument = 2;
constexpr int kInsufficientSize = 7;
constexpr int kDriverNotLoaded = 9;

constexpr std::uint64_t kDriversOwn = std::uint64_t{64} << 20;
constexpr unsigned kUtilizationPercent = 37;
constexpr unsigned kPowerMilliwatts = 71'500;
constexpr unsigned kPowerLimitMilliwatts = 300'000;
constexpr unsigned long long kEnergyMillijoules = 123'456;

struct Utilization {
  unsigned gpu;
  unsigned memory;
};
static_assert(sizeof(Utilization) == 8);

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
static_assert(sizeof(Memory) == 24);

std::atomic<bool> ready{false};

template <typename Body>
int Call(const char* call, Body&& body) {
  const int fault = rehearsal::faults::Check(call);
  if (fault != 0) {
    return fault;
  }
  return ready ? body() : kUninitialized;
}

// A call with a device, whose number is given to the body.
template <typename Body>
int CallOnDevice(const char* call, const void* device, Body&& body) {
  return Call(call, [&] {
    const int number = rehearsal::DeviceOfContext(device);
    return number < 0 ? kInvalidArgument : body(number);
  });
}

template <typename T>
int Tell(const char* call, const void* device, T* out, T value) {
  return CallOnDevice(call, device, [&](int) {
    *out = value;
    return kSuccess;
  });
}

}  // namespace

REHEARSAL_API int nvmlInit_v2() {
  const int fault = rehearsal::faults::Check("nvmlInit_v2");
  if (fault != 0) {
    return fault;
  }
  ready = rehearsal::DeviceCount() > 0;
  return ready ? kSuccess : kDriverNotLoaded;
}

REHEARSAL_API const char* nvmlErrorString(int code) {
  switch (code) {
    case kSuccess:
      return "Success";
    case kUninitialized:
      return "Uninitialized";
    case kInvalidArgument:
      return "Invalid Argument";
    case kInsufficientSize:
      return "Insufficient Size";
    case kDriverNotLoaded:
      return "Driver Not Loaded";
    default:
      return "Unknown Error";
  }
}

REHEARSAL_API int nvmlDeviceGetCount_v2(unsigned* count) {
  return Call("nvmlDeviceGetCount_v2", [&] {
    *count = static_cast<unsigned>(rehearsal::DeviceCount());
    return kSuccess;
  });
}

REHEARSAL_API int nvmlDeviceGetHandleByIndex_v2(unsigned number, void** device) {
  return Call("nvmlDeviceGetHandleByIndex_v2", [&] {
    if (number >= static_cast<unsigned>(rehearsal::DeviceCount())) {
      return kInvalidArgument;
    }
    *device = rehearsal::ContextOf(static_cast<int>(number));
    return kSuccess;
  });
}

REHEARSAL_API int nvmlDeviceGetUUID(void* device, char* uuid, unsigned size) {
  return CallOnDevice("nvmlDeviceGetUUID", device, [&](int number) {
    const int length = std::snprintf(uuid, size, "GPU-00000000-0000-0000-0000-%012d", number);
    return static_cast<unsigned>(length) < size ? kSuccess : kInsufficientSize;
  });
}

REHEARSAL_API int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  return CallOnDevice("nvmlDeviceGetMemoryInfo", device, [&](int number) {
    const rehearsal::MemoryInfo info = rehearsal::MemoryOf(number);
    memory->total = info.total + kDriversOwn;
    memory->free = info.free;
    memory->used = memory->total - memory->free;
    return kSuccess;
  });
}

REHEARSAL_API int nvmlDeviceGetUtilizationRates(void* device, Utilization* utilization) {
  return Tell("nvmlDeviceGetUtilizationRates", device, utilization,
              Utilization{kUtilizationPercent, kUtilizationPercent / 2});
}

REHEARSAL_API int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  return Tell("nvmlDeviceGetPowerUsage", device, milliwatts, kPowerMilliwatts);
}

REHEARSAL_API int nvmlDeviceGetPowerManagementLimit(void* device, unsigned* milliwatts) {
  return Tell("nvmlDeviceGetPowerManagementLimit", device, milliwatts, kPowerLimitMilliwatts);
}

REHEARSAL_API int nvmlDeviceGetTotalEnergyConsumption(void* device,
                                                      unsigned long long* millijoules) {
  return Tell("nvmlDeviceGetTotalEnergyConsumption", device, millijoules, kEnergyMillijoules);
}

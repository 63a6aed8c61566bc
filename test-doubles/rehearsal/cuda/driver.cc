// libcuda.so.1: the driver, its devices, contexts and streams. Types of cuda.h appear as what they
// are for a caller: CUresult and CUdevice as int, handles as void*.
#include "driver.h"

#include <atomic>
#include <cstdio>
#include <string>

#include "stream.h"

namespace rehearsal::driver {
namespace {

constexpr int kVersion = 13030;
// Of CUdevice_attribute.
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;
constexpr unsigned kNonBlocking = 1;

std::atomic<bool> ready{false};

bool IsDevice(int device) { return device >= 0 && device < DeviceCount(); }

bool IsContext(const void* context) { return DeviceOfContext(context) >= 0; }

template <typename Body>
int CallOnDevice(const char* call, int device, Body&& body) {
  return Call(call, [&] { return IsDevice(device) ? body() : Code::kInvalidDevice; });
}

}  // namespace

bool IsReady() { return ready; }

}  // namespace rehearsal::driver

namespace driver = rehearsal::driver;
using rehearsal::Code;

REHEARSAL_API int cuInit(unsigned flags) {
  return static_cast<int>(rehearsal::Called("cuInit", [&] {
    if (flags != 0) {
      return Code::kInvalidValue;
    }
    if (rehearsal::DeviceCount() == 0) {
      return Code::kNoDevice;
    }
    driver::ready = true;
    return Code::kSuccess;
  }));
}

REHEARSAL_API int cuDriverGetVersion(int* version) {
  return static_cast<int>(rehearsal::Called("cuDriverGetVersion", [&] {
    *version = driver::kVersion;
    return Code::kSuccess;
  }));
}

REHEARSAL_API int cuGetErrorName(int code, const char** name) {
  const rehearsal::CodeText* const text = rehearsal::TextOf(code);
  *name = text == nullptr ? nullptr : text->driver_name;
  return static_cast<int>(text == nullptr ? Code::kInvalidValue : Code::kSuccess);
}

REHEARSAL_API int cuGetErrorString(int code, const char** string) {
  const rehearsal::CodeText* const text = rehearsal::TextOf(code);
  *string = text == nullptr ? nullptr : text->text;
  return static_cast<int>(text == nullptr ? Code::kInvalidValue : Code::kSuccess);
}

// ---- Devices ------------------------------------------------------------------------------------

REHEARSAL_API int cuDeviceGetCount(int* count) {
  return driver::Call("cuDeviceGetCount", [&] {
    *count = rehearsal::DeviceCount();
    return Code::kSuccess;
  });
}

REHEARSAL_API int cuDeviceGet(int* device, int number) {
  return driver::CallOnDevice("cuDeviceGet", number, [&] {
    *device = number;
    return Code::kSuccess;
  });
}

REHEARSAL_API int cuDeviceGetName(char* name, int size, int device) {
  return driver::CallOnDevice("cuDeviceGetName", device, [&] {
    std::snprintf(name, static_cast<std::size_t>(size), "%s", rehearsal::kDeviceName);
    return Code::kSuccess;
  });
}

REHEARSAL_API int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return driver::CallOnDevice("cuDeviceTotalMem_v2", device, [&] {
    *bytes = rehearsal::MemoryOf(device).total;
    return Code::kSuccess;
  });
}

REHEARSAL_API int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return driver::CallOnDevice("cuDeviceGetAttribute", device, [&] {
    if (attribute != driver::kComputeCapabilityMajor &&
        attribute != driver::kComputeCapabilityMinor) {
      return Code::kNotSupported;
    }
    *value = rehearsal::kComputeCapability[attribute - driver::kComputeCapabilityMajor];
    return Code::kSuccess;
  });
}

// ---- Contexts -----------------------------------------------------------------------------------

REHEARSAL_API int cuDevicePrimaryCtxRetain(void** context, int device) {
  return driver::Manage("cuDevicePrimaryCtxRetain", [&] {
    if (!driver::IsDevice(device)) {
      return Code::kInvalidDevice;
    }
    *context = rehearsal::ContextOf(device);
    return Code::kSuccess;
  });
}

REHEARSAL_API int cuCtxSetCurrent(void* context) {
  return driver::Manage("cuCtxSetCurrent", [&] {
    if (context != nullptr && !driver::IsContext(context)) {
      return Code::kInvalidContext;
    }
    rehearsal::SetContext(context);
    return Code::kSuccess;
  });
}

REHEARSAL_API int cuCtxPushCurrent_v2(void* context) {
  return driver::Manage("cuCtxPushCurrent_v2", [&] {
    if (!driver::IsContext(context)) {
      return Code::kInvalidContext;
    }
    rehearsal::PushContext(context);
    return Code::kSuccess;
  });
}

// Gives back: it pops even when it is made to fail.
REHEARSAL_API int cuCtxPopCurrent_v2(void** context) {
  const int fault = rehearsal::faults::Check("cuCtxPopCurrent_v2");
  if (!driver::IsReady()) {
    return static_cast<int>(Code::kNotInitialized);
  }
  void* const popped = rehearsal::PopContext();
  if (context != nullptr) {
    *context = popped;
  }
  return fault != 0 ? fault
                    : static_cast<int>(popped == nullptr ? Code::kInvalidContext : Code::kSuccess);
}

// ---- Streams ------------------------------------------------------------------------------------

REHEARSAL_API int cuStreamCreate(void** stream, unsigned flags) {
  return driver::CallInContext("cuStreamCreate", [&] {
    return rehearsal::CreateStream((flags & driver::kNonBlocking) == 0, 0, "cuStreamCreate",
                                   stream);
  });
}

REHEARSAL_API int cuStreamSynchronize(void* stream) {
  return static_cast<int>(rehearsal::Waited("cuStreamSynchronize", [&] {
    if (rehearsal::CurrentContext() == nullptr) {
      return Code::kInvalidContext;
    }
    const auto found = rehearsal::FindStream(stream, "cuStreamSynchronize");
    return found == nullptr ? Code::kInvalidHandle : rehearsal::Synchronize(*found);
  }));
}

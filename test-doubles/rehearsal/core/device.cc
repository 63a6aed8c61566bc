#include "device.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <vector>

#include "stream.h"

namespace rehearsal {
namespace {

constexpr int kMostDevices = 16;

// A context is told by its address alone.
struct Context {
  std::atomic<int> broken{0};
};

std::array<Context, kMostDevices> contexts;

// The last one is current. Empty: the runtime's calls use device 0.
thread_local std::vector<void*> current;

int ReadCount() {
  const char* const text = std::getenv("REHEARSAL_DEVICES");
  const int count = text == nullptr ? 2 : std::atoi(text);
  return count < 0 ? 0 : count > kMostDevices ? kMostDevices : count;
}

}  // namespace

int DeviceCount() {
  static const int count = ReadCount();
  return count;
}

int CurrentDevice() {
  const int device = DeviceOfContext(CurrentContext());
  return device < 0 ? 0 : device;
}

Code SetDevice(int device) {
  if (device < 0 || device >= DeviceCount()) {
    return Code::kInvalidDevice;
  }
  SetContext(ContextOf(device));
  return Code::kSuccess;
}

void* ContextOf(int device) { return &contexts[static_cast<std::size_t>(device)]; }

int DeviceOfContext(const void* context) {
  for (int device = 0; device < DeviceCount(); ++device) {
    if (ContextOf(device) == context) {
      return device;
    }
  }
  return -1;
}

void* CurrentContext() { return current.empty() ? nullptr : current.back(); }

void SetContext(void* context) {
  if (!current.empty()) {
    current.pop_back();
  }
  if (context != nullptr) {
    current.push_back(context);
  }
}

void PushContext(void* context) { current.push_back(context); }

void* PopContext() {
  void* const context = CurrentContext();
  if (context != nullptr) {
    current.pop_back();
  }
  return context;
}

void Break(int device, Code code) {
  int sound = 0;
  contexts[static_cast<std::size_t>(device)].broken.compare_exchange_strong(sound,
                                                                            static_cast<int>(code));
}

Code Broken(int device) {
  return static_cast<Code>(contexts[static_cast<std::size_t>(device)].broken.load());
}

void Mend() {
  for (int device = 0; device < DeviceCount(); ++device) {
    if (Broken(device) != Code::kSuccess) {
      Drain(device);  // what is in its streams is dropped
      contexts[static_cast<std::size_t>(device)].broken = 0;
    }
  }
}

}  // namespace rehearsal

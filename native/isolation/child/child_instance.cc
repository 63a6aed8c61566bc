#include "isolation/child/child_instance.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <string>
#include <utility>

#include "base/clock.h"

namespace nereid {
namespace {

// The interval of looking again, should a wake-up come too early; the end wakes the thread.
constexpr int64_t kLookNs = 1'000'000'000;

[[noreturn]] void GiveUp(const char* reason) {
  std::fprintf(stderr, "nereid-child: %s\n", reason);
  std::_Exit(70);
}

}  // namespace

ChildInstance::ChildInstance(const nrd_backend& backend, const nrd_model_options& options,
                             std::unique_ptr<SharedChannel> channel)
    : backend_(backend),
      channel_(std::move(channel)),
      to_child_(&channel_->control()->to_child),
      batch_(*channel_, options) {
  error_.struct_size = sizeof(error_);
}

ChildInstance::~ChildInstance() {
  ends_.store(true, std::memory_order_release);
  RingReader::Wake(&channel_->control()->to_child);
  if (thread_.joinable()) {
    thread_.join();
  }
}

Status ChildInstance::Open(void* model_state, uint32_t index) {
  std::promise<Status> opened;
  std::future<Status> result = opened.get_future();
  thread_ = std::thread([this, model_state, index, &opened] {
    void* instance = nullptr;
    nrd_error error{};
    const int32_t code = backend_.open_instance(model_state, index, &instance, &error);
    opened.set_value(StatusFromCallback(code, error, "opening an instance"));
    if (code == NRD_OK) {
      Run(instance);
      backend_.close_instance(instance);
    }
  });
  return result.get();
}

void ChildInstance::Run(void* instance) {
  batch_.Begin();
  while (!ends_.load(std::memory_order_acquire)) {
    Record record;
    switch (to_child_.Take(&record)) {
      case RingReader::Taken::kNothing:
        to_child_.Wait(MonotonicNowNs() + kLookNs);
        break;
      case RingReader::Taken::kBroken:
        GiveUp("the records of the parent are broken");
      case RingReader::Taken::kRecord:
        if (record.kind == RecordKind::kRun) {
          batch_.Complete(record.number);
          Execute(instance);
          batch_.Begin();
        } else if (!batch_.Add(record)) {
          GiveUp("the parent named a tensor that there is not");
        }
        break;
    }
  }
}

void ChildInstance::Execute(void* instance) {
  error_.message_size = 0;
  int32_t code = NRD_INTERNAL;
  std::string message = "the backend threw an unknown exception";
  try {
    code = backend_.execute(instance, batch_.batch(), &error_);
    message.assign(error_.message, std::min<size_t>(error_.message_size, sizeof(error_.message)));
    if (code == NRD_PENDING) {
      batch_.AwaitFinish(&code, &message);
    }
  } catch (const std::exception& failure) {
    message = failure.what();
  } catch (...) {  // the message tells the failure
  }
  batch_.End(code, message);
}

}  // namespace nereid

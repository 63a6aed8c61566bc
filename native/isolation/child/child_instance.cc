#include "isolation/child/child_instance.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <utility>

#include "base/clock.h"

namespace nereid {
namespace {

// The end wakes the thread; this is for a wake-up that came too early.
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
      to_parent_(&channel_->control()->to_parent),
      batch_(*channel_, options.input_count, options.output_count) {
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
          batch_.SetRows(record.number);
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
  try {
    const int32_t code = backend_.execute(instance, batch_.batch(), &error_);
    Answer(code, {error_.message, std::min<size_t>(error_.message_size, sizeof(error_.message))});
  } catch (const std::exception& failure) {
    Answer(NRD_INTERNAL, failure.what());
  } catch (...) {
    Answer(NRD_INTERNAL, "the backend threw an unknown exception");
  }
}

void ChildInstance::Answer(int32_t code, std::string_view message) {
  if (code == NRD_OK) {
    for (const Record& record : batch_.made()) {
      Put(record);
    }
  }
  ChannelControl* const control = channel_->control();
  Record end{};
  end.kind = RecordKind::kEnd;
  end.datatype = code;
  end.byte_size = std::min(message.size(), sizeof(control->message));
  std::memcpy(control->message, message.data(), end.byte_size);
  Put(end);
  to_parent_.Publish();
}

void ChildInstance::Put(const Record& record) {
  while (!to_parent_.Put(record)) {
    to_parent_.Publish();
    const timespec moment{.tv_sec = 0, .tv_nsec = 50'000};
    nanosleep(&moment, nullptr);
  }
}

}  // namespace nereid

#include "isolation/isolated_model.h"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/clock.h"
#include "isolation/child_group.h"
#include "isolation/isolated_instance.h"
#include "isolation/options_message.h"

namespace nereid {
namespace {

constexpr char kThreadName[] = "nrd-child";
constexpr int64_t kMillisecondNs = 1'000'000;
constexpr int64_t kMaxBackOffNs = 5'000 * kMillisecondNs;

std::string AsMessage(const nrd_model_options& options) {
  MessageWriter writer;
  WriteOptions(options, &writer);
  return writer.bytes();
}

// Returns a reader of the part behind status and message in a reply.
MessageReader Details(std::string_view reply) {
  MessageReader reader(reply);
  reader.Get<int32_t>();
  reader.GetText();
  return reader;
}

}  // namespace

IsolatedModel::IsolatedModel(const nrd_model_options& options, IsolationOptions isolation,
                             const LogTarget& log)
    : name_(View(options.name)), isolation_(std::move(isolation)), log_(log) {}

IsolatedModel::~IsolatedModel() {
  {
    const MutexLock lock(mutex_);
    state_ = State::kClosing;
    changed_.NotifyAll();
    if (child_ != nullptr) {
      child_->HangUp();
      const int64_t until_ns = MonotonicNowNs() + kFarewellNs;
      while (!child_->ended() && changed_.WaitUntil(mutex_, until_ns)) {
      }
      child_->Kill("the model is closed");
    }
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

Status IsolatedModel::Open(const nrd_model_options& options) {
  opened_with_ = AsMessage(options);
  thread_ = std::thread([this] { Run(); });
  std::shared_ptr<ChildProcess> child;
  {
    const MutexLock lock(mutex_);
    while (child_ == nullptr && state_ == State::kOpening) {
      changed_.Wait(mutex_);
    }
    child = child_;
    if (child == nullptr) {
      return Status(NRD_FAILED_PRECONDITION, last_end_);
    }
  }
  return OpenModel(child.get());
}

Status IsolatedModel::OpenModel(ChildProcess* child) {
  std::string reply;
  NRD_RETURN_IF_ERROR(child->Call(MessageKind::kOpen, opened_with_, -1, &reply));
  if (!described_in_.empty()) {
    return Status();  // as the last child answered
  }
  described_in_ = std::move(reply);
  MessageReader reader = Details(described_in_);
  described_.known = reader.Get<uint8_t>() != 0;
  for (auto* specs : {&described_.inputs, &described_.outputs}) {
    specs->resize(reader.GetCount(sizeof(uint64_t)));
    std::generate(specs->begin(), specs->end(), [&] { return ReadSpec(&reader); });
  }
  described_.completed = reader.GetText();
  return reader.ok() ? Status() : Status::Internal("the child described the model incompletely");
}

Status IsolatedModel::Configure(const nrd_model_options& options) {
  configured_with_ = AsMessage(options);
  std::shared_ptr<ChildProcess> child;
  {
    const MutexLock lock(mutex_);
    instance_count_ = std::max(options.instance_count, 1U);
    instances_.reserve(instance_count_);
    child = child_;
  }
  std::string reply;
  return child->Call(MessageKind::kConfigure, configured_with_, -1, &reply);
}

Status IsolatedModel::OpenInstanceIn(ChildProcess* child, uint32_t index,
                                     std::unique_ptr<SharedChannel>* channel_out) {
  const uint64_t area_bytes = isolation_.tensor_mb << 20;
  NRD_RETURN_IF_ERROR(SharedChannel::Create(area_bytes, channel_out));
  MessageWriter writer;
  writer.Put(index);
  writer.Put(area_bytes);
  std::string reply;
  NRD_RETURN_IF_ERROR(child->Call(MessageKind::kOpenInstance, writer.bytes(),
                                  (*channel_out)->descriptor(), &reply));
  MessageReader reader = Details(reply);
  weight_bytes_.store(reader.Get<uint64_t>(), std::memory_order_relaxed);
  working_bytes_.store(reader.Get<uint64_t>(), std::memory_order_relaxed);
  return Status();
}

Status IsolatedModel::OpenInstance(uint32_t index,
                                   std::unique_ptr<IsolatedInstance>* instance_out) {
  std::shared_ptr<ChildProcess> child;
  {
    const MutexLock lock(mutex_);
    child = child_;
  }
  std::unique_ptr<SharedChannel> channel;
  NRD_RETURN_IF_ERROR(OpenInstanceIn(child.get(), index, &channel));
  auto instance = std::make_unique<IsolatedInstance>(this, index, child, std::move(channel));
  const MutexLock lock(mutex_);
  if (state_ != State::kOpening) {
    return Lost(last_end_);
  }
  instances_.push_back(instance.get());
  if (instances_.size() == instance_count_) {
    state_ = State::kUp;
  }
  *instance_out = std::move(instance);
  return Status();
}

void IsolatedModel::CloseInstance(const IsolatedInstance& instance) {
  const MutexLock lock(mutex_);
  std::erase(instances_, &instance);
}

void IsolatedModel::ReadMemory(uint64_t* weight_bytes_out, uint64_t* working_bytes_out) const {
  *weight_bytes_out = weight_bytes_.load(std::memory_order_relaxed);
  *working_bytes_out = working_bytes_.load(std::memory_order_relaxed);
}

Status IsolatedModel::AwaitNext(const ChildProcess* ended) {
  const MutexLock lock(mutex_);
  while (state_ == State::kBetween || (state_ == State::kUp && child_.get() == ended)) {
    changed_.Wait(mutex_);
  }
  return state_ == State::kUp ? Status() : Lost(last_end_);
}

// Runs on the model's own thread, which starts all children.
void IsolatedModel::Run() {
  pthread_setname_np(pthread_self(), kThreadName);
  for (bool is_first = true;; is_first = false) {
    std::shared_ptr<ChildProcess> child;
    const Status started = StartChild(&child);
    if (started.ok()) {
      {
        const MutexLock lock(mutex_);
        child_ = child;
        changed_.NotifyAll();
        if (state_ == State::kClosing) {
          child->Kill("the model is closed");
        }
      }
      std::thread reopening;
      if (!is_first) {
        reopening = StartReopening(child.get());
      }
      child->AwaitEnd([this](std::string_view line) { Log(2, "says: " + std::string(line)); });
      if (reopening.joinable()) {
        reopening.join();
      }
    }
    const MutexLock lock(mutex_);
    if (!Ended(child.get(), started.ok() ? child->end() : std::string(started.message()))) {
      return;
    }
    AwaitBackOff();
  }
}

// Starts loading the model into a new child; kills the child if that fails or no thread is left.
std::thread IsolatedModel::StartReopening(ChildProcess* child) {
  try {
    return std::thread([this, child] {
      pthread_setname_np(pthread_self(), kThreadName);
      try {
        if (const Status status = Reopen(child); !status.ok()) {
          child->Kill("it could not load the model again: " + std::string(status.message()));
        }
      } catch (const std::exception& failure) {
        child->Kill(failure.what());
      }
    });
  } catch (const std::exception& failure) {
    child->Kill(failure.what());
    return {};
  }
}

Status IsolatedModel::Reopen(ChildProcess* child) {
  const int64_t start_ns = MonotonicNowNs();
  std::string reply;
  NRD_RETURN_IF_ERROR(OpenModel(child));
  NRD_RETURN_IF_ERROR(child->Call(MessageKind::kConfigure, configured_with_, -1, &reply));
  // Instances are closed only after the last execution, so all exist, or no execution waits.
  std::vector<uint32_t> indices;
  {
    const MutexLock lock(mutex_);
    for (const IsolatedInstance* instance : instances_) {
      indices.push_back(instance->index());
    }
  }
  std::vector<std::unique_ptr<SharedChannel>> channels(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    NRD_RETURN_IF_ERROR(OpenInstanceIn(child, indices[i], &channels[i]));
  }
  const MutexLock lock(mutex_);
  if (state_ != State::kBetween) {
    return Status();  // the model is being closed
  }
  for (IsolatedInstance* instance : instances_) {
    const auto at = std::find(indices.begin(), indices.end(), instance->index());
    instance->Replace(child_, std::move(channels[static_cast<size_t>(at - indices.begin())]));
  }
  state_ = State::kUp;
  changed_.NotifyAll();
  Log(2, "process " + std::to_string(child->pid()) + " took its place after " +
             std::to_string((MonotonicNowNs() - start_ns) / kMillisecondNs) + " ms");
  return Status();
}

// Handles a child's end; true if another child is to replace it.
bool IsolatedModel::Ended(ChildProcess* child, std::string end) {
  changed_.NotifyAll();
  for (IsolatedInstance* instance : instances_) {
    instance->Wake();
  }
  if (state_ == State::kClosing) {
    return false;
  }
  if (state_ == State::kOpening) {
    Fail(std::move(end));
    return false;
  }
  state_ = State::kBetween;
  ++restarts_;
  const uint32_t deaths = deaths_in_a_row_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::string process =
      child == nullptr ? "its next process " : "its process " + std::to_string(child->pid()) + " ";
  if (deaths >= isolation_.deaths_in_a_row) {
    Fail(process + end + ". It ended " + std::to_string(deaths) +
         " times in a row without an answer, so the model is not served until it is loaded again");
    Log(0, last_end_);
    return false;
  }
  Log(1, process + end);
  last_end_ = std::move(end);
  return true;
}

void IsolatedModel::Fail(std::string reason) {
  state_ = State::kFailed;
  last_end_ = std::move(reason);
  changed_.NotifyAll();
}

// Delays the next child; the first one comes at once, since most deaths have a single cause.
void IsolatedModel::AwaitBackOff() {
  const uint32_t deaths = deaths_in_a_row_.load(std::memory_order_relaxed);
  const int64_t back_off_ns =
      deaths <= 1 ? 0 : std::min(kMaxBackOffNs, (50 * kMillisecondNs) << std::min(deaths - 2, 10U));
  const int64_t until_ns = MonotonicNowNs() + back_off_ns;
  while (state_ != State::kClosing && changed_.WaitUntil(mutex_, until_ns)) {
  }
}

void IsolatedModel::ReadStats(nrd_isolation_stats* stats_out, nrd_error* reason_out) {
  const MutexLock lock(mutex_);
  *stats_out = {};
  stats_out->struct_size = sizeof(nrd_isolation_stats);
  stats_out->state = state_ == State::kUp       ? NRD_ISOLATION_UP
                     : state_ == State::kFailed ? NRD_ISOLATION_FAILED
                                                : NRD_ISOLATION_STARTS;
  stats_out->restarts = restarts_;
  stats_out->deaths_in_a_row = deaths_in_a_row_.load(std::memory_order_relaxed);
  if (child_ != nullptr && !child_->ended()) {
    stats_out->process = child_->pid();
    stats_out->resident_bytes = child_->ResidentBytes();
  }
  if (reason_out != nullptr) {
    WriteError(reason_out, last_end_.empty() ? NRD_OK : NRD_UNAVAILABLE, last_end_);
  }
}

void IsolatedModel::Log(int32_t level, const std::string& message) const {
  log_.Log(level, "isolated model '" + name_ + "': " + message);
}

Status IsolatedModel::Lost(const std::string& reason) const {
  return Status::Unavailable("isolated model '" + name_ + "': " + reason);
}

Status IsolatedModel::StartChild(std::shared_ptr<ChildProcess>* child_out) const {
  return isolation_.group.empty() ? ChildProcess::Start(isolation_, "model:" + name_, child_out)
                                  : ChildGroup::Join(isolation_, log_, child_out);
}

}  // namespace nereid

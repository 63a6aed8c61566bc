#include "core/schedule/execution_limits.h"

#include <algorithm>
#include <utility>

namespace nereid {

Status SharedLimiter::Limit(std::vector<ResourceCount> limits) {
  const MutexLock lock(mutex_);
  return limiter_.Limit(std::move(limits));
}

void SharedLimiter::SetTotal(const std::string& name, uint32_t count) {
  const MutexLock lock(mutex_);
  limiter_.SetTotal(name, count);
}

Status SharedLimiter::Add(Member& member, const InstanceOptions& options) {
  const MutexLock lock(mutex_);
  return limiter_.Add(member, options.resources, options.priority);
}

void SharedLimiter::Remove(Member& member) {
  const MutexLock lock(mutex_);
  limiter_.Remove(member);
}

bool SharedLimiter::TryAcquire(Member& member) {
  const MutexLock lock(mutex_);
  return limiter_.TryAcquire(member);
}

bool SharedLimiter::AcquireOrWait(Member& member, int64_t latest_ns) {
  const MutexLock lock(mutex_);
  return limiter_.AcquireOrWait(member, latest_ns);
}

bool SharedLimiter::Leave(Member& member) {
  const MutexLock lock(mutex_);
  limiter_.Leave(member);
  return true;
}

void SharedLimiter::LeaveIfWaiting(Member& member) {
  const MutexLock lock(mutex_);
  if (member.state() == RateLimiter::State::kWaits) {
    limiter_.Leave(member);
  }
}

bool SharedLimiter::HasWaited(const Member& member) {
  const MutexLock lock(mutex_);
  return member.state() == RateLimiter::State::kWaits ||
         member.state() == RateLimiter::State::kGranted;
}

bool SharedLimiter::Waits(const Member& member) {
  const MutexLock lock(mutex_);
  return member.state() == RateLimiter::State::kWaits;
}

void SharedLimiter::Await(Member& member) {
  const MutexLock lock(mutex_);
  while (member.state() == RateLimiter::State::kWaits) {
    member.served.Wait(mutex_);
  }
}

uint32_t SharedLimiter::ReadResources(nrd_resource_stats* stats_out, uint32_t capacity) {
  const MutexLock lock(mutex_);
  uint32_t count = 0;
  for (const RateLimiter::Resource& resource : limiter_.resources()) {
    if (resource.wanted == 0) {
      continue;
    }
    if (count < capacity) {
      stats_out[count] = {.name = AsNrdString(resource.name),
                          .device = resource.device,
                          .total = resource.total,
                          .free = resource.free(),
                          .waiting = resource.waiting};
    }
    ++count;
  }
  return count;
}

void SharedLimiter::ReadInstance(const Member& member, nrd_instance_stats* stats_out) {
  const MutexLock lock(mutex_);
  stats_out->waits = member.waits();
  const RateLimiter::Resource* const resource = limiter_.AwaitedBy(member);
  if (resource != nullptr) {
    stats_out->state = NRD_INSTANCE_WAITS;
    stats_out->needed = limiter_.NeedOf(member, *resource);
    stats_out->resource = {.name = AsNrdString(resource->name),
                           .device = resource->device,
                           .total = resource->total,
                           .free = resource->free(),
                           .waiting = resource->waiting};
  } else if (member.state() != RateLimiter::State::kIdle) {
    stats_out->state = NRD_INSTANCE_HOLDS;
  }
}

ExecutionLimits::ExecutionLimits(SharedLimiter& limiter, const ModelConfig& config)
    : limiter_(limiter),
      config_(config),
      limited_(std::any_of(config.instances.begin(), config.instances.end(),
                           [](const auto& options) { return !options.resources.empty(); })) {
  for (uint32_t i = 0; limited_ && i < config.instance_count; ++i) {
    members_.push_back(std::make_unique<SharedLimiter::Member>());
  }
}

Status ExecutionLimits::Open() {
  if (config_.objective && !config_.objective->share.empty()) {
    limiter_.SetTotal(config_.objective->ShareResource(), config_.objective->share_width);
  }
  for (size_t i = 0; i < members_.size(); ++i) {
    if (Status status = limiter_.Add(*members_[i], config_.instances[i]); !status.ok()) {
      Close();
      return status;
    }
  }
  return Status();
}

void ExecutionLimits::Close() {
  for (const auto& member : members_) {
    limiter_.Remove(*member);
  }
}

void ExecutionLimits::LeaveAll() {
  for (const auto& member : members_) {
    limiter_.LeaveIfWaiting(*member);
  }
}

void ExecutionLimits::Read(uint32_t instance, nrd_instance_stats* stats_out) {
  if (limited_) {
    limiter_.ReadInstance(*members_[instance], stats_out);
  }
}

}  // namespace nereid

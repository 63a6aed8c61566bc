#include "core/schedule/rate_limiter.h"

#include <algorithm>
#include <utility>

namespace nereid {
namespace {

Status Check(const ResourceCount& resource) {
  if (resource.name.empty()) {
    return Status::InvalidArgument("a resource has no name");
  }
  if (resource.device < ResourceCount::kNoDevice) {
    return Status::InvalidArgument("resource '" + resource.name + "' is of device " +
                                   std::to_string(resource.device) +
                                   ", expected a device from 0 on, or -1");
  }
  return Status();
}

}  // namespace

Status RateLimiter::Limit(std::vector<ResourceCount> limits) {
  for (const ResourceCount& limit : limits) {
    NRD_RETURN_IF_ERROR(Check(limit));
  }
  if (!limits_.empty() || !holders_.empty()) {
    return Status(NRD_FAILED_PRECONDITION,
                  "resources are limited once, before anything needs them");
  }
  limits_ = std::move(limits);
  return Status();
}

RateLimiter::Resource& RateLimiter::Find(const std::string& name, int32_t device) {
  for (Resource& resource : resources_) {
    if (resource.device == device && resource.name == name) {
      return resource;
    }
  }
  return resources_.emplace_back(Resource{.name = name, .device = device});
}

// The largest count that applies to the resource.
uint32_t RateLimiter::LimitOf(const std::string& name, int32_t device, bool* limited_out) const {
  uint32_t count = 0;
  *limited_out = false;
  for (const ResourceCount& limit : limits_) {
    const bool means_it = device == ResourceCount::kNoDevice ||
                          limit.device == ResourceCount::kNoDevice || limit.device == device;
    if (means_it && limit.name == name) {
      count = std::max(count, limit.count);
      *limited_out = true;
    }
  }
  return count;
}

Status RateLimiter::CheckTotals(const ResourceCount& need) const {
  NRD_RETURN_IF_ERROR(Check(need));
  bool limited = false;
  const uint32_t limit = LimitOf(need.name, need.device, &limited);
  if (limited && limit < need.count) {
    return Status::InvalidArgument("Resource count for \"" + need.name + "\" is limited to " +
                                   std::to_string(limit) +
                                   " which will prevent scheduling of one or more model "
                                   "instances, the minimum required count is " +
                                   std::to_string(need.count));
  }
  const bool global = need.device == ResourceCount::kNoDevice;
  for (const Resource& other : resources_) {
    if (other.wanted > 0 && other.name == need.name &&
        (other.device == ResourceCount::kNoDevice) != global) {
      return Status::InvalidArgument(
          "Resource \"" + need.name +
          "\" is present as both global and device-specific resource in the model configuration.");
    }
  }
  return Status();
}

void RateLimiter::UpdateTotals() {
  for (Resource& resource : resources_) {
    resource.wanted = 0;
  }
  for (const Holder* holder : holders_) {
    for (const auto& [resource, count] : holder->needs_) {
      resource->wanted = std::max(resource->wanted, count);
    }
  }
  for (Resource& resource : resources_) {
    bool limited = false;
    const uint32_t limit = LimitOf(resource.name, resource.device, &limited);
    resource.total = limited ? limit : resource.wanted;
  }
}

void RateLimiter::SetTotal(const std::string& name, uint32_t count) {
  const auto known = std::find_if(limits_.begin(), limits_.end(), [&](const ResourceCount& limit) {
    return limit.name == name && limit.device == ResourceCount::kNoDevice;
  });
  if (known == limits_.end()) {
    limits_.push_back({.name = name, .count = count});
  } else {
    known->count = count;
  }
  UpdateTotals();
  ServeTurns();
}

Status RateLimiter::Add(Holder& holder, const std::vector<ResourceCount>& needs,
                        uint32_t priority) {
  for (size_t i = 0; i < needs.size(); ++i) {
    NRD_RETURN_IF_ERROR(CheckTotals(needs[i]));
    for (size_t j = 0; j < i; ++j) {
      if (needs[j].name == needs[i].name) {
        return Status::InvalidArgument("resource '" + needs[i].name + "' is there twice");
      }
    }
  }
  holder.needs_.clear();
  for (const ResourceCount& need : needs) {
    if (need.count > 0) {
      holder.needs_.push_back({&Find(need.name, need.device), need.count});
    }
  }
  holder.priority_ = std::max(priority, 1U);
  holder.turn_ = turn_;
  holder.waits_ = 0;
  holders_.push_back(&holder);
  waiting_.reserve(holders_.size());  // so that no later call allocates
  UpdateTotals();
  ServeTurns();  // there may be more resources now
  return Status();
}

void RateLimiter::Remove(Holder& holder) {
  if (std::erase(holders_, &holder) > 0) {
    UpdateTotals();
    Leave(holder);
  }
}

// True if enough is free beyond the claims of earlier turns.
bool RateLimiter::Fits(const Holder& holder) {
  return std::all_of(holder.needs_.begin(), holder.needs_.end(), [](const Holder::Need& need) {
    return need.resource->held + need.resource->claimed + need.count <= need.resource->total;
  });
}

void RateLimiter::Wait(Holder& holder) {
  const auto place = std::upper_bound(
      waiting_.begin(), waiting_.end(), &holder, [](const Holder* left, const Holder* right) {
        if (left->is_last() != right->is_last()) {
          return right->is_last();
        }
        return left->latest_ns_ != right->latest_ns_ ? left->latest_ns_ < right->latest_ns_
                                                     : left->turn_ < right->turn_;
      });
  waiting_.insert(place, &holder);
  holder.state_ = State::kWaits;
  for (const auto& [resource, count] : holder.needs_) {
    ++resource->waiting;
  }
}

void RateLimiter::StopWaiting(Holder& holder) {
  std::erase(waiting_, &holder);
  holder.state_ = State::kIdle;
  holder.latest_ns_ = kNever;
  for (const auto& [resource, count] : holder.needs_) {
    --resource->waiting;
  }
}

void RateLimiter::Take(Holder& holder) {
  if (!holder.is_last()) {
    turn_ = std::max(turn_, holder.turn_);
    holder.turn_ += holder.priority_;
  }
  holder.state_ = State::kGranted;
  for (const auto& [resource, count] : holder.needs_) {
    resource->held += count;
  }
}

void RateLimiter::GiveBack(Holder& holder) {
  holder.state_ = State::kIdle;
  for (const auto& [resource, count] : holder.needs_) {
    resource->held -= count;
  }
}

void RateLimiter::ServeTurns() {
  for (Resource& resource : resources_) {
    resource.claimed = 0;
  }
  for (size_t i = 0; i < waiting_.size();) {
    Holder& holder = *waiting_[i];
    if (Fits(holder)) {
      StopWaiting(holder);
      Take(holder);
      observer_.Changed(holder);
      continue;
    }
    for (const auto& [resource, count] : holder.needs_) {
      resource->claimed += count;
    }
    ++i;
  }
}

// Queues the holder among the waiting ones; it may be served at once.
bool RateLimiter::Compete(Holder& holder) {
  if (holder.state_ == State::kExecutes) {
    GiveBack(holder);
  }
  if (holder.state_ == State::kIdle) {
    holder.turn_ = std::max(holder.turn_, turn_);
    Wait(holder);
    ServeTurns();
  }
  if (holder.state_ == State::kWaits) {
    return false;
  }
  holder.state_ = State::kExecutes;
  return true;
}

bool RateLimiter::TryAcquire(Holder& holder) {
  const bool acquired = Compete(holder);
  if (!acquired) {
    Leave(holder);
  }
  return acquired;
}

bool RateLimiter::AcquireOrWait(Holder& holder, int64_t latest_ns) {
  const bool waited = holder.state_ == State::kWaits;
  if (waited && latest_ns != holder.latest_ns_) {
    StopWaiting(holder);
  }
  holder.latest_ns_ = latest_ns;
  const bool acquired = Compete(holder);
  if (!acquired && !waited) {
    ++holder.waits_;
  }
  return acquired;
}

void RateLimiter::Leave(Holder& holder) {
  switch (holder.state_) {
    case State::kIdle:
      break;
    case State::kWaits:
      StopWaiting(holder);
      observer_.Changed(holder);
      break;
    case State::kGranted:
      holder.turn_ -= holder.is_last() ? 0 : holder.priority_;
      GiveBack(holder);
      break;
    case State::kExecutes:
      GiveBack(holder);
      break;
  }
  ServeTurns();
}

const RateLimiter::Resource* RateLimiter::AwaitedBy(const Holder& holder) const {
  if (holder.state_ != State::kWaits) {
    return nullptr;
  }
  const auto missing =
      std::find_if(holder.needs_.begin(), holder.needs_.end(),
                   [](const Holder::Need& need) { return need.resource->free() < need.count; });
  return missing == holder.needs_.end() ? holder.needs_.front().resource : missing->resource;
}

uint32_t RateLimiter::NeedOf(const Holder& holder, const Resource& resource) const {
  const auto need =
      std::find_if(holder.needs_.begin(), holder.needs_.end(),
                   [&](const Holder::Need& each) { return each.resource == &resource; });
  return need == holder.needs_.end() ? 0 : need->count;
}

}  // namespace nereid

#include "core/schedule/host_policy.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <system_error>

namespace nereid {
namespace {

constexpr uint32_t kMostNodes = 1024;  // of Linux

std::string Reason() { return std::generic_category().message(errno); }

Status RunOn(const std::vector<uint32_t>& cores) {
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (const uint32_t core : cores) {
    if (core >= CPU_SETSIZE) {
      return Status::InvalidArgument("the host policy names core " + std::to_string(core) +
                                     ", expected one below " + std::to_string(CPU_SETSIZE));
    }
    CPU_SET(core, &wanted);
  }
  // The system accepts a set that exists only in part, and cuts it; this finds the cut.
  cpu_set_t taken;
  const bool set = sched_setaffinity(0, sizeof(wanted), &wanted) == 0;
  if (!set && errno != EINVAL) {
    return Status(NRD_FAILED_PRECONDITION, "cannot place an instance's thread: " + Reason());
  }
  if (!set || sched_getaffinity(0, sizeof(taken), &taken) != 0) {
    CPU_ZERO(&taken);
  }
  for (const uint32_t core : cores) {
    if (!CPU_ISSET(core, &taken)) {
      return Status::InvalidArgument("the host policy names core " + std::to_string(core) +
                                     ", which the machine does not have or the process may not "
                                     "use");
    }
  }
  return Status();
}

Status TakeMemoryFrom(int32_t node) {
  constexpr size_t kBits = sizeof(unsigned long) * CHAR_BIT;
  std::array<unsigned long, kMostNodes / kBits> nodes{};
  if (static_cast<uint32_t>(node) < kMostNodes) {
    nodes[static_cast<size_t>(node) / kBits] = 1UL << (static_cast<size_t>(node) % kBits);
    if (syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes.data(), kMostNodes + 1) == 0) {
      return Status();
    }
    if (errno != EINVAL) {
      return Status(NRD_FAILED_PRECONDITION,
                    "Unable to set NUMA memory policy: " + Reason() +
                        "; in a container that takes the capability SYS_NICE");
    }
  }
  return Status::InvalidArgument("the host policy names NUMA node " + std::to_string(node) +
                                 ", which the machine does not have or the process may not use");
}

// Gives the thread the scheduling class that waits, without limit, while any other thread has work.
Status YieldToAll() {
  const sched_param none{};
  return sched_setscheduler(0, SCHED_IDLE, &none) == 0
             ? Status()
             : Status(NRD_FAILED_PRECONDITION,
                      "cannot let an instance's thread run in idle time alone: " + Reason());
}

}  // namespace

Status ApplyHostPolicy(const InstanceOptions& options) {
  if (options.priority == NRD_PRIORITY_IDLE) {
    NRD_RETURN_IF_ERROR(YieldToAll());
  }
  if (!options.cores.empty()) {
    NRD_RETURN_IF_ERROR(RunOn(options.cores));
  }
  return options.numa_node < 0 ? Status() : TakeMemoryFrom(options.numa_node);
}

}  // namespace nereid

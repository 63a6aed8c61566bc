// What a builder writes and a runtime reads.
#ifndef NEREID_REHEARSAL_TENSORRT_PLAN_H_
#define NEREID_REHEARSAL_TENSORRT_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph.h"

namespace rehearsal::trt {

// The smallest, the best and the largest shape of an input, or values of a shape tensor.
using Range = std::array<Shape, 3>;

struct Profile {
  std::map<std::string, Range> shapes;
  std::map<std::string, Range> values;
};

struct Plan {
  int compute_capability[2] = {0, 0};
  bool hardware_compatible = false;
  bool has_host_code = false;
  bool streams_weights = false;
  bool refittable = false;
  std::int64_t stripped_bytes = -1;  // of weights that it lacks; -1: it has all
  std::vector<Profile> profiles;     // at least one, with a range for each input
  Graph graph;
};

std::vector<std::byte> WritePlan(const Plan& plan);

// Throws Refusal with what is wrong with it.
Plan ReadPlan(const void* bytes, std::size_t size);

// What is known of all tensors with the shapes of a profile.
std::vector<Known> InferLargest(const Plan& plan, std::size_t profile);

// Memory of the device that an execution with a profile needs beside inputs, outputs and weights.
std::size_t ActivationBytes(const Plan& plan, std::size_t profile);

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_PLAN_H_

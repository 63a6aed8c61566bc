// How a network becomes a plan.
#include <dlfcn.h>

#include <algorithm>

#include "builder.h"
#include "device.h"
#include "version.h"

namespace rehearsal::trt {

namespace {

// A phase that a monitor is told of. Its names are those of the rehearsal.
class Phase {
 public:
  Phase(ProgressMonitorCalls* monitor, const char* name, const char* parent, std::size_t steps)
      : monitor_(monitor), name_(name) {
    if (monitor_ != nullptr) {
      monitor_->phaseStart(name_, parent, static_cast<std::int32_t>(steps));
    }
  }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;
  ~Phase() {
    if (monitor_ != nullptr) {
      monitor_->phaseFinish(name_);
    }
  }

  void Step() {
    if (monitor_ != nullptr && !monitor_->stepComplete(name_, step_++)) {
      throw Refusal("the build was cancelled by its progress monitor");
    }
  }

 private:
  ProgressMonitorCalls* monitor_;
  const char* name_;
  std::int32_t step_ = 0;
};

// TensorRT opens them by their bare names when it builds.
void RequireLibrary(const std::string& name) {
  void* library = dlopen(name.c_str(), RTLD_LAZY);
  if (library == nullptr) {
    throw Refusal("Unable to load library: " + name + ": " + dlerror());
  }
  dlclose(library);
}

// The range of an input in a profile; what has one shape alone needs none.
Range RangeOf(const Profile& profile, const Tensor& input) {
  auto found = profile.shapes.find(input.name);
  if (found == profile.shapes.end()) {
    if (!IsKnown(input.shape)) {
      throw Refusal(
          "Network has dynamic or shape inputs, but an optimization profile has no shapes"
          " for '" +
          input.name + "'");
    }
    return {input.shape, input.shape, input.shape};
  }
  for (const Shape& shape : found->second) {
    bool fits = shape.size() == input.shape.size();
    for (std::size_t i = 0; fits && i < shape.size(); ++i) {
      fits = shape[i] >= 0 && (input.shape[i] < 0 || shape[i] == input.shape[i]);
    }
    if (!fits) {
      throw Refusal("expected shapes of " + Text(input.shape) + " for input '" + input.name +
                    "' in an optimization profile, got " + Text(shape));
    }
  }
  return found->second;
}

Profile Completed(const Profile& given, const Graph& graph) {
  Profile profile;
  for (int index : graph.inputs) {
    const Tensor& input = graph.tensors[static_cast<std::size_t>(index)];
    profile.shapes[input.name] = RangeOf(given, input);
    if (graph.IsShapeInput(index)) {
      auto values = given.values.find(input.name);
      if (values == given.values.end()) {
        throw Refusal("an optimization profile has no values for the shape tensor '" + input.name +
                      "'");
      }
      profile.values[input.name] = values->second;
    }
  }
  return profile;
}

// Leaves out all weights that can be given back later; returns how many bytes they take.
std::int64_t Strip(Graph* graph) {
  std::size_t bytes = 0;
  for (Node& node : graph->nodes) {
    for (auto& [role, parameter] : node.parameters) {
      if (parameter.IsRefittable()) {
        parameter.stripped = true;
        bytes += parameter.built->ByteSize();
      }
    }
  }
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

Plan BuildPlan(const Graph& graph, const BuilderConfig& config) {
  constexpr const char* kWhole = "Building an engine";
  Phase whole(config.monitor(), kWhole, nullptr, 3);
  RequireLibrary(LibraryFile("nvinfer_builder_resource") + "." + std::to_string(kMinor) + "." +
                 std::to_string(kPatch));
  Plan plan;
  plan.has_host_code = config.getFlag(BuilderFlag::kVersionCompatible);
  if (plan.has_host_code) {
    RequireLibrary(LibraryFile("nvinfer_lean"));
  }
  plan.graph = graph;
  if (plan.graph.outputs.empty()) {
    throw Refusal("Network must have at least one output");
  }
#if REHEARSAL_TENSORRT == 10
  if (!graph.strongly_typed) {
    plan.graph.rounding = config.getFlag(BuilderFlag::kFp16)   ? DataType::kHalf
                          : config.getFlag(BuilderFlag::kBf16) ? DataType::kBf16
                                                               : DataType::kFloat;
  }
#endif
  (void)Infer(plan.graph);
  whole.Step();
  plan.graph.CopyWeights();
  whole.Step();
  plan.hardware_compatible = config.IsHardwareCompatible();
  plan.streams_weights = config.getFlag(BuilderFlag::kWeightStreaming);
  bool strips = config.getFlag(BuilderFlag::kStripPlan);
  plan.refittable = strips || config.getFlag(BuilderFlag::kRefit);
  plan.stripped_bytes = strips ? Strip(&plan.graph) : -1;
  std::copy(std::begin(kComputeCapability), std::end(kComputeCapability),
            std::begin(plan.compute_capability));
  std::vector<Profile> profiles = config.profiles();
  if (profiles.empty()) {
    profiles.emplace_back();
  }
  Phase checking(config.monitor(), "Checking optimization profiles", kWhole, profiles.size());
  for (const Profile& profile : profiles) {
    plan.profiles.push_back(Completed(profile, plan.graph));
    (void)InferLargest(plan, plan.profiles.size() - 1);
    checking.Step();
  }
  whole.Step();
  return plan;
}

}  // namespace rehearsal::trt

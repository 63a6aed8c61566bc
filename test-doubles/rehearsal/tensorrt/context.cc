#include "context.h"

#include <algorithm>
#include <utility>

#include "execution.h"
#include "handles.h"

namespace rehearsal::trt {

// ---- Making and deleting -----------------------------------------------------------------------

Context::Context(Life* engine, std::shared_ptr<EngineState> state)
    : Held(static_cast<ExecutionContextCalls*>(this)),
      life_(static_cast<Held*>(this), "TensorRT execution context",
            "ICudaEngine::createExecutionContext", engine),
      state_(std::make_shared<ContextState>(std::move(state))) {
  ++state_->engine->contexts;
}

Held* Context::New(Life* engine, std::shared_ptr<EngineState> state, bool takes_memory) {
  const char* call = "ICudaEngine::createExecutionContext";
  Address memory = 0;
  std::size_t most = 0;
  for (std::size_t i = 0; takes_memory && i < state->plan.profiles.size(); ++i) {
    most = std::max(most, ActivationBytes(state->plan, i));
  }
  Code code = most == 0 ? Code::kSuccess : Allocate(state->device, most, call, &memory);
  if (code != Code::kSuccess) {
    throw Refusal("OutOfMemory (Requested amount of GPU memory (" + std::to_string(most) +
                  " bytes) could not be allocated: " + TextOfCode("cudaMalloc", int(code)) + ")");
  }
  auto* context = new Context(engine, std::move(state));
  context->own_memory_ = memory;
  context->activations_ = memory;
  context->activation_bytes_ = static_cast<std::int64_t>(most);
  return context;
}

void Context::Delete() {
  const char* call = "~IExecutionContext";
  if (!life_.End(call)) {
    return;
  }
  // A device that broke runs nothing any more.
  if (state_->waiting > 0 && Broken(state_->engine->device) == Code::kSuccess) {
    handles::Misuse(std::string(call) + ": the execution context is deleted while " +
                    std::to_string(state_->waiting) + " of its executions are in a stream");
  }
  state_->deleted = true;
  --state_->engine->contexts;
  if (own_memory_ != 0) {
    (void)Free(own_memory_, call);
  }
  Bury(this);
}

// ---- Profiles, shapes and memory ---------------------------------------------------------------

const Profile& Context::profile() const {
  return plan().profiles[static_cast<std::size_t>(profile_)];
}

void Context::Change() {
  ++state_->changes;
  settled_ = false;
}

int Context::BeginFor(const char* tensor, const char* call) const {
  return Begin(life_, log(), call) ? state_->engine->Find(tensor, call) : -1;
}

bool Context::setOptimizationProfileAsync(std::int32_t profile, void* stream) {
  const char* call = "IExecutionContext::setOptimizationProfileAsync";
  if (!Begin(life_, log(), call) || FindStream(stream, call) == nullptr) {
    return false;
  }
  if (profile < 0 || static_cast<std::size_t>(profile) >= plan().profiles.size()) {
    log().Error(std::string(call) + ": Error Code 3: there is no profile " +
                std::to_string(profile));
    return false;
  }
  if (profile != profile_) {
    profile_ = profile;
    shapes_.clear();
  }
  Change();
  return true;
}

void Context::setDeviceMemoryV2(void* memory, std::int64_t bytes) {
  const char* call = "IExecutionContext::setDeviceMemoryV2";
  if (!Begin(life_, log(), call)) {
    return;
  }
  auto needed =
      static_cast<std::int64_t>(ActivationBytes(plan(), static_cast<std::size_t>(profile_)));
  if (bytes < needed) {
    log().Error(std::string(call) + ": Error Code 3: expected at least " + std::to_string(needed) +
                " bytes for profile " + std::to_string(profile_) + ", got " +
                std::to_string(bytes));
    return;
  }
  activations_ = reinterpret_cast<Address>(memory);
  activation_bytes_ = bytes;
  Change();
}

void Context::CheckShape(int tensor, const Shape& shape) const {
  const std::string& name = plan().graph.tensors[static_cast<std::size_t>(tensor)].name;
  const Range& range = profile().shapes.at(name);
  bool fits = shape.size() == range[0].size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    fits = range[0][i] <= shape[i] && shape[i] <= range[2][i];
  }
  if (!fits) {
    throw Refusal("Supplied input dimension for '" + name +
                  "' does not satisfy any optimization"
                  " profiles: expected " +
                  Text(range[0]) + " to " + Text(range[2]) + " for profile " +
                  std::to_string(profile_) + ", got " + Text(shape));
  }
}

bool Context::setInputShape(const char* tensor, const Dims& dims) {
  const char* call = "IExecutionContext::setInputShape";
  int index = BeginFor(tensor, call);
  return index >= 0 && Guarded(log(), call, false, [&] {
           Shape shape = ShapeOf(dims);
           if (!plan().graph.IsInput(index)) {
             throw Refusal(std::string("'") + tensor + "' is no input");
           }
           CheckShape(index, shape);
           auto [place, is_new] = shapes_.emplace(index, shape);
           if (is_new || place->second != shape) {
             place->second = shape;
             Change();
           }
           return true;
         });
}

bool Context::SetAddress(const char* tensor, void* memory, const char* call) {
  int index = BeginFor(tensor, call);
  if (index < 0) {
    return false;
  }
  auto [place, is_new] = addresses_.emplace(index, memory);
  if (is_new || place->second != memory) {
    place->second = memory;
    ++state_->changes;
  }
  return true;
}

bool Context::setTensorAddress(const char* tensor, void* memory) {
  return SetAddress(tensor, memory, "IExecutionContext::setTensorAddress");
}

bool Context::setInputTensorAddress(const char* tensor, const void* memory) {
  return SetAddress(tensor, const_cast<void*>(memory), "IExecutionContext::setInputTensorAddress");
}

bool Context::setOutputAllocator(const char* tensor, OutputAllocatorCalls* allocator) {
  const char* call = "IExecutionContext::setOutputAllocator";
  int index = BeginFor(tensor, call);
  if (index < 0 || !plan().graph.IsOutput(index)) {
    return false;
  }
  allocators_[index] = allocator;
  ++state_->changes;
  return true;
}

// ---- What follows from the shapes --------------------------------------------------------------

std::shared_ptr<const Value> Context::HostValue(int tensor, const Shape& shape) const {
  auto address = addresses_.find(tensor);
  if (!plan().graph.IsShapeInput(tensor) || address == addresses_.end() ||
      address->second == nullptr || !IsKnown(shape)) {
    return nullptr;
  }
  DataType type = plan().graph.tensors[static_cast<std::size_t>(tensor)].type;
  return std::make_shared<Value>(Value::Read(type, shape, address->second));
}

std::vector<Known> Context::Know() const {
  std::map<int, Known> inputs;
  for (int index : plan().graph.inputs) {
    const Tensor& tensor = plan().graph.tensors[static_cast<std::size_t>(index)];
    auto set = shapes_.find(index);
    const Shape& shape = set == shapes_.end() ? tensor.shape : set->second;
    inputs[index] = {tensor.type, shape, shape, HostValue(index, shape)};
  }
  return Infer(plan().graph, inputs);
}

Dims Context::getTensorShape(const char* tensor) const {
  const char* call = "IExecutionContext::getTensorShape";
  int index = BeginFor(tensor, call);
  return index < 0 ? Dims{-1, {}} : Guarded(log(), call, Dims{-1, {}}, [&] {
    return DimsOf(Know()[static_cast<std::size_t>(index)].shape);
  });
}

std::int64_t Context::getMaxOutputSize(const char* tensor) const {
  const char* call = "IExecutionContext::getMaxOutputSize";
  int index = BeginFor(tensor, call);
  if (index < 0 || !plan().graph.IsOutput(index)) {
    return -1;
  }
  return Guarded(log(), call, std::int64_t{-1}, [&] {
    Known known = Know()[static_cast<std::size_t>(index)];
    bool is_known = IsKnown(known.most);
    return is_known ? Elements(known.most) * static_cast<std::int64_t>(BytesOf(known.type)) : -1;
  });
}

// ---- Execution ---------------------------------------------------------------------------------

std::shared_ptr<Execution> Context::Prepare() const {
  auto execution = std::make_shared<Execution>();
  execution->context = state_;
  std::vector<Known> known = Know();
  auto bound = [&](int index) {
    const Known& all = known[static_cast<std::size_t>(index)];
    Bound one{index,
              plan().graph.tensors[static_cast<std::size_t>(index)].name,
              all.type,
              all.shape,
              nullptr,
              nullptr,
              plan().graph.IsHostOutput(index),
              all.value};
    auto address = addresses_.find(index);
    if (address != addresses_.end()) {
      one.memory = address->second;
    }
    return one;
  };
  for (int index : plan().graph.inputs) {
    Bound input = bound(index);
    if (!IsKnown(input.shape)) {
      throw Refusal("the shape of input '" + input.name + "' was not set");
    }
    if (input.host == nullptr && input.memory == nullptr) {
      throw Refusal("Address is not set for input tensor " + input.name);
    }
    execution->inputs.push_back(std::move(input));
  }
  for (int index : plan().graph.outputs) {
    Bound output = bound(index);
    auto allocator = allocators_.find(index);
    output.allocator = allocator == allocators_.end() ? nullptr : allocator->second;
    if (output.memory == nullptr && output.allocator == nullptr) {
      throw Refusal("Neither address or allocator is set for output tensor " + output.name);
    }
    execution->outputs.push_back(std::move(output));
  }
  execution->activations = activations_;
  execution->activation_bytes = ActivationBytes(plan(), static_cast<std::size_t>(profile_));
  if (activations_ == 0 ||
      activation_bytes_ < static_cast<std::int64_t>(execution->activation_bytes)) {
    throw Refusal("the context has " + std::to_string(activation_bytes_) +
                  " bytes for activations, and profile " + std::to_string(profile_) + " needs " +
                  std::to_string(execution->activation_bytes));
  }
  return execution;
}

bool Context::enqueueV3(void* stream) {
  const char* call = "IExecutionContext::enqueueV3";
  if (!Begin(life_, log(), call)) {
    return false;
  }
  std::shared_ptr<Stream> into = FindStream(stream, call);
  if (into == nullptr) {
    log().Error(TextOfCode(call, static_cast<int>(Code::kInvalidHandle)));
    return false;
  }
  return Guarded(log(), call, false, [&] {
    if (DeviceOf(*into) != state_->engine->device) {
      handles::Misuse(std::string(call) + ": the stream is of another device than the engine");
      throw Refusal("the stream is of another device than the engine");
    }
    if (CurrentDevice() != state_->engine->device) {
      handles::Misuse(std::string(call) + ": the engine's device is not the thread's");
      throw Refusal("the engine's device is not the thread's");
    }
    std::shared_ptr<Execution> execution = Prepare();
    Put(into, stream, execution);
    return true;
  });
}

namespace {

void Require(Code code) {
  if (code != Code::kSuccess) {
    throw Refusal(TextOfCode("IExecutionContext::enqueueV3", static_cast<int>(code)));
  }
}

}  // namespace

void Context::Put(const std::shared_ptr<Stream>& into, const void* handle,
                  const std::shared_ptr<Execution>& execution) {
  bool waits = execution->AsksForMemory() || state_->engine->StreamsWeights();
  if (CaptureOf(*into) == CaptureState::kActive) {
    if (waits || !settled_) {
      (void)ForbiddenInCapture();
      throw Refusal(waits ? "an execution that waits for its stream cannot be captured"
                          : "the first execution after a new shape cannot be captured");
    }
    return Require(Enqueue(into, execution->ForGraph()));
  }
  if (state_->waiting > 0 && state_->stream != handle) {
    handles::Misuse("IExecutionContext::enqueueV3: the context is used from two streams at once");
    throw Refusal("the context is used from two streams at once");
  }
  state_->stream = handle;
  if (execution->AsksForMemory()) {
    Require(Enqueue(into, execution->FirstPart()));
    Require(Synchronize(*into));
    execution->AskForMemory(const_cast<void*>(handle));
    Require(Enqueue(into, execution->SecondPart()));
  } else {
    Require(Enqueue(into, execution->Whole()));
  }
  if (waits) {
    Require(Synchronize(*into));
  }
  settled_ = true;
}

}  // namespace rehearsal::trt

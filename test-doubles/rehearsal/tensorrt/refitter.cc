#include "refitter.h"

#include <algorithm>
#include <utility>

#include "handles.h"

namespace rehearsal::trt {

Refitter::Refitter(Life* engine, std::shared_ptr<EngineState> state, LoggerCalls* logger)
    : Held(static_cast<RefitterCalls*>(this)),
      log_(logger),
      life_(static_cast<Held*>(this), "TensorRT refitter", "createInferRefitter_INTERNAL", engine),
      state_(std::move(state)) {}

void Refitter::Delete() {
  if (life_.End("~IRefitter")) {
    state_ = nullptr;
    Bury(this);
  }
}

Parameter* Refitter::Find(const char* name) const {
  for (Node& node : state_->plan.graph.nodes) {
    for (auto& [role, parameter] : node.parameters) {
      if (name != nullptr && parameter.IsRefittable() && parameter.name == name) {
        return &parameter;
      }
    }
  }
  return nullptr;
}

std::vector<const char*> Refitter::Names(bool missing) const {
  std::vector<const char*> names;
  for (const Node& node : state_->plan.graph.nodes) {
    bool some = false;
    for (const auto& [role, parameter] : node.parameters) {
      some = some || set_.count(parameter.name) != 0;
    }
    for (const auto& [role, parameter] : node.parameters) {
      bool lacks = set_.count(parameter.name) == 0 && (some || parameter.stripped);
      if (parameter.IsRefittable() && (lacks || !missing)) {
        names.push_back(parameter.name.c_str());
      }
    }
  }
  return names;
}

bool Refitter::setNamedWeights(const char* name, Weights weights) {
  const char* call = "IRefitter::setNamedWeights";
  return Begin(life_, log_, call) && Guarded(log_, call, false, [&] {
           const Parameter* parameter = Find(name);
           if (parameter == nullptr) {
             throw Refusal(std::string("there are no refittable weights '") + name + "'");
           }
           const Value& built = *parameter->built;
           if (weights.type != built.type || weights.count != built.Count() ||
               weights.values == nullptr) {
             throw Refusal(std::string("the weights '") + name + "' have another type or count");
           }
           set_[name] = weights;
           return true;
         });
}

std::int32_t Refitter::getMissingWeights(std::int32_t size, const char** names) {
  if (!life_.IsAlive("IRefitter::getMissingWeights")) {
    return 0;
  }
  std::vector<const char*> all = Names(true);
  std::copy_n(all.begin(), std::min(all.size(), static_cast<std::size_t>(size)), names);
  return static_cast<std::int32_t>(all.size());
}

std::int32_t Refitter::getAllWeights(std::int32_t size, const char** names) {
  if (!life_.IsAlive("IRefitter::getAllWeights")) {
    return 0;
  }
  std::vector<const char*> all = Names(false);
  std::copy_n(all.begin(), std::min(all.size(), static_cast<std::size_t>(size)), names);
  return static_cast<std::int32_t>(all.size());
}

Weights Refitter::getWeightsPrototype(const char* name) const {
  const Parameter* parameter =
      life_.IsAlive("IRefitter::getWeightsPrototype") ? Find(name) : nullptr;
  return parameter == nullptr ? Weights{DataType::kFloat, nullptr, -1}
                              : Weights{parameter->built->type, nullptr, parameter->built->Count()};
}

bool Refitter::refitCudaEngine() {
  const char* call = "IRefitter::refitCudaEngine";
  if (!Begin(life_, log_, call)) {
    return false;
  }
  if (state_->waiting > 0) {
    handles::Misuse(std::string(call) + ": executions of the engine are in a stream");
    return false;
  }
  return Guarded(log_, call, false, [&] {
    if (!Names(true).empty()) {
      throw Refusal(std::to_string(Names(true).size()) + " weights are missing");
    }
    for (Node& node : state_->plan.graph.nodes) {
      for (auto& [role, parameter] : node.parameters) {
        auto found = set_.find(parameter.name);  // several layers may share one name
        if (parameter.IsRefittable() && found != set_.end()) {
          parameter.built = std::make_shared<Value>(
              Value::Read(found->second.type, parameter.built->shape, found->second.values));
          parameter.stripped = false;
        }
      }
    }
    return true;
  });
}

}  // namespace rehearsal::trt

// Repository agents made for Triton: plug-ins that see a model before it is loaded, and may replace
// its files.
#ifndef NEREID_TRITON_AGENT_H_
#define NEREID_TRITON_AGENT_H_

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "triton/core/tritonrepoagent.h"
#include "triton/handle.h"
#include "triton/nereid_triton.h"
#include "triton/plugin_library.h"

namespace nereid::triton {

// The library of an agent, behind TRITONREPOAGENT_Agent.
class Agent : public Handle {
 public:
  static constexpr Kind kKind = Kind::kAgent;

  using AgentFn = TRITONSERVER_Error* (*)(TRITONREPOAGENT_Agent*);
  using ModelFn = TRITONSERVER_Error* (*)(TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel*);
  using ActionFn = TRITONSERVER_Error* (*)(TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel*,
                                           TRITONREPOAGENT_ActionType);

  static Status Create(std::string_view name, std::string_view library,
                       std::unique_ptr<Agent>* out);
  ~Agent();

  [[nodiscard]] Owner& owner() const { return owner_; }
  // The plug-in's functions; the first two may be null.
  [[nodiscard]] ModelFn initialize_model() const { return initialize_model_; }
  [[nodiscard]] ModelFn finalize_model() const { return finalize_model_; }
  [[nodiscard]] ActionFn act() const { return act_; }

  std::atomic<void*> state{nullptr};  // the plug-in's

 private:
  explicit Agent(std::string_view name) : owner_(Owner::Of("repository agent", name)) {
    Handle::Open(kKind, nullptr);
  }
  Status Load(std::string_view library);

  Owner& owner_;
  std::unique_ptr<PluginLibrary> library_;
  bool initialized_ = false;
  AgentFn finalize_ = nullptr;
  ModelFn initialize_model_ = nullptr;
  ModelFn finalize_model_ = nullptr;
  ActionFn act_ = nullptr;
};

// A model as the control plane describes it to an agent.
struct AgentModelSettings {
  std::string name;
  std::string config;    // JSON
  std::string location;  // the directory as the previous agents left it
  std::vector<std::pair<std::string, std::string>> parameters;
};

// Behind TRITONREPOAGENT_AgentModel: one load of a model. One thread at a time uses it.
class AgentModel : public Handle {
 public:
  static constexpr Kind kKind = Kind::kAgentModel;

  static Status Create(Agent& agent, AgentModelSettings settings, std::unique_ptr<AgentModel>* out);
  // Sends the agent the actions that are still missing.
  ~AgentModel();

  // Sends `action` (TRITONREPOAGENT_ACTION_*) to the agent. A failure at LOAD fails the load; other
  // failures are logged.
  Status Act(int32_t action);

  [[nodiscard]] const AgentModelSettings& settings() const { return settings_; }
  Status SetLocation(TRITONREPOAGENT_ArtifactType type, std::string_view location);
  Status AcquireLocation(TRITONREPOAGENT_ArtifactType type, const char** location);
  Status ReleaseLocation(std::string_view location);

  std::atomic<void*> state{nullptr};  // the plug-in's

 private:
  AgentModel(Agent& agent, AgentModelSettings settings);
  [[nodiscard]] Status CheckTransition(int32_t action) const;
  Status Tell(int32_t action);
  void RemoveAcquired();

  Agent& agent_;
  AgentModelSettings settings_;
  bool initialized_ = false;
  int32_t last_action_ = -1;  // -1: none yet
  std::string acquired_;      // a directory of the host that the agent writes to; empty: none
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_AGENT_H_

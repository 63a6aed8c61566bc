#include "triton/agent.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "triton/calls.h"

namespace nereid::triton {
namespace {

std::string NameOfAction(int32_t action) {
  static constexpr const char* kNames[] = {"LOAD", "LOAD_COMPLETE", "LOAD_FAIL", "UNLOAD",
                                           "UNLOAD_COMPLETE"};
  return action < 0 ? "its opening" : kNames[action];
}

// The action that must precede `action`; -1: none.
int32_t ActionBefore(int32_t action) {
  switch (action) {
    case TRITONREPOAGENT_ACTION_LOAD:
      return -1;
    case TRITONREPOAGENT_ACTION_UNLOAD:
      return TRITONREPOAGENT_ACTION_LOAD_COMPLETE;
    case TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE:
      return TRITONREPOAGENT_ACTION_UNLOAD;
    default:
      return TRITONREPOAGENT_ACTION_LOAD;
  }
}

void LogFailure(const Status& status) {
  if (!status.ok()) {
    Log(kLogError, status.message());
  }
}

}  // namespace

Status Agent::Create(std::string_view name, std::string_view library, std::unique_ptr<Agent>* out) {
  std::unique_ptr<Agent> agent(new Agent(name));
  NRD_RETURN_IF_ERROR(agent->Load(library));
  *out = std::move(agent);
  return Status();
}

Status Agent::Load(std::string_view library) {
  NRD_RETURN_IF_ERROR(PluginLibrary::Open(std::string(library), owner_, &library_));
  AgentFn initialize = nullptr;
  library_->Take("TRITONREPOAGENT_Initialize", &initialize);
  library_->Take("TRITONREPOAGENT_Finalize", &finalize_);
  library_->Take("TRITONREPOAGENT_ModelInitialize", &initialize_model_);
  library_->Take("TRITONREPOAGENT_ModelFinalize", &finalize_model_);
  library_->Take("TRITONREPOAGENT_ModelAction", &act_);
  if (act_ == nullptr) {
    return Status(NRD_FAILED_PRECONDITION,
                  owner_.name() + " (" + std::string(library) +
                      ") is no repository agent: expected TRITONREPOAGENT_ModelAction");
  }
  if (initialize != nullptr) {
    NRD_RETURN_IF_ERROR(CallPlugin(owner_, "TRITONREPOAGENT_Initialize",
                                   [&] { return initialize(Give<TRITONREPOAGENT_Agent>(this)); }));
  }
  initialized_ = true;
  return Status();
}

Agent::~Agent() {
  if (initialized_ && finalize_ != nullptr) {
    LogFailure(CallPlugin(owner_, "TRITONREPOAGENT_Finalize",
                          [this] { return finalize_(Give<TRITONREPOAGENT_Agent>(this)); }));
  }
}

AgentModel::AgentModel(Agent& agent, AgentModelSettings settings)
    : agent_(agent), settings_(std::move(settings)) {
  Open(kKind, nullptr);
}

Status AgentModel::Create(Agent& agent, AgentModelSettings settings,
                          std::unique_ptr<AgentModel>* out) {
  std::unique_ptr<AgentModel> model(new AgentModel(agent, std::move(settings)));
  if (agent.initialize_model() != nullptr) {
    NRD_RETURN_IF_ERROR(CallPlugin(agent.owner(), "TRITONREPOAGENT_ModelInitialize", [&] {
      return agent.initialize_model()(Give<TRITONREPOAGENT_Agent>(&agent),
                                      Give<TRITONREPOAGENT_AgentModel>(model.get()));
    }));
  }
  model->initialized_ = true;
  *out = std::move(model);
  return Status();
}

AgentModel::~AgentModel() {
  if (last_action_ == TRITONREPOAGENT_ACTION_LOAD) {
    LogFailure(Act(TRITONREPOAGENT_ACTION_LOAD_FAIL));
  } else if (last_action_ == TRITONREPOAGENT_ACTION_LOAD_COMPLETE) {
    LogFailure(Act(TRITONREPOAGENT_ACTION_UNLOAD));
  }
  if (last_action_ == TRITONREPOAGENT_ACTION_UNLOAD) {
    LogFailure(Act(TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE));
  }
  if (initialized_ && agent_.finalize_model() != nullptr) {
    LogFailure(CallPlugin(agent_.owner(), "TRITONREPOAGENT_ModelFinalize", [this] {
      return agent_.finalize_model()(Give<TRITONREPOAGENT_Agent>(&agent_),
                                     Give<TRITONREPOAGENT_AgentModel>(this));
    }));
  }
  RemoveAcquired();
}

Status AgentModel::Act(int32_t action) {
  NRD_RETURN_IF_ERROR(CheckTransition(action));
  last_action_ = action;
  Status status = Tell(action);
  if (status.ok() || action == TRITONREPOAGENT_ACTION_LOAD) {
    return status;
  }
  Log(kLogError, {agent_.owner().name(), " failed at ", NameOfAction(action), " of model '",
                  settings_.name, "': ", status.message()});
  return Status();
}

Status AgentModel::CheckTransition(int32_t action) const {
  if (action < TRITONREPOAGENT_ACTION_LOAD || action > TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE) {
    return Status::InvalidArgument("there is no action " + std::to_string(action) +
                                   " of repository agents");
  }
  if (last_action_ == ActionBefore(action)) {
    return Status();
  }
  return Status(NRD_FAILED_PRECONDITION, "model '" + settings_.name + "' of " +
                                             agent_.owner().name() + ": " + NameOfAction(action) +
                                             " follows " + NameOfAction(ActionBefore(action)) +
                                             ", not " + NameOfAction(last_action_));
}

Status AgentModel::Tell(int32_t action) {
  return CallPlugin(agent_.owner(), "TRITONREPOAGENT_ModelAction", [&] {
    return agent_.act()(Give<TRITONREPOAGENT_Agent>(&agent_),
                        Give<TRITONREPOAGENT_AgentModel>(this),
                        static_cast<TRITONREPOAGENT_ActionType>(action));
  });
}

Status AgentModel::SetLocation(TRITONREPOAGENT_ArtifactType type, std::string_view location) {
  if (last_action_ != TRITONREPOAGENT_ACTION_LOAD) {
    return Status::InvalidArgument(
        "location can only be updated during TRITONREPOAGENT_ACTION_LOAD, the model is at " +
        NameOfAction(last_action_));
  }
  if (type != TRITONREPOAGENT_ARTIFACT_FILESYSTEM) {
    return Status(NRD_UNIMPLEMENTED,
                  "the files of model '" + settings_.name +
                      "' are to be in a remote file system, expected a local directory");
  }
  settings_.location = location;
  return Status();
}

Status AgentModel::AcquireLocation(TRITONREPOAGENT_ArtifactType type, const char** location) {
  if (type != TRITONREPOAGENT_ARTIFACT_FILESYSTEM) {
    return Status::InvalidArgument(
        "Unexpected artifact type, expects 'TRITONREPOAGENT_ARTIFACT_FILESYSTEM'");
  }
  if (acquired_.empty()) {
    std::string path = std::filesystem::temp_directory_path() / "nereid-agent-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
      return Status(NRD_UNAVAILABLE,
                    "no directory could be made as '" + path + "': " + std::strerror(errno));
    }
    acquired_ = std::move(path);
  }
  *location = acquired_.c_str();
  return Status();
}

Status AgentModel::ReleaseLocation(std::string_view location) {
  if (acquired_.empty()) {
    return Status(NRD_UNAVAILABLE, "No mutable location to be deleted");
  }
  if (location != acquired_) {
    return Status::InvalidArgument("'" + std::string(location) + "' was not acquired, expected '" +
                                   acquired_ + "'");
  }
  RemoveAcquired();
  return Status();
}

void AgentModel::RemoveAcquired() {
  if (acquired_.empty()) {
    return;
  }
  std::error_code failure;
  std::filesystem::remove_all(acquired_, failure);
  if (failure) {
    Log(kLogError, "directory '" + acquired_ + "' of " + agent_.owner().name() +
                       " was not removed: " + failure.message());
  }
  acquired_.clear();
}

}  // namespace nereid::triton

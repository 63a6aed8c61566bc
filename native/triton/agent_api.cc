// TRITONREPOAGENT_*, which repository agents call, and nrt_agent_*, by which the control plane uses
// them.
#include "triton/agent.h"
#include "triton/calls.h"
#include "triton/errors.h"
#include "triton/message.h"

using nereid::Status;
using nereid::View;
using nereid::triton::Agent;
using nereid::triton::AgentModel;
using nereid::triton::AgentModelSettings;
using nereid::triton::CheckText;
using nereid::triton::Find;
using nereid::triton::Serve;
using nereid::triton::Site;

namespace {

Agent* Behind(nrt_agent* agent) { return reinterpret_cast<Agent*>(agent); }
AgentModel* Behind(nrt_agent_model* model) { return reinterpret_cast<AgentModel*>(model); }

// Runs `body` for a model of an agent, if the plug-in named both.
template <typename Body>
TRITONSERVER_Error* ServeModel(const Site& site, TRITONREPOAGENT_Agent* agent,
                               TRITONREPOAGENT_AgentModel* model, Body&& body) {
  return Serve<Agent>(site, agent, [&](Agent&) -> Status {
    auto* const known = Find<AgentModel>(model);
    return known == nullptr ? nereid::triton::WrongHandle(site, AgentModel::kKind, model)
                            : body(*known);
  });
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONREPOAGENT_ApiVersion(uint32_t* major, uint32_t* minor) {
  *major = TRITONREPOAGENT_API_VERSION_MAJOR;
  *minor = TRITONREPOAGENT_API_VERSION_MINOR;
  return nullptr;
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocation(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ArtifactType* artifact_type, const char** location) {
  return ServeModel(NRT_SITE, agent, model, [&](AgentModel& known) {
    *artifact_type = TRITONREPOAGENT_ARTIFACT_FILESYSTEM;
    *location = known.settings().location.c_str();
    return Status();
  });
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationAcquire(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    const TRITONREPOAGENT_ArtifactType artifact_type, const char** location) {
  return ServeModel(NRT_SITE, agent, model, [&](AgentModel& known) {
    return known.AcquireLocation(artifact_type, location);
  });
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationRelease(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, const char* location) {
  const Site site = NRT_SITE;
  return ServeModel(site, agent, model, [&](AgentModel& known) -> Status {
    NRD_RETURN_IF_ERROR(CheckText(site, location, "the location"));
    return known.ReleaseLocation(location);
  });
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryUpdate(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    const TRITONREPOAGENT_ArtifactType artifact_type, const char* location) {
  const Site site = NRT_SITE;
  return ServeModel(site, agent, model, [&](AgentModel& known) -> Status {
    NRD_RETURN_IF_ERROR(CheckText(site, location, "the location"));
    return known.SetLocation(artifact_type, location);
  });
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelParameterCount(TRITONREPOAGENT_Agent* agent,
                                                        TRITONREPOAGENT_AgentModel* model,
                                                        uint32_t* count) {
  return ServeModel(NRT_SITE, agent, model, [&](AgentModel& known) {
    *count = static_cast<uint32_t>(known.settings().parameters.size());
    return Status();
  });
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelParameter(TRITONREPOAGENT_Agent* agent,
                                                   TRITONREPOAGENT_AgentModel* model,
                                                   const uint32_t index,
                                                   const char** parameter_name,
                                                   const char** parameter_value) {
  return ServeModel(NRT_SITE, agent, model, [&](AgentModel& known) -> Status {
    const auto& parameters = known.settings().parameters;
    if (index >= parameters.size()) {
      return Status::InvalidArgument(
          "index out of range for model parameters: " + std::to_string(index) + ", the model has " +
          std::to_string(parameters.size()));
    }
    *parameter_name = parameters[index].first.c_str();
    *parameter_value = parameters[index].second.c_str();
    return Status();
  });
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelConfig(TRITONREPOAGENT_Agent* agent,
                                                TRITONREPOAGENT_AgentModel* model,
                                                const uint32_t config_version,
                                                TRITONSERVER_Message** model_config) {
  return ServeModel(NRT_SITE, agent, model, [&](AgentModel& known) -> Status {
    NRD_RETURN_IF_ERROR(nereid::triton::CheckConfigVersion(config_version));
    *model_config = nereid::triton::NewMessage(known.settings().config);
    return Status();
  });
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelState(TRITONREPOAGENT_AgentModel* model, void** state) {
  return Serve<AgentModel>(NRT_SITE, model, [&](AgentModel& known) { *state = known.state; });
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelSetState(TRITONREPOAGENT_AgentModel* model, void* state) {
  return Serve<AgentModel>(NRT_SITE, model, [&](AgentModel& known) { known.state = state; });
}

TRITONSERVER_Error* TRITONREPOAGENT_State(TRITONREPOAGENT_Agent* agent, void** state) {
  return Serve<Agent>(NRT_SITE, agent, [&](Agent& known) { *state = known.state; });
}

TRITONSERVER_Error* TRITONREPOAGENT_SetState(TRITONREPOAGENT_Agent* agent, void* state) {
  return Serve<Agent>(NRT_SITE, agent, [&](Agent& known) { known.state = state; });
}

int32_t nrt_agent_open(nrd_string name, nrd_string library, nrt_agent** agent_out,
                       nrd_error* error_out) {
  std::unique_ptr<Agent> agent;
  const Status status = Agent::Create(View(name), View(library), &agent);
  *agent_out = reinterpret_cast<nrt_agent*>(agent.release());
  return nereid::Report(status, error_out);
}

void nrt_agent_close(nrt_agent* agent) { delete Behind(agent); }

int32_t nrt_agent_model_open(nrt_agent* agent, nrd_string model, nrd_string config,
                             nrd_string location, const nrd_parameter* parameters,
                             uint32_t parameter_count, nrt_agent_model** model_out,
                             nrd_error* error_out) {
  AgentModelSettings settings{
      std::string(View(model)), std::string(View(config)), std::string(View(location)), {}};
  for (uint32_t i = 0; i < parameter_count; ++i) {
    settings.parameters.emplace_back(View(parameters[i].key), View(parameters[i].value));
  }
  std::unique_ptr<AgentModel> opened;
  const Status status = AgentModel::Create(*Behind(agent), std::move(settings), &opened);
  *model_out = reinterpret_cast<nrt_agent_model*>(opened.release());
  return nereid::Report(status, error_out);
}

int32_t nrt_agent_model_act(nrt_agent_model* model, int32_t action, nrd_error* error_out) {
  return nereid::Report(Behind(model)->Act(action), error_out);
}

void nrt_agent_model_location(nrt_agent_model* model, void* taker, nrt_take_fn take) {
  const std::string& location = Behind(model)->settings().location;
  take(taker, location.data(), location.size());
}

void nrt_agent_model_close(nrt_agent_model* model) { delete Behind(model); }

}  // extern "C"

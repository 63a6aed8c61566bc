// Tests of repository agents made for Triton.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "test/triton/triton_fixture.h"

namespace nereid::test {
namespace {

class AgentOf {
 public:
  AgentOf() {
    PluginHost::Get().TakeLog();
    Errors errors;
    REQUIRE_MESSAGE(nrt_agent_open(View("relocating"), View(NEREID_RELOCATING_PATH), &agent_,
                                   errors.out()) == NRD_OK,
                    errors.message());
    CHECK(PluginHost::Get().TakeLog() == "agent: initialised\n");
  }
  ~AgentOf() {
    nrt_agent_close(agent_);
    CHECK(PluginHost::Get().TakeLog() == "agent: finalised\n");
  }
  AgentOf(const AgentOf&) = delete;
  AgentOf& operator=(const AgentOf&) = delete;

  nrt_agent* get() { return agent_; }

 private:
  nrt_agent* agent_ = nullptr;
};

// A model whose parameters tell the agent what to do.
class AgentsModel {
 public:
  AgentsModel(AgentOf& agent, const std::string& what, const std::string& location = "/models/m") {
    const nrd_parameter parameters[] = {{View("other"), View("thing")}, {View("do"), View(what)}};
    code = nrt_agent_model_open(agent.get(), View("m"), View(R"({"name":"m"})"), View(location),
                                parameters, 2, &model_, errors.out());
  }
  ~AgentsModel() {
    if (model_ != nullptr) {
      nrt_agent_model_close(model_);
    }
  }
  AgentsModel(const AgentsModel&) = delete;
  AgentsModel& operator=(const AgentsModel&) = delete;

  int32_t Act(int32_t action) { return nrt_agent_model_act(model_, action, errors.out()); }
  std::string location() {
    std::string text;
    nrt_agent_model_location(model_, &text, [](void* taker, const char* data, uint64_t size) {
      static_cast<std::string*>(taker)->assign(data, size);
    });
    return text;
  }

  int32_t code = NRD_OK;
  Errors errors;

 private:
  nrt_agent_model* model_ = nullptr;
};

std::string FileText(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("an agent sees the whole life of a model") {
  AgentOf agent;
  {
    AgentsModel model(agent, "say config");
    for (const int32_t action :
         {NRT_AGENT_LOAD, NRT_AGENT_LOAD_COMPLETE, NRT_AGENT_UNLOAD, NRT_AGENT_UNLOAD_COMPLETE}) {
      CHECK(model.Act(action) == NRD_OK);
    }
    CHECK(model.location() == "/models/m");
  }
  CHECK(PluginHost::Get().TakeLog() ==
        "agent: LOAD\nagent: config {\"name\":\"m\"}\nagent: LOAD_COMPLETE\nagent: UNLOAD\n"
        "agent: UNLOAD_COMPLETE\nagent: model finalised\n");
}

TEST_CASE("what is missing of a model's life is told when it is closed") {
  AgentOf agent;
  {
    AgentsModel model(agent, "nothing");
    CHECK(model.Act(NRT_AGENT_LOAD) == NRD_OK);
  }
  CHECK(PluginHost::Get().TakeLog() == "agent: LOAD\nagent: LOAD_FAIL\nagent: model finalised\n");
  {
    AgentsModel model(agent, "nothing");
    CHECK(model.Act(NRT_AGENT_LOAD) == NRD_OK);
    CHECK(model.Act(NRT_AGENT_LOAD_COMPLETE) == NRD_OK);
  }
  CHECK(PluginHost::Get().TakeLog() ==
        "agent: LOAD\nagent: LOAD_COMPLETE\nagent: UNLOAD\nagent: UNLOAD_COMPLETE\n"
        "agent: model finalised\n");
  { const AgentsModel model(agent, "nothing"); }
  CHECK(PluginHost::Get().TakeLog() == "agent: model finalised\n");
}

TEST_CASE("an agent puts other files in the place of a model's") {
  AgentOf agent;
  std::filesystem::path place;
  {
    AgentsModel model(agent, "relocate");
    CHECK(model.Act(NRT_AGENT_LOAD) == NRD_OK);
    place = model.location();
    CHECK(FileText(place / "origin") == "/models/m");
    // The next agent of a chain begins where the previous one ended.
    AgentsModel second(agent, "relocate", place);
    CHECK(second.Act(NRT_AGENT_LOAD) == NRD_OK);
    CHECK(second.location() != place.string());
    CHECK(FileText(second.location() + "/origin") == place.string());
  }
  // A directory that the agent did not release is removed.
  CHECK_FALSE(std::filesystem::exists(place));
  {
    AgentsModel model(agent, "release");
    CHECK(model.Act(NRT_AGENT_LOAD) == NRD_OK);
    place = model.location();
    CHECK(std::filesystem::exists(place));
  }
  CHECK_FALSE(std::filesystem::exists(place));
  PluginHost::Get().TakeLog();
}

TEST_CASE("an agent's failure fails the load, and later is only logged") {
  AgentOf agent;
  {
    AgentsModel model(agent, "fail");
    CHECK(model.Act(NRT_AGENT_LOAD) == NRD_INVALID_ARGUMENT);
    CHECK(model.errors.message() == "the files are not what they should be");
    CHECK(model.Act(NRT_AGENT_LOAD_FAIL) == NRD_OK);
  }
  CHECK(PluginHost::Get().TakeLog() == "agent: LOAD\nagent: LOAD_FAIL\nagent: model finalised\n");
  {
    AgentsModel model(agent, "fail later");
    CHECK(model.Act(NRT_AGENT_LOAD) == NRD_OK);
    CHECK(model.Act(NRT_AGENT_LOAD_COMPLETE) == NRD_OK);
  }
  const std::string log = PluginHost::Get().TakeLog();
  CHECK(log.find("repository agent 'relocating' failed at LOAD_COMPLETE of model 'm': too late to "
                 "matter\n") != std::string::npos);
  CHECK(log.find("failed at UNLOAD of model 'm'") != std::string::npos);
  CHECK(log.find("failed at UNLOAD_COMPLETE of model 'm'") != std::string::npos);
  {
    const AgentsModel model(agent, "refuse");
    CHECK(model.code == NRD_INVALID_ARGUMENT);
    CHECK(model.errors.message() == "refused from the beginning");
  }
  {
    AgentsModel model(agent, "move late");
    CHECK(model.Act(NRT_AGENT_LOAD) == NRD_OK);
    CHECK(model.Act(NRT_AGENT_LOAD_COMPLETE) == NRD_OK);
    CHECK(model.location() == "/models/m");
  }
  CHECK(PluginHost::Get().TakeLog().find("location can only be updated during "
                                         "TRITONREPOAGENT_ACTION_LOAD") != std::string::npos);
}

TEST_CASE("a model's life has an order") {
  AgentOf agent;
  {
    AgentsModel model(agent, "nothing");
    CHECK(model.Act(NRT_AGENT_UNLOAD) == NRD_FAILED_PRECONDITION);
    CHECK(model.errors.message() ==
          "model 'm' of repository agent 'relocating': UNLOAD follows LOAD_COMPLETE, not its "
          "opening");
    CHECK(model.Act(NRT_AGENT_LOAD) == NRD_OK);
    CHECK(model.Act(NRT_AGENT_LOAD) == NRD_FAILED_PRECONDITION);
    CHECK(model.Act(99) == NRD_INVALID_ARGUMENT);
  }
  PluginHost::Get().TakeLog();
}

TEST_CASE("what an agent does wrong is told") {
  AgentOf agent;
  {
    AgentsModel model(agent, "misuse");
    CHECK(model.Act(NRT_AGENT_LOAD) == NRD_OK);
    CHECK(model.location() == "/models/m");
  }
  const std::string log = PluginHost::Get().TakeLog();
  for (const char* const part :
       {"index out of range for model parameters: 7, the model has 2",
        "model configuration version 2 not supported, supported versions are: 1",
        "No mutable location to be deleted", "Unexpected artifact type, expects",
        "are to be in a remote file system", "the location is NULL",
        "repository agent 'relocating' gave something that is no repository agent's model"}) {
    CAPTURE(part);
    CHECK(log.find(part) != std::string::npos);
  }
  CHECK(log.find("no error") == std::string::npos);
}

TEST_CASE("a library that is no agent is refused") {
  PluginHost::Get();
  Errors errors;
  nrt_agent* agent = nullptr;
  CHECK(nrt_agent_open(View("keeper"), View(NEREID_KEEPER_PATH), &agent, errors.out()) ==
        NRD_FAILED_PRECONDITION);
  CHECK(errors.message().find("is no repository agent: expected TRITONREPOAGENT_ModelAction") !=
        std::string::npos);
}

}  // namespace nereid::test

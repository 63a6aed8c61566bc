/* A repository agent that does what its parameter "do" says, and writes into the log what it is
 * told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "triton/core/tritonrepoagent.h"

static TRITONSERVER_Error* wrong(const char* message) {
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INVALID_ARG, message);
}

static void say(const char* what, const char* more) {
  char line[512];
  snprintf(line, sizeof(line), "agent: %s%s", what, more);
  TRITONSERVER_ErrorDelete(TRITONSERVER_LogMessage(TRITONSERVER_LOG_INFO, "relocating.c", 1, line));
}

/* Says what the error says, and deletes it. */
static void tell(TRITONSERVER_Error* error) {
  say("", error == NULL ? "no error" : TRITONSERVER_ErrorMessage(error));
  TRITONSERVER_ErrorDelete(error);
}

static int is_to(TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
                 const char* what) {
  const char* name = NULL;
  const char* value = NULL;
  uint32_t count = 0;
  TRITONSERVER_ErrorDelete(TRITONREPOAGENT_ModelParameterCount(agent, model, &count));
  for (uint32_t i = 0; i < count; ++i) {
    TRITONSERVER_ErrorDelete(TRITONREPOAGENT_ModelParameter(agent, model, i, &name, &value));
    if (strcmp(name, "do") == 0 && strcmp(value, what) == 0) {
      return 1;
    }
  }
  return 0;
}

TRITONSERVER_Error* TRITONREPOAGENT_Initialize(TRITONREPOAGENT_Agent* agent) {
  uint32_t major = 9;
  uint32_t minor = 9;
  TRITONSERVER_Error* const error = TRITONREPOAGENT_ApiVersion(&major, &minor);
  say("initialised", "");
  return error != NULL || major != 0 || minor != 1 ? wrong("not version 0.1")
                                                   : TRITONREPOAGENT_SetState(agent, agent);
}

TRITONSERVER_Error* TRITONREPOAGENT_Finalize(TRITONREPOAGENT_Agent* agent) {
  void* state = NULL;
  TRITONSERVER_Error* const error = TRITONREPOAGENT_State(agent, &state);
  say("finalised", state == agent ? "" : " with a wrong state");
  return error;
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelInitialize(TRITONREPOAGENT_Agent* agent,
                                                    TRITONREPOAGENT_AgentModel* model) {
  if (is_to(agent, model, "refuse")) {
    return wrong("refused from the beginning");
  }
  return TRITONREPOAGENT_ModelSetState(model, malloc(1));
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelFinalize(TRITONREPOAGENT_Agent* agent,
                                                  TRITONREPOAGENT_AgentModel* model) {
  void* state = NULL;
  TRITONSERVER_Error* const error = TRITONREPOAGENT_ModelState(model, &state);
  free(state);
  say("model finalised", is_to(agent, model, "release") ? " and released" : "");
  if (is_to(agent, model, "release")) {
    const char* location = NULL;
    TRITONSERVER_ErrorDelete(TRITONREPOAGENT_ModelRepositoryLocationAcquire(
        agent, model, TRITONREPOAGENT_ARTIFACT_FILESYSTEM, &location));
    TRITONSERVER_ErrorDelete(
        TRITONREPOAGENT_ModelRepositoryLocationRelease(agent, model, location));
  }
  return error;
}

/* Puts a directory with one file in the place of the model's. */
static TRITONSERVER_Error* relocate(TRITONREPOAGENT_Agent* agent,
                                    TRITONREPOAGENT_AgentModel* model) {
  TRITONREPOAGENT_ArtifactType type = TRITONREPOAGENT_ARTIFACT_REMOTE_FILESYSTEM;
  const char* from = NULL;
  const char* to = NULL;
  char path[512];
  TRITONSERVER_Error* error = TRITONREPOAGENT_ModelRepositoryLocation(agent, model, &type, &from);
  if (error == NULL) {
    error = TRITONREPOAGENT_ModelRepositoryLocationAcquire(
        agent, model, TRITONREPOAGENT_ARTIFACT_FILESYSTEM, &to);
  }
  if (error != NULL) {
    return error;
  }
  snprintf(path, sizeof(path), "%s/origin", to);
  FILE* const file = fopen(path, "w");
  if (file == NULL) {
    return wrong("the acquired directory cannot be written to");
  }
  fputs(from, file);
  fclose(file);
  return TRITONREPOAGENT_ModelRepositoryUpdate(agent, model, type, to);
}

/* What must be refused, with the reason in the log. */
static void misuse(TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model) {
  const char* name = NULL;
  const char* value = NULL;
  TRITONSERVER_Message* message = NULL;
  tell(TRITONREPOAGENT_ModelParameter(agent, model, 7, &name, &value));
  tell(TRITONREPOAGENT_ModelConfig(agent, model, 2, &message));
  tell(TRITONREPOAGENT_ModelRepositoryLocationRelease(agent, model, "/"));
  tell(TRITONREPOAGENT_ModelRepositoryLocationAcquire(
      agent, model, TRITONREPOAGENT_ARTIFACT_REMOTE_FILESYSTEM, &name));
  tell(TRITONREPOAGENT_ModelRepositoryUpdate(agent, model,
                                             TRITONREPOAGENT_ARTIFACT_REMOTE_FILESYSTEM, "s3://"));
  tell(TRITONREPOAGENT_ModelRepositoryUpdate(agent, model, TRITONREPOAGENT_ARTIFACT_FILESYSTEM,
                                             NULL));
  tell(TRITONREPOAGENT_ModelSetState((TRITONREPOAGENT_AgentModel*)agent, agent));
}

static void say_config(TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model) {
  TRITONSERVER_Message* message = NULL;
  const char* json = NULL;
  size_t size = 0;
  TRITONSERVER_ErrorDelete(TRITONREPOAGENT_ModelConfig(agent, model, 1, &message));
  TRITONSERVER_ErrorDelete(TRITONSERVER_MessageSerializeToJson(message, &json, &size));
  say("config ", json);
  TRITONSERVER_ErrorDelete(TRITONSERVER_MessageDelete(message));
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelAction(TRITONREPOAGENT_Agent* agent,
                                                TRITONREPOAGENT_AgentModel* model,
                                                const TRITONREPOAGENT_ActionType action_type) {
  static const char* const names[] = {"LOAD", "LOAD_COMPLETE", "LOAD_FAIL", "UNLOAD",
                                      "UNLOAD_COMPLETE"};
  say("", names[action_type]);
  if (action_type != TRITONREPOAGENT_ACTION_LOAD) {
    if (is_to(agent, model, "move late")) {
      return TRITONREPOAGENT_ModelRepositoryUpdate(agent, model,
                                                   TRITONREPOAGENT_ARTIFACT_FILESYSTEM, "/late");
    }
    return is_to(agent, model, "fail later") ? wrong("too late to matter") : NULL;
  }
  if (is_to(agent, model, "misuse")) {
    misuse(agent, model);
  }
  if (is_to(agent, model, "say config")) {
    say_config(agent, model);
  }
  if (is_to(agent, model, "relocate") || is_to(agent, model, "release")) {
    return relocate(agent, model);
  }
  return is_to(agent, model, "fail") ? wrong("the files are not what they should be") : NULL;
}

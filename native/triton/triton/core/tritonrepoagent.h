/* Functions that Triton's repository agents use and offer: names, numbers and signatures as Triton
 * publishes them for version 0.1 of its agent interface. An agent is a shared library
 * libtritonrepoagent_NAME.so; it sees a model before it is loaded and may put other files in its
 * place.
 *
 * Functions return NULL or an error that the caller deletes (TRITONSERVER_ErrorDelete). Strings
 * that they give out belong to the server and live as long as the model. */
#ifndef NEREID_TRITON_CORE_TRITONREPOAGENT_H_
#define NEREID_TRITON_CORE_TRITONREPOAGENT_H_

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRITONREPOAGENT_API_VERSION_MAJOR 0
#define TRITONREPOAGENT_API_VERSION_MINOR 1

/* Agent: one for each library. AgentModel: one for each load of a model that names it. */
typedef struct TRITONREPOAGENT_Agent TRITONREPOAGENT_Agent;
typedef struct TRITONREPOAGENT_AgentModel TRITONREPOAGENT_AgentModel;

typedef enum TRITONREPOAGENT_artifacttype_enum {
  TRITONREPOAGENT_ARTIFACT_FILESYSTEM,
  TRITONREPOAGENT_ARTIFACT_REMOTE_FILESYSTEM
} TRITONREPOAGENT_ArtifactType;

/* A model sees LOAD, LOAD_COMPLETE, UNLOAD, UNLOAD_COMPLETE, or LOAD, LOAD_FAIL. */
typedef enum TRITONREPOAGENT_actiontype_enum {
  TRITONREPOAGENT_ACTION_LOAD,
  TRITONREPOAGENT_ACTION_LOAD_COMPLETE,
  TRITONREPOAGENT_ACTION_LOAD_FAIL,
  TRITONREPOAGENT_ACTION_UNLOAD,
  TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE
} TRITONREPOAGENT_ActionType;

/* ---- Offered by the server ------------------------------------------------------------------- */

TRITONSERVER_CALL TRITONREPOAGENT_ApiVersion(uint32_t* major, uint32_t* minor);

/* The directory of the model's files, for reading only. */
TRITONSERVER_CALL TRITONREPOAGENT_ModelRepositoryLocation(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ArtifactType* artifact_type, const char** location);

/* An empty directory for the agent to write to, the same until it is released. */
TRITONSERVER_CALL TRITONREPOAGENT_ModelRepositoryLocationAcquire(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    const TRITONREPOAGENT_ArtifactType artifact_type, const char** location);

/* Removes an acquired directory and its contents. */
TRITONSERVER_CALL TRITONREPOAGENT_ModelRepositoryLocationRelease(TRITONREPOAGENT_Agent* agent,
                                                                 TRITONREPOAGENT_AgentModel* model,
                                                                 const char* location);

/* The model's files are at `location` from here on. Allowed only while LOAD is handled. */
TRITONSERVER_CALL TRITONREPOAGENT_ModelRepositoryUpdate(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    const TRITONREPOAGENT_ArtifactType artifact_type, const char* location);

/* Parameters for this agent in the model's configuration. */
TRITONSERVER_CALL TRITONREPOAGENT_ModelParameterCount(TRITONREPOAGENT_Agent* agent,
                                                      TRITONREPOAGENT_AgentModel* model,
                                                      uint32_t* count);
TRITONSERVER_CALL TRITONREPOAGENT_ModelParameter(TRITONREPOAGENT_Agent* agent,
                                                 TRITONREPOAGENT_AgentModel* model,
                                                 const uint32_t index, const char** parameter_name,
                                                 const char** parameter_value);

/* The configuration in JSON; the caller deletes the message. config_version: 1. */
TRITONSERVER_CALL TRITONREPOAGENT_ModelConfig(TRITONREPOAGENT_Agent* agent,
                                              TRITONREPOAGENT_AgentModel* model,
                                              const uint32_t config_version,
                                              TRITONSERVER_Message** model_config);

/* The agent's own pointer, for a model and for the library. */
TRITONSERVER_CALL TRITONREPOAGENT_ModelState(TRITONREPOAGENT_AgentModel* model, void** state);
TRITONSERVER_CALL TRITONREPOAGENT_ModelSetState(TRITONREPOAGENT_AgentModel* model, void* state);
TRITONSERVER_CALL TRITONREPOAGENT_State(TRITONREPOAGENT_Agent* agent, void** state);
TRITONSERVER_CALL TRITONREPOAGENT_SetState(TRITONREPOAGENT_Agent* agent, void* state);

/* ---- Offered by the agent: ModelAction, the others where it wants --------------------------- */

TRITONSERVER_CALL TRITONREPOAGENT_Initialize(TRITONREPOAGENT_Agent* agent);
TRITONSERVER_CALL TRITONREPOAGENT_Finalize(TRITONREPOAGENT_Agent* agent);
TRITONSERVER_CALL TRITONREPOAGENT_ModelInitialize(TRITONREPOAGENT_Agent* agent,
                                                  TRITONREPOAGENT_AgentModel* model);
TRITONSERVER_CALL TRITONREPOAGENT_ModelFinalize(TRITONREPOAGENT_Agent* agent,
                                                TRITONREPOAGENT_AgentModel* model);

/* Called once at a time for each model, for several models concurrently. An error for LOAD fails
 * the load. */
TRITONSERVER_CALL TRITONREPOAGENT_ModelAction(TRITONREPOAGENT_Agent* agent,
                                              TRITONREPOAGENT_AgentModel* model,
                                              const TRITONREPOAGENT_ActionType action_type);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NEREID_TRITON_CORE_TRITONREPOAGENT_H_ */

/* The C ABI of libtritonserver.so towards Nereid's control plane. The library runs plug-ins that
 * were made for Triton: backends, caches and repository agents. Towards them it offers Triton's
 * functions (tritonserver.h); towards the control plane what is declared here.
 *
 * The rules of nereid.h hold here, too. The control plane loads libnereid.so first, then this
 * library, once, and only when some model needs a plug-in; it is never unloaded. */
#ifndef NEREID_TRITON_NEREID_TRITON_H_
#define NEREID_TRITON_NEREID_TRITON_H_

#include "nereid/nereid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a struct or a function's meaning changes. */
#define NRT_ABI_VERSION 3
NRD_API uint32_t nrt_abi_version(void);

/* Takes a text, which is valid during the call. */
typedef void (*nrt_take_fn)(void* taker, const char* text, uint64_t size);

/* ---- What the control plane does for plug-ins ------------------------------------------------ */

/* A model that a plug-in finds by name. */
typedef struct nrt_found_model {
  nrd_model* model; /* loaded at least until model_release */
  uint64_t pin;     /* for model_release */
  int64_t version;
  int32_t decoupled;
  uint32_t reserved;
} nrt_found_model;
NRD_ASSERT_SIZE(nrt_found_model, 32);

/* JSON documents, as in the answers of Triton's HTTP endpoints. */
enum {
  NRT_SERVER_METADATA = 0,
  NRT_MODEL_METADATA = 1,
  NRT_MODEL_CONFIG = 2,
  NRT_MODEL_STATISTICS = 3, /* of all models, when the name is empty */
  NRT_REPOSITORY_INDEX = 4,
  NRT_READY_INDEX = 5 /* ready models only */
};

/* An event that a backend reports for a request with NRD_REQUEST_TRACED, or that happens to an
 * inference that the backend started for it. */
typedef struct nrt_activity {
  uint64_t tag;    /* the request's */
  uint64_t trace;  /* 0: of the request itself; else the number of that inference */
  uint64_t parent; /* of an inference: the one that began it, 0: the request itself */
  int64_t time_ns;
  int64_t version; /* of the inference's model */
  nrd_string model;
  nrd_string request_id;
  nrd_string name; /* Triton's name of the activity, or the backend's own */
  nrd_string tensor_name;
  const nrd_tensor* tensor; /* as it is at this moment; NULL: it is about no tensor */
} nrt_activity;
NRD_ASSERT_SIZE(nrt_activity, 112);

/* Callbacks, on any thread from which a plug-in calls. A status other than NRD_OK comes with a
 * message in error_out, which is never NULL here. version -1: the version for clients that name
 * none. */
typedef struct nrt_host {
  uint32_t struct_size;
  uint32_t flags; /* NRT_HOST_* */
  void* context;
  nrd_runtime* runtime;
  /* level is as in nrd_log_fn. Never called for a level that is off (nrt_set_log_level). */
  void (*log)(void* context, int32_t level, nrd_string file, uint32_t line, nrd_string message);
  /* NRD_NOT_FOUND, NRD_UNAVAILABLE. `sequence`: the request's sequence, which chooses between two
   * loads of a model; "" and 0: none. */
  int32_t (*model_acquire)(void* context, nrd_string name, int64_t version, uint64_t sequence_id,
                           nrd_string sequence_name, uint32_t request_flags,
                           nrt_found_model* found_out, nrd_error* error_out);
  void (*model_release)(void* context, uint64_t pin);
  int32_t (*model_ready)(void* context, nrd_string name, int64_t version, int32_t* ready_out,
                         nrd_error* error_out);
  /* Return after completion. `values`: "config" and "file:<path>", as in the load endpoint. */
  int32_t (*model_load)(void* context, nrd_string name, const nrd_value* values, uint32_t count,
                        nrd_error* error_out);
  int32_t (*model_unload)(void* context, nrd_string name, int32_t with_dependents,
                          nrd_error* error_out);
  int32_t (*document)(void* context, int32_t kind, nrd_string name, int64_t version, void* taker,
                      nrt_take_fn take, nrd_error* error_out);
  int32_t (*server_live)(void* context);
  int32_t (*server_ready)(void* context);
  /* A backend completed its model's configuration (JSON). `load` is the option "nereid.load".
   * Called only while nrd_source_open runs; the backend gets the error message. */
  int32_t (*config_completed)(void* context, uint64_t load, nrd_string json, nrd_error* error_out);
  /* Not called after the request's end, even if inferences that its backend started end later. */
  void (*trace_activity)(void* context, const nrt_activity* activity);
  /* Memory of a device; NULL if there is none. */
  int32_t (*device_allocate)(void* context, int32_t device, uint64_t byte_size, void** memory_out,
                             nrd_error* error_out);
  void (*device_free)(void* context, int32_t device, void* memory);
} nrt_host;
NRD_ASSERT_SIZE(nrt_host, 128);

enum {
  /* Handles are looked up before each use, so that a closed or wrong one gives an error with the
   * plug-in's name. Otherwise a mark in them is checked. */
  NRT_HOST_CHECKED = 1u
};

/* The first call to make. It copies the struct behind `host`; the context and the runtime outlive
 * all plug-ins. Another host may follow when all plug-ins are closed. */
NRD_API int32_t nrt_start(const nrt_host* host, nrd_error* error_out);

/* The least important level that is logged, as in nrd_log_fn; 2 at first. `verbosity` is Triton's
 * verbose level within level 3. */
NRD_API void nrt_set_log_level(int32_t level, int32_t verbosity);

/* ---- Backends -------------------------------------------------------------------------------- */

typedef struct nrt_backend nrt_backend;

/* Defaults of a backend for models that do not set them. */
typedef struct nrt_backend_info {
  uint32_t struct_size;
  uint32_t parallel_instance_loading; /* 1: instances of a model may be opened at the same time */
  uint32_t preferred_group_count;
  uint32_t reserved;
  /* The preferred instance groups: kind as in Triton (0 AUTO, 1 CPU, 2 GPU, 3 MODEL), count. */
  int32_t preferred_kind[8];
  int64_t preferred_instances[8];
} nrt_backend_info;
NRD_ASSERT_SIZE(nrt_backend_info, 112);

/* Loads the shared library and initialises the backend. NRD_FAILED_PRECONDITION names all the
 * functions that it needs and that are nowhere, before any of its code has run. `config`: the
 * settings of --backend-config for it and for all, keys as in Triton ("cmdline" object).
 *
 * The table in backend_out is given to nrd_source_open and nrd_model_load, with these parameters
 * among the options' (the model's own parameters are inside of the configuration):
 *   nereid.load         a number that config_completed names
 *   nereid.config       the configuration, JSON as GET …/config answers it
 *   nereid.directory    the model's directory, which has the versions' directories
 *   nereid.auto_complete 1: the backend may complete the configuration
 *   nereid.instances    JSON: [{"name": "m_0_0", "kind": "KIND_CPU", "device": 0, "host_policy":
 *                       "cpu", "profiles": [], "passive": false, "secondary_devices":
 *                       [{"kind": "…", "device": 0}]}], one for each instance, and
 *                       behind them one for each that is passive and gets no requests
 *   nereid.host_policies JSON: {"cpu": {"numa-node": "0"}}
 * nrd_source_open may be called before the instances are known. */
NRD_API int32_t nrt_backend_open(nrd_string name, nrd_string directory, nrd_string library,
                                 const nrd_parameter* config, uint32_t config_count,
                                 nrt_backend** backend_out, nrd_error* error_out);
NRD_API void nrt_backend_table(nrt_backend* backend, nrd_backend* table_out);
NRD_API void nrt_backend_info_read(nrt_backend* backend, nrt_backend_info* info_out);
/* Call it after all of its models are closed. Waits this long for inferences that the backend
 * began; its library stays loaded if some do not end. */
NRD_API void nrt_backend_close(nrt_backend* backend, uint64_t patience_ns);

/* Asks the instances of a model (nereid.load) whether they are ready (ModelInstanceReady). NRD_OK,
 * also for backends without that function, or the status of the first that is not ready. */
NRD_API int32_t nrt_model_ready(uint64_t load, nrd_error* error_out);

/* Sets the configuration that a backend sees from here on, with all fields and defaults. Called
 * within config_completed, which knows the fields that the backend left open. */
NRD_API int32_t nrt_model_configure(uint64_t load, nrd_string config, nrd_error* error_out);

/* The backend's batching functions (ModelBatch…) for the `batcher` of nrd_model_options: by
 * nereid.load, after nrd_source_open. NRD_NOT_FOUND: none. */
NRD_API int32_t nrt_model_batcher(uint64_t load, nrd_batcher* batcher_out, nrd_error* error_out);

/* For a model whose drain ended with NRD_DEADLINE_EXCEEDED: fails the requests that its backend
 * holds (NRD_UNAVAILABLE), so that nrd_model_release does not wait for them; requests of a running
 * Execute fail when it returns. Later batches fail at once. The backend's handles are logged and
 * stay allocated. */
NRD_API void nrt_model_give_up(uint64_t load);

/* ---- Caches ---------------------------------------------------------------------------------- */

typedef struct nrt_cache nrt_cache;

/* `config`: the cache's settings from --cache-config, as JSON. The table in `cache_out` is for
 * nrd_runtime_use_cache. */
NRD_API int32_t nrt_cache_open(nrd_string name, nrd_string library, nrd_string config,
                               nrt_cache** cache_out, nrd_cache* table_out, nrd_error* error_out);
NRD_API void nrt_cache_close(nrt_cache* cache);

/* ---- Repository agents ----------------------------------------------------------------------- */

typedef struct nrt_agent nrt_agent;
typedef struct nrt_agent_model nrt_agent_model;

enum {
  NRT_AGENT_LOAD = 0,
  NRT_AGENT_LOAD_COMPLETE = 1,
  NRT_AGENT_LOAD_FAIL = 2,
  NRT_AGENT_UNLOAD = 3,
  NRT_AGENT_UNLOAD_COMPLETE = 4
};

NRD_API int32_t nrt_agent_open(nrd_string name, nrd_string library, nrt_agent** agent_out,
                               nrd_error* error_out);
NRD_API void nrt_agent_close(nrt_agent* agent);

/* Opens one agent of a model's chain: `location` is the model's directory as the previous agent
 * left it. `parameters` come from model_repository_agents. */
NRD_API int32_t nrt_agent_model_open(nrt_agent* agent, nrd_string model, nrd_string config,
                                     nrd_string location, const nrd_parameter* parameters,
                                     uint32_t parameter_count, nrt_agent_model** model_out,
                                     nrd_error* error_out);
/* Tells the agent what happens to the model. NRT_AGENT_LOAD may change the location. */
NRD_API int32_t nrt_agent_model_act(nrt_agent_model* model, int32_t action, nrd_error* error_out);
NRD_API void nrt_agent_model_location(nrt_agent_model* model, void* taker, nrt_take_fn take);
/* Removes a location that the agent acquired from the server and did not release. */
NRD_API void nrt_agent_model_close(nrt_agent_model* model);

/* ---- Figures --------------------------------------------------------------------------------- */

/* The metrics that plug-ins made, in the text format of Prometheus. */
NRD_API void nrt_metrics_write(void* taker, nrt_take_fn take);

/* Triton handles that plug-ins hold, by kind: a line each, "3 requests of backend 'python'". Empty
 * if there are none. */
NRD_API void nrt_handles_write(void* taker, nrt_take_fn take);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NEREID_TRITON_NEREID_TRITON_H_ */

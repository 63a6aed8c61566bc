/* The C ABI of Nereid's core: the one door between the control plane and the data plane.
 *
 * Rules that hold for every function here, so that they are not repeated below:
 *  - A function that can fail returns a status (NRD_OK or a canonical gRPC number) and, when it is
 *    not NRD_OK, writes the message into the caller's nrd_error. `error_out` may be NULL.
 *  - Strings are pointer + length, UTF-8, not terminated; the core copies what it keeps.
 *  - Structs that a caller fills start with `struct_size`, which must be sizeof the struct.
 *  - Functions may be called from any thread at any time unless they say otherwise.
 *  - Times are nanoseconds. Absolute times are CLOCK_MONOTONIC, which is what System.nanoTime()
 *    reads on Linux.
 *  - No C++ exception leaves the library, and no exception may leave a callback. */
#ifndef NEREID_NEREID_H_
#define NEREID_NEREID_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define NRD_ASSERT_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type " changed size")
#else
#define NRD_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " changed size")
#endif

#if defined(__GNUC__)
#define NRD_API __attribute__((visibility("default")))
#else
#define NRD_API
#endif

/* Raised when a struct or a function's meaning changes. */
#define NRD_ABI_VERSION 9

#define NRD_MAX_RANK 8

/* ---- Status ---------------------------------------------------------------------------------- */

enum {
  NRD_PENDING = -1, /* not an error: the request was queued, its completion follows */
  NRD_OK = 0,
  NRD_CANCELLED = 1,
  NRD_UNKNOWN = 2,
  NRD_INVALID_ARGUMENT = 3,
  NRD_DEADLINE_EXCEEDED = 4,
  NRD_NOT_FOUND = 5,
  NRD_ALREADY_EXISTS = 6,
  NRD_PERMISSION_DENIED = 7,
  NRD_RESOURCE_EXHAUSTED = 8,
  NRD_FAILED_PRECONDITION = 9,
  NRD_UNIMPLEMENTED = 12,
  NRD_INTERNAL = 13,
  NRD_UNAVAILABLE = 14
};

/* Owned by the caller. A longer message is cut at a UTF-8 boundary. */
typedef struct nrd_error {
  uint32_t struct_size;
  int32_t code;
  uint32_t message_size; /* bytes used in `message` */
  uint32_t reserved;
  char message[1008];
} nrd_error;
NRD_ASSERT_SIZE(nrd_error, 1024);

typedef struct nrd_string {
  const char* data;
  uint64_t size;
} nrd_string;
NRD_ASSERT_SIZE(nrd_string, 16);

enum { NRD_VALUE_STRING = 0, NRD_VALUE_INT = 1, NRD_VALUE_BOOL = 2, NRD_VALUE_DOUBLE = 3 };

/* A named value that travels with a request to its backend, or with a response to the caller. The
 * core does not look into it. */
typedef struct nrd_value {
  nrd_string name;
  nrd_string text; /* of a string */
  int64_t number;  /* of an integer; of a truth value: 0 or 1 */
  double real;     /* of a double */
  int32_t kind;    /* NRD_VALUE_* */
  uint32_t reserved;
} nrd_value;
NRD_ASSERT_SIZE(nrd_value, 56);

/* ---- Library --------------------------------------------------------------------------------- */

/* Returns NRD_ABI_VERSION of the loaded library. */
NRD_API uint32_t nrd_abi_version(void);

/* The library's own sizeof each struct, for a binding that declares them by hand; 0 for an unknown
 * id. Ids: the NRD_STRUCT_* below. */
enum {
  NRD_STRUCT_ERROR = 0,
  NRD_STRUCT_TENSOR = 1,
  NRD_STRUCT_REQUEST = 2,
  NRD_STRUCT_BATCH = 3,
  NRD_STRUCT_BACKEND = 4,
  NRD_STRUCT_TENSOR_SPEC = 5,
  NRD_STRUCT_QUEUE_POLICY = 6,
  NRD_STRUCT_PARAMETER = 7,
  NRD_STRUCT_MODEL_OPTIONS = 8,
  NRD_STRUCT_RUNTIME_OPTIONS = 9,
  NRD_STRUCT_POOL_STATS = 10,
  NRD_STRUCT_CACHE_STATS = 11,
  NRD_STRUCT_MODEL_STATS = 12,
  NRD_STRUCT_BATCH_STATS = 13,
  NRD_STRUCT_HANDLE_COUNTS = 14,
  NRD_STRUCT_STRING = 15,
  NRD_STRUCT_LINK = 16,
  NRD_STRUCT_STEP = 17,
  NRD_STRUCT_MEMORY_STATS = 18,
  NRD_STRUCT_CONTROL = 19,
  NRD_STRUCT_STATE = 20,
  NRD_STRUCT_SEQUENCE_OPTIONS = 21,
  NRD_STRUCT_COMBINED_INPUT = 22,
  NRD_STRUCT_SCATTERED_OUTPUT = 23,
  NRD_STRUCT_RESOURCE = 24,
  NRD_STRUCT_INSTANCE_OPTIONS = 25,
  NRD_STRUCT_BATCHER = 26,
  NRD_STRUCT_SEQUENCE_STATS = 27,
  NRD_STRUCT_RESOURCE_STATS = 28,
  NRD_STRUCT_INSTANCE_STATS = 29,
  NRD_STRUCT_VALUE = 30,
  NRD_STRUCT_RECEIVER = 31,
  NRD_STRUCT_CACHE = 32,
  NRD_STRUCT_COST_POINT = 33,
  NRD_STRUCT_OBJECTIVE = 34,
  NRD_STRUCT_OBJECTIVE_STATS = 35,
  NRD_STRUCT_ISOLATION_STATS = 36
};
NRD_API uint32_t nrd_abi_struct_size(uint32_t struct_id);

/* The core's clock: CLOCK_MONOTONIC. */
NRD_API int64_t nrd_clock_now_ns(void);

/* Handles that are alive in this process. All zero after everything was released. */
typedef struct nrd_handle_counts {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t runtimes;
  uint64_t models;   /* and sources that belong to no model */
  uint64_t requests; /* records acquired and not released */
} nrd_handle_counts;
NRD_ASSERT_SIZE(nrd_handle_counts, 32);
NRD_API void nrd_handle_counts_read(nrd_handle_counts* counts_out);

/* ---- Tensors --------------------------------------------------------------------------------- */

enum {
  NRD_TYPE_INVALID = 0,
  NRD_TYPE_BOOL = 1,
  NRD_TYPE_UINT8 = 2,
  NRD_TYPE_UINT16 = 3,
  NRD_TYPE_UINT32 = 4,
  NRD_TYPE_UINT64 = 5,
  NRD_TYPE_INT8 = 6,
  NRD_TYPE_INT16 = 7,
  NRD_TYPE_INT32 = 8,
  NRD_TYPE_INT64 = 9,
  NRD_TYPE_FP16 = 10,
  NRD_TYPE_FP32 = 11,
  NRD_TYPE_FP64 = 12,
  NRD_TYPE_BYTES = 13, /* elements one after another, each: uint32 little-endian length, bytes */
  NRD_TYPE_BF16 = 14
};

/* `slab` is the buffer (see nrd_buffer_alloc) that the tensor holds one reference to, or NULL when
 * `data` is memory of the caller's that stays valid until the request completes. `data` may point
 * anywhere inside its slab: responses of one batch share the batch's slab. */
typedef struct nrd_tensor {
  void* data; /* NULL: absent (an optional input, an output nobody asked for) */
  uint64_t byte_size;
  void* slab;
  int32_t datatype;
  uint32_t rank;
  uint32_t flags;  /* NRD_TENSOR_* */
  uint32_t device; /* its number, with NRD_TENSOR_DEVICE */
  int64_t shape[NRD_MAX_RANK];
} nrd_tensor;
NRD_ASSERT_SIZE(nrd_tensor, 104);

enum {
  /* On a request's input: the caller gives it. On a request's output: the caller wants it. A
   * request whose outputs all lack the flag wants all of them. On a batch's output: some request
   * wants it. */
  NRD_TENSOR_SELECTED = 1u,
  /* On a request's input: `data` is an address in the memory of a device, which only a backend with
   * NRD_BACKEND_DEVICE_TENSORS can read. The memory is the caller's, so there is no slab; not for
   * BYTES. On a request's output, with NRD_TENSOR_SELECTED: the caller wants it in the memory of
   * `device`. Until the backend makes the output, `shape`, which is not known yet, contains the
   * address and the number of bytes that may be written there; afterwards `data` is that address.
   * Set anew for each submit; not for BYTES, nor for decoupled models. A request with such a tensor
   * does not use the response cache. */
  NRD_TENSOR_DEVICE = 2u
};

/* Places in the `shape` of an output that is wanted in the memory of a device. */
enum { NRD_TARGET_ADDRESS = 0, NRD_TARGET_BYTES = 1 };

/* ---- Runtime --------------------------------------------------------------------------------- */

typedef struct nrd_runtime nrd_runtime;
typedef struct nrd_model nrd_model;

/* Memory for the pinned pool, asked for in chunks of `pool_chunk_bytes` or more (the last one below
 * the limit may be smaller), aligned to at least 4096, and given back only by nrd_runtime_release.
 * allocate returns NULL if there is no memory. */
typedef void* (*nrd_allocate_fn)(void* context, uint64_t byte_size);
typedef void (*nrd_deallocate_fn)(void* context, void* memory, uint64_t byte_size);

/* Called when requests for which submit returned NRD_PENDING are complete; `tags`, valid during the
 * call, name them. Called on an instance thread, on the timer thread, on the thread that cancels,
 * drains or releases, on a backend's thread that finishes a batch (nrd_batch_finish), or on one
 * that is about to return NRD_PENDING from submit; never while the core holds a lock. The record is
 * the caller's again before the call: it may be reset, released or submitted again from inside it,
 * and others may be acquired, submitted and cancelled. A request that is submitted there is never
 * executed there (it is queued) unless the cache has its answer. Other answers wait until the call
 * returns, the timer's for all models, so it must not block. */
typedef void (*nrd_complete_fn)(void* context, const uint64_t* tags, uint32_t count);

/* Called with a response of a decoupled model's request that does not complete it. `outputs` has
 * the model's outputs; the callee takes a buffer over by clearing its `slab`, the others are
 * dropped on return. Called from nrd_batch_request_respond on the thread that calls that, in the
 * order of the responses; blocking it is how a slow reader slows the model down.
 *
 * For an error as response (nrd_batch_request_respond_error) the count is 0 and `outputs` is not
 * NULL; during the call the record's `status` is the error's code, and `error` has its message.
 *
 * A response of an ensemble comes on the thread that ends its last step, which must not be blocked.
 * Therefore this is also called with NULL and 0 in place of outputs, on the thread of the decoupled
 * step's backend, before each response enters the steps behind: such a call is no response, and
 * only blocks while the reader is behind. */
typedef void (*nrd_respond_fn)(void* context, uint64_t tag, nrd_tensor* outputs,
                               uint32_t output_count);

/* level: 0 error, 1 warning, 2 info, 3 verbose. */
typedef void (*nrd_log_fn)(void* context, int32_t level, const char* message, uint64_t size);

/* Flags of nrd_runtime_options. */
enum {
  /* Keeps the histograms NRD_HISTOGRAM_COMPUTE_INPUT to _CACHE_MISS, which costs each request a few
   * counters more. */
  NRD_RUNTIME_STAGE_HISTOGRAMS = 1,
  /* Overwrites buffers with NRD_POISON_BYTE when they are given back, so that reading one later
   * shows. Costs the writing. */
  NRD_RUNTIME_POISON_FREED = 2
};
#define NRD_POISON_BYTE 0xDB

typedef struct nrd_runtime_options {
  uint32_t struct_size;
  uint32_t flags;            /* NRD_RUNTIME_* */
  uint64_t pool_byte_limit;  /* cap on pool memory; 0: 4 GiB */
  uint64_t pool_chunk_bytes; /* smallest unit asked from the allocator; 0: 8 MiB */
  uint64_t cache_byte_limit; /* response cache; 0: no cache */
  void* allocator_context;
  nrd_allocate_fn allocate; /* NULL: anonymous memory, huge pages where the system gives them */
  nrd_deallocate_fn deallocate;
  void* complete_context;
  nrd_complete_fn complete; /* NULL: use nrd_request_wait */
  void* respond_context;
  nrd_respond_fn respond; /* NULL: decoupled models are refused */
  void* log_context;
  nrd_log_fn log; /* NULL: nothing is logged */
} nrd_runtime_options;
NRD_ASSERT_SIZE(nrd_runtime_options, 104);

NRD_API int32_t nrd_runtime_create(const nrd_runtime_options* options, nrd_runtime** runtime_out,
                                   nrd_error* error_out);

/* Releases a runtime. All models and sources must have been released, all requests and buffers
 * given back: otherwise NRD_FAILED_PRECONDITION names the rest, and nothing happens. A
 * nrd_buffer_release on another thread must have returned. */
NRD_API int32_t nrd_runtime_release(nrd_runtime* runtime, nrd_error* error_out);

typedef struct nrd_pool_stats {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t byte_limit;
  uint64_t reserved_bytes;   /* taken from the allocator */
  uint64_t live_bytes;       /* handed out, rounded up to size classes */
  uint64_t high_water_bytes; /* largest live_bytes seen */
  uint64_t live_buffers;
  uint64_t allocations;
  uint64_t failures;     /* refused because of the cap or the allocator */
  uint64_t locked_bytes; /* of reserved_bytes, those that nrd_lock_pages_fn took */
} nrd_pool_stats;
NRD_ASSERT_SIZE(nrd_pool_stats, 72);
NRD_API void nrd_runtime_pool_stats(nrd_runtime* runtime, nrd_pool_stats* stats_out);

/* Keeps memory where it is, for a device that reads and writes it without the processor. 0:
 * success; other values: failure, and the memory is used nevertheless. */
typedef int32_t (*nrd_lock_pages_fn)(void* context, void* memory, uint64_t byte_size);
typedef void (*nrd_unlock_pages_fn)(void* context, void* memory, uint64_t byte_size);

/* Calls `lock_pages` for all memory of the pool: the present memory during this call, and later
 * memory on the thread for which the pool grows. nrd_runtime_release calls `unlock_pages` once for
 * all memory that was locked. Both are called while the pool is locked, so they must call no
 * function of this header. NRD_FAILED_PRECONDITION: the runtime has such functions already. */
NRD_API int32_t nrd_runtime_lock_pages(nrd_runtime* runtime, void* context,
                                       nrd_lock_pages_fn lock_pages,
                                       nrd_unlock_pages_fn unlock_pages, nrd_error* error_out);

/* Sets how much of each resource there is, for the executions of all models together. An instance
 * that needs some (nrd_instance_options) executes only while it holds them. An entry with device -1
 * applies to each device, and to resources that all devices share. The amount of a resource that is
 * not named is the largest need of an instance. Called once, before models are loaded;
 * NRD_FAILED_PRECONDITION afterwards. */
struct nrd_resource;
NRD_API int32_t nrd_runtime_limit(nrd_runtime* runtime, const struct nrd_resource* resources,
                                  uint32_t count, nrd_error* error_out);

/* A resource that some instance needs. */
typedef struct nrd_resource_stats {
  nrd_string name; /* valid as long as the runtime */
  int32_t device;  /* -1: one for all devices */
  uint32_t total;
  uint32_t free;
  uint32_t waiting; /* instances that need it and wait */
} nrd_resource_stats;
NRD_ASSERT_SIZE(nrd_resource_stats, 32);

/* Writes at most `capacity`; count_out is how many there are. */
NRD_API void nrd_runtime_resource_stats_read(nrd_runtime* runtime, nrd_resource_stats* stats_out,
                                             uint32_t capacity, uint32_t* count_out);

typedef struct nrd_cache_stats {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t byte_limit;
  uint64_t bytes;
  uint64_t entries;
  uint64_t hits;
  uint64_t misses;
  uint64_t evictions;
} nrd_cache_stats;
NRD_ASSERT_SIZE(nrd_cache_stats, 56);
NRD_API void nrd_runtime_cache_stats(nrd_runtime* runtime, nrd_cache_stats* stats_out);

/* Keeps responses in place of the runtime's own cache. Any thread may call it; it may block. A key
 * is a text of printable characters that identifies the model, its version and the request. */
typedef struct nrd_cache {
  void* context;
  /* Passes the entry under the key to `take`, once, which copies it and returns whether it could.
   * NRD_NOT_FOUND: there is no entry. */
  int32_t (*lookup)(void* context, nrd_string key, void* taker,
                    int32_t (*take)(void* taker, const void* data, uint64_t byte_size));
  /* Stores `byte_size` bytes, which `give` writes into memory of the cache's, once. */
  int32_t (*insert)(void* context, nrd_string key, uint64_t byte_size, void* giver,
                    void (*give)(void* giver, void* data));
} nrd_cache;
NRD_ASSERT_SIZE(nrd_cache, 24);

/* Called once, before models are loaded; NRD_FAILED_PRECONDITION later, or for a runtime with a
 * cache_byte_limit. The cache outlives the runtime. A failure of the cache counts as a miss.
 * Entries are not removed with the model: the version, which the caller may extend, must
 * distinguish them. nrd_cache_stats has only hits and misses of the cache. */
NRD_API int32_t nrd_runtime_use_cache(nrd_runtime* runtime, const nrd_cache* cache,
                                      nrd_error* error_out);

/* Allocates a buffer from the pinned pool, aligned to 64 bytes, with one reference. Its address is
 * its handle. byte_size 0 gives a valid buffer. NRD_RESOURCE_EXHAUSTED when the cap is reached. The
 * memory stays mapped until nrd_runtime_release, so reading a freed buffer gives stale bytes, never
 * a fault. */
NRD_API int32_t nrd_buffer_alloc(nrd_runtime* runtime, uint64_t byte_size, void** buffer_out,
                                 nrd_error* error_out);
NRD_API void nrd_buffer_retain(void* buffer);
NRD_API void nrd_buffer_release(void* buffer);

/* ---- Requests -------------------------------------------------------------------------------- */

enum {
  /* Do not run on the submitting thread, even when the model would allow it. */
  NRD_REQUEST_NO_INLINE = 1u,
  /* Neither look into the response cache nor store into it. */
  NRD_REQUEST_NO_CACHE = 2u,
  /* The first and the last request of its sequence; one can be both. */
  NRD_REQUEST_SEQUENCE_START = 4u,
  NRD_REQUEST_SEQUENCE_END = 8u,
  /* The request is traced; for backends that report activities. */
  NRD_REQUEST_TRACED = 16u
};

/* Longest name of a sequence, in bytes. */
#define NRD_MAX_SEQUENCE_NAME 128u

/* A record from nrd_request_acquire. It belongs to the caller, except between a submit that
 * returned NRD_PENDING and the completion, when only nrd_request_cancel may touch it. The core
 * allocates `inputs` and `outputs` with the record, and they stay in place while it is held; entry
 * i belongs to the model's input or output i. To pass on a buffer of the same runtime, retain it
 * and set `data` and `slab` of an input; the request then owns that reference. */
typedef struct nrd_request {
  uint32_t struct_size; /* set by the core */
  uint32_t flags;       /* NRD_REQUEST_*, by the caller */
  uint64_t tag;         /* the caller's; given to the completion callback */
  int64_t deadline_ns;  /* absolute; 0 or less: none. Past it, one that has not started fails */
  uint64_t timeout_ns;  /* longest time in the queue (policy applies); 0: the model's default */
  uint32_t priority;    /* 0 or out of range: the model's default level; 1 is the most urgent */
  uint32_t input_count; /* set by the core */
  uint32_t output_count;
  uint32_t first_row; /* set by the core before execute: where its rows begin in the batch's */
  nrd_tensor* inputs;
  nrd_tensor* outputs;
  nrd_error* error; /* message of a status that is not NRD_OK; lives in the record */
  /* The sequence that the request belongs to: the name if not empty, else the number; 0 and "":
   * none. The caller's name must be valid until submit returns. While the request executes, this
   * refers to the core's copy. */
  uint64_t sequence_id;
  nrd_string sequence_name;
  /* Answers of the core, valid after completion. */
  int32_t status;
  uint32_t ran_inline;          /* 1: executed on the submitting thread */
  uint32_t executed_batch_size; /* rows of the batch it ran in; 0: it never ran */
  uint32_t cache_hit;
  uint64_t queue_ns;
  uint64_t compute_input_ns;
  uint64_t compute_infer_ns;
  uint64_t compute_output_ns;
  /* For the backend: the caller's name of the request and values that came with it. The core copies
   * neither, so both must be valid until completion. */
  nrd_string id;
  const nrd_value* values;
  /* Values that the backend sends with the response, besides its outputs (nrd_batch_request_value).
   * The core owns them; they are valid after completion until the next reset or submit; for other
   * responses of a decoupled model, during nrd_respond_fn. */
  const nrd_value* response_values;
  uint32_t value_count;
  uint32_t response_value_count;
} nrd_request;
NRD_ASSERT_SIZE(nrd_request, 184);

/* A cleared record of the model; the core keeps released ones for the next caller. Must not overlap
 * with nrd_model_release. A record that is held keeps the model's memory (not its backend) alive.
 * The descriptions of tensors (datatype, rank, shape, byte_size) keep their values from the last
 * use. */
NRD_API int32_t nrd_request_acquire(nrd_model* model, nrd_request** request_out,
                                    nrd_error* error_out);

/* Drops the references to input and output buffers and clears the record for another use. Not
 * allowed between NRD_PENDING and completion. */
NRD_API void nrd_request_reset(nrd_request* request);

/* Resets the record and gives it back to the core. */
NRD_API void nrd_request_release(nrd_request* request);

/* Tells the core that the answer has left for the client, `took_ns` after the request came: the
 * model's objective learns the time spent outside the core, and keeps it free. Called after
 * completion and before reset; without an objective it does nothing. */
NRD_API void nrd_request_sent(const nrd_request* request, uint64_t took_ns);

/* Drops only the inputs' (outputs') buffers. The two may run at once on different threads. */
NRD_API void nrd_request_drop_inputs(nrd_request* request);
NRD_API void nrd_request_drop_outputs(nrd_request* request);

/* Gives input `index` a buffer of its `byte_size` (set by the caller, as are datatype, rank and
 * shape) and sets data, slab and NRD_TENSOR_SELECTED. A buffer that it held is released. */
NRD_API int32_t nrd_request_input_alloc(nrd_request* request, uint32_t index);

/* Gets a request's answers in place of the runtime's callbacks, by the same rules: `complete` if
 * submit returned NRD_PENDING, `respond` for each response of a decoupled model except the one that
 * completes it (also NULL in place of outputs: see nrd_respond_fn). */
typedef struct nrd_receiver {
  void* context;
  void (*complete)(void* context, nrd_request* request);
  void (*respond)(void* context, nrd_request* request, nrd_tensor* outputs, uint32_t output_count);
} nrd_receiver;
NRD_ASSERT_SIZE(nrd_receiver, 24);

/* Sets the receiver, before submit. It must outlive the request's use; nrd_request_reset forgets
 * it. */
NRD_API void nrd_request_receive(nrd_request* request, const nrd_receiver* receiver);

/* Validates the request and runs it: on this thread if the model is idle and allows that, otherwise
 * through the queue. Returns request->status: NRD_OK with outputs in place; an error; or
 * NRD_PENDING. The completion callback is called for NRD_PENDING only. NRD_FAILED_PRECONDITION,
 * without any effect: the record is in flight.
 *
 * A backend may submit to other models from execute and wait for the answer. Waiting there for the
 * backend's own model ends only when another of its instances is free. */
NRD_API int32_t nrd_request_submit(nrd_request* request);

/* Executes the request once on every instance of its model, one after another, on the instance's
 * own thread, and waits, so that the costs of a first request (memory, plans, graphs) are paid.
 * Neither batched, cached nor counted in statistics; the outputs are dropped. Returns
 * request->status. Only while the model has no other requests, and not for ensembles. */
NRD_API int32_t nrd_request_warm_up(nrd_request* request);

/* NRD_OK: the request had not started, it never will, and its completion (NRD_CANCELLED) has been
 * delivered, or will come from submit if it was not submitted yet (as NRD_CANCELLED, or as another
 * failure of the request). NRD_FAILED_PRECONDITION: it is executing or done; an executing backend
 * can see the mark, and one that is about to be executed may still be answered NRD_CANCELLED. May
 * race with submit, completion and nrd_model_release; the caller only keeps the record from being
 * reset or released meanwhile. The mark stays until nrd_request_reset. */
NRD_API int32_t nrd_request_cancel(nrd_request* request);

/* 1 if cancel was called on a request that is executing; for backends that can stop early. */
NRD_API int32_t nrd_request_is_cancelled(const nrd_request* request);

/* Waits for the completion; only for runtimes without a completion callback, and for a record that
 * was submitted. NRD_DEADLINE_EXCEEDED when it did not come before deadline_ns (0: wait without
 * end); the request goes on in that case. */
NRD_API int32_t nrd_request_wait(nrd_request* request, int64_t deadline_ns);

/* ---- Backends -------------------------------------------------------------------------------- */

/* The requests that a backend executes together. The tensors are valid until execute returns, or
 * until nrd_batch_finish if the backend keeps the batch. */
typedef struct nrd_batch {
  uint32_t struct_size;
  uint32_t request_count;
  int64_t batch_size; /* rows of all requests together; 0 for models without a batch dimension */
  uint32_t input_count;
  uint32_t output_count;
  /* Inputs of the whole batch, by position in the model's configuration. An optional input that no
   * request gives lacks the flag. NULL for backends with NRD_BACKEND_GATHERS, unless the model has
   * hidden or ragged inputs or sequences: then the core gathers for them, too. */
  const nrd_tensor* inputs; /* given ones have NRD_TENSOR_SELECTED */
  /* Filled by nrd_batch_output; NRD_TENSOR_SELECTED marks the wanted ones. */
  nrd_tensor* outputs;
  const nrd_request* const* requests;
} nrd_batch;
NRD_ASSERT_SIZE(nrd_batch, 48);

/* A buffer for output `index` of the whole batch. For BYTES `byte_size` is the encoded size; for
 * other datatypes it must be what the shape needs. The first dimension is the batch's when the
 * model has one. Only within execute. */
NRD_API int32_t nrd_batch_output(nrd_batch* batch, uint32_t index, int32_t datatype, uint32_t rank,
                                 const int64_t* shape, uint64_t byte_size, void** data_out,
                                 nrd_error* error_out);

/* Makes output `index` the unchanged input `input_index`: it refers to the same buffer, and only
 * memory that the caller lent (an input without a buffer of the pool) is copied. Inputs are not
 * written to once their request was submitted. Only within execute, and not for backends with
 * NRD_BACKEND_GATHERS. */
NRD_API int32_t nrd_batch_output_forward(nrd_batch* batch, uint32_t index, uint32_t input_index,
                                         nrd_error* error_out);

/* The same for one request of the batch, for backends that do not produce one tensor for all. For
 * an output with NRD_TENSOR_DEVICE, `data_out` is the place that the caller wants;
 * NRD_INVALID_ARGUMENT: it is too small, and the backend must fail that request. */
NRD_API int32_t nrd_batch_request_output(nrd_batch* batch, uint32_t request_index, uint32_t index,
                                         int32_t datatype, uint32_t rank, const int64_t* shape,
                                         uint64_t byte_size, void** data_out, nrd_error* error_out);

/* For models with NRD_SEQUENCES_ITERATIVE: the request is not answered when execute returns, but
 * executed again, behind waiting ones. Outputs that were made for it are dropped; its state is
 * kept. NRD_FAILED_PRECONDITION for other models. Only within execute. */
NRD_API int32_t nrd_batch_request_reschedule(nrd_batch* batch, uint32_t request_index,
                                             nrd_error* error_out);

/* For decoupled models: sends the outputs that nrd_batch_request_output made for this request as
 * one of its responses, and empties them for the next, whatever it returns. Outputs that exist when
 * execute returns are the last response; none is needed. NRD_CANCELLED: the request was cancelled
 * or is past its deadline, and the backend should send no more; without this response the request
 * ends with NRD_CANCELLED or NRD_DEADLINE_EXCEEDED. Other threads than execute's may call this and
 * nrd_batch_request_output while execute waits for them, one at a time for a request. */
NRD_API int32_t nrd_batch_request_respond(nrd_batch* batch, uint32_t request_index,
                                          nrd_error* error_out);

/* The same with an error in place of outputs: one of the request's responses, which others may
 * follow. Outputs made for it are dropped; its values go with the error. An ensemble's step, or a
 * request without a receiver of responses, fails with the error, and this returns NRD_CANCELLED. */
NRD_API int32_t nrd_batch_request_respond_error(nrd_batch* batch, uint32_t request_index,
                                                int32_t code, const char* message,
                                                uint64_t message_size, nrd_error* error_out);

/* Sends a value along with the next response of a request; it is copied. Under the rules of
 * nrd_batch_request_output. */
NRD_API int32_t nrd_batch_request_value(nrd_batch* batch, uint32_t request_index,
                                        const nrd_value* value, nrd_error* error_out);

/* Reports when the backend began to compute and when it had the results: the time before counts as
 * reading inputs, the time after as writing outputs. Without this call all of execute counts as
 * computing. */
NRD_API void nrd_batch_computed(nrd_batch* batch, int64_t start_ns, int64_t end_ns);

/* For backends with NRD_BACKEND_DETACHES: a batch for which execute returns NRD_PENDING belongs to
 * the backend until it calls this, once, from any thread, also before execute returned. Functions
 * that are allowed "only within execute" may be called until then. `code` and `message` stand for
 * execute's result, and count in its place if this comes first. Meanwhile the instance executes
 * further batches, unless it needs resources (nrd_instance_options) or warms up: then it waits.
 * close_instance is called when all are finished. The answers are delivered before this returns, on
 * this thread, unless execute has not returned yet. For a batch that the backend does not have any
 * more this does nothing, unless the record is in use for another batch. */
NRD_API void nrd_batch_finish(nrd_batch* batch, int32_t code, const char* message,
                              uint64_t message_size);

/* For backends with NRD_BACKEND_DETACHES: answers a request of a batch before the others, on this
 * thread, with outputs of nrd_batch_request_output (none of nrd_batch_output) or the error of
 * nrd_batch_request_fail. Afterwards the backend must neither name nor read the request;
 * nrd_batch_finish answers the rest, if any. Any thread may call while the backend has the batch.
 * Returns NRD_FAILED_PRECONDITION, without any effect, if the model has sequences or keeps the
 * order. */
NRD_API int32_t nrd_batch_request_finish(nrd_batch* batch, uint32_t request_index);

/* For backends with NRD_BACKEND_OWN_STATES: the state that the request begins with, one row;
 * `state` is its place in nrd_sequence_options. With NRD_TENSOR_DEVICE it is the tensor given to
 * nrd_batch_request_keep by the previous request; without, the sequence begins, and `data` is in
 * the processor's memory. Valid until execute returns. */
NRD_API int32_t nrd_batch_request_state(nrd_batch* batch, uint32_t request_index, uint32_t state,
                                        nrd_tensor* found_out, nrd_error* error_out);

/* Gives the core the new state of the request, one row. If this returns NRD_OK, the core owns the
 * memory and later passes it to release_state: when the next state replaces it, when the sequence
 * ends, or at once if the request fails. All writing there must be complete. It may be the old
 * state, overwritten. Called once for each request and state; slab and flags of `made` are ignored.
 * Both only within execute. */
NRD_API int32_t nrd_batch_request_keep(nrd_batch* batch, uint32_t request_index, uint32_t state,
                                       const nrd_tensor* made, nrd_error* error_out);

/* Fails one request of the batch; the others are answered as usual. */
NRD_API void nrd_batch_request_fail(nrd_batch* batch, uint32_t request_index, int32_t code,
                                    const char* message, uint64_t message_size);

enum {
  /* execute must run on the instance's own thread: never inline. */
  NRD_BACKEND_OWN_THREAD = 1u,
  /* The backend reads the requests' inputs itself; the core does not gather. */
  NRD_BACKEND_GATHERS = 2u,
  /* Inputs and outputs of requests may have NRD_TENSOR_DEVICE. Only with NRD_BACKEND_GATHERS: the
   * core cannot copy them. Outputs that have it must be made with nrd_batch_request_output. */
  NRD_BACKEND_DEVICE_TENSORS = 4u,
  /* Output i depends on input i alone. A request that names no outputs wants the outputs of its
   * given inputs, if there are any. */
  NRD_BACKEND_OUTPUT_PER_INPUT = 8u,
  /* execute may return NRD_PENDING: see nrd_batch_finish. Never inline. */
  NRD_BACKEND_DETACHES = 16u,
  /* States of sequences are in the backend's own memory, such as a device's, and not in the pool:
   * state inputs of the batch have no `data`, and new states are made with nrd_batch_request_keep.
   * Not for states of BYTES. */
  NRD_BACKEND_OWN_STATES = 32u,
  /* An answer may lack requested outputs, and an output of one request or of a batch of one may
   * differ from the configuration in datatype and shape. States must be made, and as configured. */
  NRD_BACKEND_FREE_OUTPUTS = 64u
};

struct nrd_model_options;
struct nrd_tensor_spec;

enum { NRD_TENSOR_INPUT = 0, NRD_TENSOR_OUTPUT = 1 };

/* open_model opens the model; of the options it may use name, version and parameters. describe
 * tells the model's own tensors, with the batch dimension among the dims (see nrd_source_tensor).
 * configure is called next, once, when inputs, outputs and all else are known: it refuses options
 * that do not fit the model. memory_read tells the memory that the model occupies; it may be called
 * at any time from configure to close_model. describe, configure and memory_read may be NULL.
 *
 * open_model, configure and open_instance return a status; an object that failed to open is not
 * closed. open_instance and close_instance run on the instance's thread, as does execute unless it
 * is inline; execute is never called twice at once for one instance. Any status other than NRD_OK
 * from execute fails the whole batch and nothing else.
 *
 * release_state takes back memory that was given to nrd_batch_request_keep, once; only backends
 * with NRD_BACKEND_OWN_STATES need it. It is called on any thread, also while the core holds locks,
 * so it returns at once and calls nothing here; for the last time before close_model, perhaps after
 * the instance was closed. */
typedef struct nrd_backend {
  uint32_t struct_size;
  uint32_t flags; /* NRD_BACKEND_* */
  void* context;
  int32_t (*open_model)(void* context, const struct nrd_model_options* options,
                        void** model_state_out, nrd_error* error_out);
  int32_t (*describe)(void* model_state, int32_t kind, uint32_t index,
                      struct nrd_tensor_spec* spec_out);
  int32_t (*configure)(void* model_state, const struct nrd_model_options* options,
                       nrd_error* error_out);
  void (*memory_read)(void* model_state, uint64_t* weight_bytes_out, uint64_t* working_bytes_out);
  int32_t (*open_instance)(void* model_state, uint32_t instance_index, void** instance_out,
                           nrd_error* error_out);
  int32_t (*execute)(void* instance, nrd_batch* batch, nrd_error* error_out);
  void (*close_instance)(void* instance);
  void (*close_model)(void* model_state);
  void (*release_state)(void* model_state, const nrd_tensor* state);
} nrd_backend;
NRD_ASSERT_SIZE(nrd_backend, 88);

/* The table of a backend that is built into the core: `identity`, `onnxruntime`.
 *  identity: output i is input i. Parameter `execute_delay_ms`: time an execution takes.
 *  onnxruntime: parameters `model_path` (the .onnx file) and `onnxruntime_path` (the shared
 *  library), both absolute, and those that docs/onnxruntime.md lists. */
NRD_API int32_t nrd_backend_find(const char* name, uint64_t name_size, nrd_backend* backend_out,
                                 nrd_error* error_out);

/* The table of a backend that executes models of the built-in backend `name` in a process of their
 * own, one a model, for models of this runtime. It takes that backend's parameters, and
 * `isolation.backend` (the name again), `isolation.child` (the path of the executable
 * nereid-child), `isolation.group` (models of the same one share a process), and those that
 * docs/isolation.md lists. Each end of a process is logged.
 *
 * `triton` stands for plug-ins made for Triton. It takes the parameters that nrt_backend_open
 * lists; `isolation.plugin`, `isolation.plugin_name`, `isolation.plugin_directory` and
 * `isolation.setting:KEY` for what that function takes; `isolation.core` and `isolation.triton` for
 * the paths of libnereid.so and libtritonserver.so.
 *
 * `java` stands for all backends in Java. It takes `isolation.jvm` (the path of libjvm.so),
 * `isolation.jvm_options` (each with an end of line behind it), `isolation.core`, and what the
 * class io.nereid.internal.model.ChildModel reads in that JVM. */
NRD_API int32_t nrd_backend_isolate(nrd_runtime* runtime, const char* name, uint64_t name_size,
                                    nrd_backend* backend_out, nrd_error* error_out);

/* ---- Models ---------------------------------------------------------------------------------- */

enum {
  NRD_SPEC_OPTIONAL = 1u, /* an input that requests may leave out */
  NRD_SPEC_RESHAPE = 2u,  /* the backend sees `reshape` in place of `dims` */
  /* An input whose shape may differ between the requests of a batch: the backend gets the elements
   * of all requests one after another, in one dimension. */
  NRD_SPEC_RAGGED = 4u,
  /* Only the core and the backend see the tensor: an input that the core makes (a control, a state,
   * a batch input), or an output that it keeps (a state). Hidden inputs come behind all others, as
   * do hidden outputs; records of requests do not have them. */
  NRD_SPEC_HIDDEN = 8u
};

typedef struct nrd_tensor_spec {
  nrd_string name;
  int32_t datatype;
  uint32_t rank;
  uint32_t flags; /* NRD_SPEC_* */
  uint32_t reshape_rank;
  int64_t dims[NRD_MAX_RANK]; /* without the batch dimension; -1: any size */
  /* Dims with as many elements: the sizes between one -1 and the next have the same product, so
   * that every -1 takes the size of its counterpart in `dims`. */
  int64_t reshape[NRD_MAX_RANK];
} nrd_tensor_spec;
NRD_ASSERT_SIZE(nrd_tensor_spec, 160);

enum { NRD_TIMEOUT_REJECT = 0, NRD_TIMEOUT_DELAY = 1 };

typedef struct nrd_queue_policy {
  uint64_t default_timeout_ns;     /* 0: none */
  int32_t timeout_action;          /* NRD_TIMEOUT_* */
  uint32_t allow_timeout_override; /* a request's timeout takes part in the policy, see docs */
  uint32_t max_queue_size;         /* requests waiting; 0: NRD_DEFAULT_MAX_QUEUE_SIZE */
  uint32_t reserved;
} nrd_queue_policy;
NRD_ASSERT_SIZE(nrd_queue_policy, 24);

#define NRD_DEFAULT_MAX_QUEUE_SIZE 8192u
#define NRD_DEFAULT_INLINE_BUDGET_NS 1000000u

typedef struct nrd_parameter {
  nrd_string key;
  nrd_string value;
} nrd_parameter;
NRD_ASSERT_SIZE(nrd_parameter, 32);

enum {
  NRD_MODEL_NO_INLINE = 1u,
  NRD_MODEL_DYNAMIC_BATCHING = 2u, /* otherwise every request is its own batch */
  /* Executed requests are answered in order of arrival, over all instances; requests that never run
   * (cancelled, timed out, refused) are answered at once. Rules out inline execution, more than one
   * priority level, and NRD_TIMEOUT_DELAY. */
  NRD_MODEL_PRESERVE_ORDERING = 4u,
  NRD_MODEL_RESPONSE_CACHE = 8u,
  /* A request has any number of responses: see nrd_batch_request_respond. Rules out inline
   * execution, the response cache and NRD_MODEL_PRESERVE_ORDERING. An ensemble is decoupled if one
   * of its steps is, regardless of this flag. */
  NRD_MODEL_DECOUPLED = 16u
};

/* An ensemble has steps instead of a backend: each sends a request to another model of the same
 * runtime, with tensors that are passed on by reference. The tensors ("values") are numbered: first
 * the ensemble's inputs, then the outputs of steps, each of one step. Deadline, priority and
 * NRD_REQUEST_NO_CACHE of a request hold for each step, its timeout for all together. The first
 * step that fails, or nrd_request_cancel, ends the request as soon as the executing steps have
 * ended; waiting ones are cancelled.
 *
 * Each response of a decoupled step runs the steps behind it and becomes a response of the
 * ensemble, in the same order; the timeout begins anew for each. A failure is reported behind
 * earlier responses. A step or output cannot combine values that do not come equally often, such as
 * an input of the ensemble and an output of a decoupled step, or outputs of two such steps. A
 * backend that has to wait because of max_inflight_requests keeps its instance meanwhile. */
typedef struct nrd_link {
  uint32_t position; /* of the input or output in the step's model */
  uint32_t value;
} nrd_link;
NRD_ASSERT_SIZE(nrd_link, 8);

typedef struct nrd_step {
  nrd_model* model; /* must be released after the ensemble */
  const nrd_link* inputs;
  const nrd_link* outputs;
  uint32_t input_count;
  uint32_t output_count;
} nrd_step;
NRD_ASSERT_SIZE(nrd_step, 32);

/* The kinds of controls, which tell a sequence model about each row of a batch. */
enum {
  NRD_CONTROL_START = 0, /* whether the row's request is the first of its sequence */
  NRD_CONTROL_END = 1,   /* the last */
  NRD_CONTROL_READY = 2, /* whether the row has a request */
  NRD_CONTROL_CORRID = 3 /* the sequence: a number, or its text for BYTES */
};
typedef struct nrd_control {
  uint32_t input; /* index of a hidden input, one element a row */
  int32_t kind;
  /* The elements for no and yes, in the first bytes, for all kinds but CORRID. */
  uint8_t no[8];
  uint8_t yes[8];
} nrd_control;
NRD_ASSERT_SIZE(nrd_control, 24);

enum {
  NRD_STATE_SAME_BUFFER = 1u /* the new state is written over the old one, where it fits */
};
/* A tensor that a sequence keeps from one request to the next: output `output` of one execution is
 * input `input` of the next. Dims of -1 may change from one to the next. The input is hidden;
 * clients get the output, too, unless it is hidden. */
typedef struct nrd_state {
  uint32_t input;
  uint32_t output;
  uint32_t flags; /* NRD_STATE_* */
  uint32_t rank;
  int64_t dims[NRD_MAX_RANK]; /* of the first request's state, without the batch dimension */
  const void* initial;        /* its elements; NULL: zeros, empty strings for BYTES */
  uint64_t initial_size;
} nrd_state;
NRD_ASSERT_SIZE(nrd_state, 96);

enum {
  /* A sequence keeps one row of the batch of one instance. */
  NRD_SEQUENCES_DIRECT = 1,
  /* An instance has some sequences at a time, and batches their oldest requests. */
  NRD_SEQUENCES_OLDEST = 2
};
enum {
  /* Each request is a sequence of its own, which the backend gives back to be executed again until
   * it is done: see nrd_batch_request_reschedule. */
  NRD_SEQUENCES_ITERATIVE = 1u
};
/* Batching by sequences, in place of NRD_MODEL_DYNAMIC_BATCHING. Preferred sizes (oldest only),
 * max_queue_delay_ns and NRD_MODEL_PRESERVE_ORDERING (oldest only) are those of the options. */
typedef struct nrd_sequence_options {
  int32_t strategy;     /* NRD_SEQUENCES_* */
  uint32_t flags;       /* NRD_SEQUENCES_ITERATIVE */
  uint64_t max_idle_ns; /* after which a sequence without requests ends; 0: 1 s */
  uint32_t candidates;  /* oldest: sequences of an instance at a time; 0: max_batch_size */
  uint32_t control_count;
  double minimum_slot_utilization; /* direct: rows that wait for no delay, 0 to 1 */
  const nrd_control* controls;
  const nrd_state* states;
  uint32_t state_count;
  uint32_t reserved;
} nrd_sequence_options;
NRD_ASSERT_SIZE(nrd_sequence_options, 56);

/* The kinds of batch inputs: hidden inputs that describe input `source` of a batch's requests.
 * Counts are of elements. The first dimension takes the batch dimension's place, so that dims are
 * empty, or for ITEM_SHAPE one: the source's number of dims; without a batch dimension they are -1.
 * The datatype is INT32 or FP32. */
enum {
  NRD_COMBINE_ELEMENT_COUNT = 0,                       /* of each request */
  NRD_COMBINE_ACCUMULATED_ELEMENT_COUNT = 1,           /* of each request and those before it */
  NRD_COMBINE_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO = 2, /* the same, with a 0 in front */
  NRD_COMBINE_MAX_ELEMENT_COUNT_AS_SHAPE = 3, /* the largest: as a size, without elements */
  NRD_COMBINE_ITEM_SHAPE = 4,                 /* a row of sizes for each row of the batch */
  NRD_COMBINE_ITEM_SHAPE_FLATTEN = 5          /* the same in one dimension */
};
typedef struct nrd_combined_input {
  uint32_t input; /* index of a hidden input */
  int32_t kind;
  uint32_t source; /* index of an input that requests bring */
  uint32_t reserved;
} nrd_combined_input;
NRD_ASSERT_SIZE(nrd_combined_input, 16);

enum {
  /* The output's elements are distributed by the shapes of the requests' input `source`: a free
   * dimension of the output has the source's size in the same place. The output of the batch may
   * have any shape with at least as many elements. */
  NRD_SCATTER_WITH_INPUT_SHAPE = 0
};
typedef struct nrd_scattered_output {
  uint32_t output;
  int32_t kind;
  uint32_t source;
  uint32_t reserved;
} nrd_scattered_output;
NRD_ASSERT_SIZE(nrd_scattered_output, 16);

/* A resource that executions hold while they run: see nrd_runtime_limit. */
typedef struct nrd_resource {
  nrd_string name;
  uint32_t count;
  int32_t device; /* its number; -1: one for all devices */
} nrd_resource;
NRD_ASSERT_SIZE(nrd_resource, 24);

/* Priorities of instances that yield to all others. An instance with _LAST gets resources only when
 * no other instance waits for them. So does one with _IDLE, whose thread, which executes all of its
 * requests, also gets a processor only when no other thread wants it. */
#define NRD_PRIORITY_LAST 0xFFFFFFFEu
#define NRD_PRIORITY_IDLE 0xFFFFFFFFu

typedef struct nrd_instance_options {
  const nrd_resource* resources; /* what an execution holds */
  uint32_t resource_count;
  uint32_t priority;     /* who gets resources first; 1 is the most urgent, 0: 1; NRD_PRIORITY_* */
  const uint32_t* cores; /* processors that its thread runs on; none: any */
  uint32_t core_count;
  int32_t numa_node; /* that its thread takes memory from; -1: any */
} nrd_instance_options;
NRD_ASSERT_SIZE(nrd_instance_options, 32);

/* Decides which requests go together, besides all other rules. `includes` returns whether `next`
 * may join the chosen requests, of which there is at least one. It is called with the model's queue
 * locked and repeatedly for the same requests, so it must answer at once, from the requests alone,
 * and call no function of this header. */
typedef struct nrd_batcher {
  void* context;
  int32_t (*includes)(void* context, const nrd_request* const* chosen, uint32_t chosen_count,
                      const nrd_request* next);
} nrd_batcher;
NRD_ASSERT_SIZE(nrd_batcher, 16);

/* The time of executions of a number of rows, learned from earlier ones. */
typedef struct nrd_cost_point {
  uint32_t kind; /* of the instances: see nrd_objective */
  uint32_t reserved;
  uint64_t rows;
  uint64_t row_elements; /* of all inputs of a row, about; 0: inputs have one size */
  double mean_ns;
  double high_ns; /* what a hundredth of the executions exceeds, about */
  double weight;  /* how much it is worth: executions, the old ones counted less; above 0 */
} nrd_cost_point;
NRD_ASSERT_SIZE(nrd_cost_point, 48);

/* The time in which requests are to be answered, counted from submit. In place of
 * NRD_MODEL_DYNAMIC_BATCHING, preferred sizes and max_queue_delay_ns, the model determines the rows
 * of a batch and the time that requests wait for others, so that as many requests as possible are
 * answered in time. An earlier deadline of a request replaces the objective. Within a priority
 * level the request that is due first is served first.
 *
 * A request that cannot be in time, judging by the executions so far, is refused at once or, if
 * that turns out later, while it waits: NRD_UNAVAILABLE, or NRD_DEADLINE_EXCEEDED if it cannot make
 * its own deadline. Not for ensembles (their steps have objectives), sequences,
 * NRD_MODEL_DECOUPLED, NRD_MODEL_PRESERVE_ORDERING and NRD_TIMEOUT_DELAY. */
typedef struct nrd_objective {
  uint64_t latency_ns;   /* above 0 */
  uint32_t quantile_ppm; /* of those that are answered, that many of a million are in time; 0:
                            990000; at most 999999 */
  uint32_t share_width;  /* executions at a time in the share; 0: 1. The last that was said holds */
  /* Models with the same share, such as the processors or a device, execute in turns, the one with
   * the least time left first. Empty: the model shares nothing. */
  nrd_string share;
  /* Initial costs, such as those of an earlier load from nrd_model_cost_curve_read. A point without
   * positive finite numbers, or with a high_ns below its mean_ns, is ignored. */
  const nrd_cost_point* costs;
  uint32_t cost_count;
  uint32_t reserved;
  /* instance_count numbers from 0: instances with the same number, as on equal devices, take the
   * same time. NULL: all do. */
  const uint32_t* instance_kinds;
} nrd_objective;
NRD_ASSERT_SIZE(nrd_objective, 56);

typedef struct nrd_model_options {
  uint32_t struct_size;
  uint32_t flags; /* NRD_MODEL_* */
  nrd_string name;
  nrd_string version;
  const nrd_backend* backend;
  const nrd_tensor_spec* inputs;
  const nrd_tensor_spec* outputs;
  uint32_t input_count;
  uint32_t output_count;
  int64_t max_batch_size;  /* at most 2^31 - 1; 0: tensors have no batch dimension */
  uint32_t instance_count; /* 0: 1 */
  uint32_t preferred_batch_size_count;
  const int64_t* preferred_batch_sizes;
  uint64_t max_queue_delay_ns;
  uint64_t inline_budget_ns; /* 0: NRD_DEFAULT_INLINE_BUDGET_NS */
  nrd_queue_policy default_queue_policy;
  uint32_t priority_levels; /* 0: requests have no priority */
  uint32_t default_priority_level;
  const nrd_queue_policy* level_queue_policies; /* priority_levels entries, or NULL: the default */
  const nrd_parameter* parameters;
  uint64_t parameter_count;
  /* Ensembles only, which have no backend, instances or batching of their own. In an order in which
   * each step needs only inputs of the ensemble and outputs of earlier steps. Steps that do not
   * need each other run at the same time, steps that no wanted output needs not at all. */
  const nrd_step* steps;
  const uint32_t* output_values; /* output_count entries: the value that is each output */
  uint32_t step_count;
  uint32_t value_count;
  const nrd_sequence_options* sequences; /* NULL: requests have nothing to do with each other */
  const nrd_combined_input* combined_inputs;
  const nrd_scattered_output* scattered_outputs;
  uint32_t combined_input_count;
  uint32_t scattered_output_count;
  const nrd_instance_options* instances; /* instance_count entries, or NULL: nothing special */
  const nrd_batcher* batcher;            /* NULL: none */
  /* Ensembles: the most responses of a decoupled step that are in the steps behind it, for one
   * request; 0: any number. */
  uint32_t max_inflight_requests;
  uint32_t reserved;
  const nrd_objective* objective; /* NULL: none */
} nrd_model_options;
NRD_ASSERT_SIZE(nrd_model_options, 256);

/* A model's weights and graph, opened by its backend before the configuration is complete. */
typedef struct nrd_source nrd_source;

/* Uses only name, version, backend and parameters of the options. */
NRD_API int32_t nrd_source_open(nrd_runtime* runtime, const nrd_model_options* options,
                                nrd_source** source_out, nrd_error* error_out);

/* Describes input (output) `index` of the model itself: `kind` is NRD_TENSOR_INPUT or _OUTPUT. The
 * dims include the batch dimension where there is one; the datatype is NRD_TYPE_INVALID for
 * elements that are not supported; NRD_SPEC_OPTIONAL: it has a default. The name is valid as long
 * as the source. NRD_NOT_FOUND: there are no more; NRD_UNIMPLEMENTED: the backend cannot tell. */
NRD_API int32_t nrd_source_tensor(nrd_source* source, int32_t kind, uint32_t index,
                                  nrd_tensor_spec* spec_out);

/* For backend `triton` of nrd_backend_isolate: the configuration that the plug-in completed, as
 * JSON; empty: unchanged. For backend `java`: the facts that ChildModel tells about the model.
 * Valid as long as the source. */
NRD_API void nrd_source_completed(nrd_source* source, nrd_string* json_out);

NRD_API void nrd_source_release(nrd_source* source);

/* Opens the backend and all instances; returns when the model is ready to run, or the failure.
 * `source`: from nrd_source_open with the same name, version, backend and parameters; it belongs to
 * the model from here on, even when loading fails. NULL: the model is opened here. */
NRD_API int32_t nrd_model_load(nrd_runtime* runtime, const nrd_model_options* options,
                               nrd_source* source, nrd_model** model_out, nrd_error* error_out);

/* Refuses new requests (NRD_UNAVAILABLE) and waits until the others are answered, at most until
 * deadline_ns (0: without end). At the deadline requests that still wait are answered with
 * NRD_UNAVAILABLE and NRD_DEADLINE_EXCEEDED is returned. Not from a completion callback or the
 * model's backend. */
NRD_API int32_t nrd_model_drain(nrd_model* model, int64_t deadline_ns, nrd_error* error_out);

/* Drains at once, waits for executing requests, closes instances and backend. The handle is gone
 * afterwards; records still held stay valid. Not from a completion callback or a backend. */
NRD_API void nrd_model_release(nrd_model* model);

/* Position of an input (output) by name; NRD_NOT_FOUND when the model has none. */
NRD_API int32_t nrd_model_input_index(nrd_model* model, const char* name, uint64_t name_size,
                                      uint32_t* index_out);
NRD_API int32_t nrd_model_output_index(nrd_model* model, const char* name, uint64_t name_size,
                                       uint32_t* index_out);

/* Describes input (output) `index` as the model's configuration has it, hidden ones behind the
 * others; `kind` is NRD_TENSOR_INPUT or _OUTPUT. The name is valid as long as the model.
 * NRD_NOT_FOUND: there are no more. */
NRD_API int32_t nrd_model_tensor(nrd_model* model, int32_t kind, uint32_t index,
                                 nrd_tensor_spec* spec_out);

/* ---- Statistics ------------------------------------------------------------------------------ */

typedef struct nrd_duration_stat {
  uint64_t count;
  uint64_t ns;
} nrd_duration_stat;
NRD_ASSERT_SIZE(nrd_duration_stat, 16);

/* The reasons why a batch did not get more requests. */
enum {
  NRD_BATCH_SINGLE = 0, /* the model does not batch dynamically */
  NRD_BATCH_FULL = 1,   /* max_batch_size, a preferred size or all slots were reached, or what came
                           next would have passed it */
  NRD_BATCH_UNLIKE = 2, /* what came next has other shapes, or the model's batcher kept it out */
  NRD_BATCH_DELAY = 3,  /* the oldest request had waited for as long as the model lets it */
  NRD_BATCH_IDLE = 4,   /* an instance was free, and nothing else was there */
  NRD_BATCH_OBJECTIVE = 5, /* with more, requests would have missed the objective */
  NRD_BATCH_DRAIN = 6,     /* the model is unloaded, and nothing else will come */
  NRD_BATCH_ENDS = 7       /* how many there are */
};

typedef struct nrd_model_stats {
  uint32_t struct_size;
  uint32_t instance_count;
  uint64_t last_inference_ms; /* wall clock, since 1970; 0: never */
  uint64_t inference_count;   /* rows (requests, without a batch dimension) that executions answered
                                 with NRD_OK */
  uint64_t execution_count;   /* batches with at least one of these */
  uint64_t inline_count;      /* executions on the submitting thread */
  uint64_t pending_count;     /* requests in the queue now */
  uint64_t executing_count;   /* requests executing now, or being answered after it */
  nrd_duration_stat success;
  nrd_duration_stat fail;
  nrd_duration_stat queue;
  nrd_duration_stat compute_input;
  nrd_duration_stat compute_infer;
  nrd_duration_stat compute_output;
  nrd_duration_stat cache_hit;
  nrd_duration_stat cache_miss;
  uint64_t fail_rejected; /* queue full, timed out, deadline, draining */
  uint64_t fail_cancelled;
  uint64_t fail_backend;
  uint64_t fail_other;                 /* invalid requests, out of memory before execution */
  uint64_t batch_ends[NRD_BATCH_ENDS]; /* batches that were begun, by NRD_BATCH_* */
} nrd_model_stats;
NRD_ASSERT_SIZE(nrd_model_stats, 272);
NRD_API void nrd_model_stats_read(nrd_model* model, nrd_model_stats* stats_out);

/* Sequences of a model: now, and since it was loaded. */
typedef struct nrd_sequence_stats {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t slots;   /* how many sequences can be active at a time; 0: the model has none */
  uint64_t active;  /* that have a slot */
  uint64_t backlog; /* that wait for one */
  uint64_t started;
  uint64_t ended;       /* by END */
  uint64_t idle_ended;  /* by idle time */
  uint64_t state_bytes; /* that sequences keep between requests */
} nrd_sequence_stats;
NRD_ASSERT_SIZE(nrd_sequence_stats, 64);
NRD_API void nrd_model_sequence_stats_read(nrd_model* model, nrd_sequence_stats* stats_out);

/* 1 if the model knows the sequence: it has started, and has neither ended nor been idle for too
 * long. `name` if it is not empty, else the number. */
NRD_API int32_t nrd_model_has_sequence(nrd_model* model, uint64_t id, nrd_string name);

/* From here on no sequence starts (NRD_UNAVAILABLE), those that have started go on. */
NRD_API void nrd_model_finish_sequences(nrd_model* model);

enum {
  NRD_INSTANCE_FREE = 0,  /* it neither waits nor holds anything */
  NRD_INSTANCE_WAITS = 1, /* for `resource`, of which it needs `needed` */
  NRD_INSTANCE_HOLDS = 2  /* what it needs */
};
/* The resources of an instance: see nrd_runtime_limit. If enough of the resource is free and the
 * instance still waits, others have earlier turns. */
typedef struct nrd_instance_stats {
  uint32_t struct_size;
  int32_t state; /* NRD_INSTANCE_* */
  uint32_t needed;
  uint32_t reserved;
  uint64_t waits; /* how often it had to wait */
  nrd_resource_stats resource;
} nrd_instance_stats;
NRD_ASSERT_SIZE(nrd_instance_stats, 56);
/* NRD_NOT_FOUND: the model has no instance `instance`. */
NRD_API int32_t nrd_model_instance_stats_read(nrd_model* model, uint32_t instance,
                                              nrd_instance_stats* stats_out);

/* The present decisions of a model's objective, and their results since the model was loaded.
 * Requests that fail otherwise, or that the cache answers, are not counted. */
typedef struct nrd_objective_stats {
  uint32_t struct_size;
  uint32_t quantile_ppm;
  uint64_t latency_ns;
  uint64_t max_rows;         /* an execution takes at most, so that it fits into the objective */
  uint64_t wait_ns;          /* the longest that a request would wait for others now */
  uint64_t backlog;          /* requests that wait */
  uint64_t backlog_ns;       /* how long it takes to execute what waits and executes */
  uint64_t rows_per_second;  /* that can be answered in time, as far as is known; 0: unknown */
  uint64_t kept;             /* answered in time */
  uint64_t late;             /* answered too late */
  uint64_t refused_backlog;  /* at once: what waits already takes too long */
  uint64_t refused_cost;     /* at once: it takes too long even with nothing before it */
  uint64_t refused_waiting;  /* while it waited */
  uint64_t refused_deadline; /* of all refused, those that could not make their own deadline */
  uint64_t outside_ns;       /* kept free for what nrd_request_sent tells of */
} nrd_objective_stats;
NRD_ASSERT_SIZE(nrd_objective_stats, 112);
/* Reads them; NRD_NOT_FOUND, and zeros: the model has no objective. */
NRD_API int32_t nrd_model_objective_read(nrd_model* model, nrd_objective_stats* stats_out);

/* Reads the learned costs of executions: by kind, size of a row and rows, ascending. Writes at most
 * `capacity`; count_out is how many there are, 0 without an objective. */
NRD_API void nrd_model_cost_curve_read(nrd_model* model, nrd_cost_point* points_out,
                                       uint32_t capacity, uint32_t* count_out);

typedef struct nrd_batch_stats {
  uint64_t batch_size;
  nrd_duration_stat compute_input;
  nrd_duration_stat compute_infer;
  nrd_duration_stat compute_output;
} nrd_batch_stats;
NRD_ASSERT_SIZE(nrd_batch_stats, 56);

/* Reads the batch sizes that ran at least once, ascending. Writes at most `capacity`; count_out is
 * how many there are. */
NRD_API void nrd_model_batch_stats_read(nrd_model* model, nrd_batch_stats* stats_out,
                                        uint32_t capacity, uint32_t* count_out);

/* The memory of a model. The backend reports weight_bytes and working_bytes; 0: unknown. */
typedef struct nrd_memory_stats {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t weight_bytes;  /* for as long as it is loaded */
  uint64_t working_bytes; /* kept between executions, beyond the weights */
  uint64_t pool_bytes;    /* live buffers of the pool that were made for its requests */
} nrd_memory_stats;
NRD_ASSERT_SIZE(nrd_memory_stats, 32);
NRD_API void nrd_model_memory_read(nrd_model* model, nrd_memory_stats* stats_out);

enum {
  NRD_ISOLATION_STARTS = 0, /* one was lost, the next is not ready; requests wait */
  NRD_ISOLATION_UP = 1,
  NRD_ISOLATION_FAILED = 2 /* there will be no other: requests are answered NRD_UNAVAILABLE */
};
/* The process of a model with nrd_backend_isolate. */
typedef struct nrd_isolation_stats {
  uint32_t struct_size;
  int32_t state;            /* NRD_ISOLATION_* */
  uint64_t restarts;        /* processes that were lost since the model was loaded */
  uint32_t deaths_in_a_row; /* of these, since the last answer */
  int32_t process;          /* its number; 0: there is none now */
  uint64_t resident_bytes;  /* of the process, shared memory among them; 0: unknown */
} nrd_isolation_stats;
NRD_ASSERT_SIZE(nrd_isolation_stats, 32);
/* Reads them; NRD_NOT_FOUND, and zeros: the model is not isolated. `reason_out`, unless NULL, gets
 * the reason why the last lost process ended; its code is NRD_OK if none was lost. */
NRD_API int32_t nrd_model_isolation_read(nrd_model* model, nrd_isolation_stats* stats_out,
                                         nrd_error* reason_out);

/* The kinds of histograms; those from COMPUTE_INPUT on only with NRD_RUNTIME_STAGE_HISTOGRAMS.
 * COMPUTE is the sum of its stages. */
enum {
  NRD_HISTOGRAM_QUEUE = 0,
  NRD_HISTOGRAM_COMPUTE = 1,
  NRD_HISTOGRAM_TOTAL = 2,
  NRD_HISTOGRAM_COMPUTE_INPUT = 3,
  NRD_HISTOGRAM_COMPUTE_INFER = 4,
  NRD_HISTOGRAM_COMPUTE_OUTPUT = 5,
  NRD_HISTOGRAM_CACHE_HIT = 6,
  NRD_HISTOGRAM_CACHE_MISS = 7
};

/* Histograms are counts per bucket. All histograms of all models have the same buckets, so they can
 * be added. Bucket i holds durations up to and including nrd_histogram_bucket_ns(i). */
NRD_API uint32_t nrd_histogram_bucket_count(void);
NRD_API uint64_t nrd_histogram_bucket_ns(uint32_t bucket);
NRD_API int32_t nrd_model_histogram_read(nrd_model* model, uint32_t histogram, uint64_t* counts_out,
                                         uint32_t capacity);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NEREID_NEREID_H_ */

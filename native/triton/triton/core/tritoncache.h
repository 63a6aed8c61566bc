/* Functions that Triton's response caches use and offer: names and signatures as Triton publishes
 * them for version 0.1 of its cache interface. A cache is a shared library libtritoncache_NAME.so.
 *
 * Functions return NULL or an error that the caller deletes (TRITONSERVER_ErrorDelete). */
#ifndef NEREID_TRITON_CORE_TRITONCACHE_H_
#define NEREID_TRITON_CORE_TRITONCACHE_H_

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRITONCACHE_API_VERSION_MAJOR 0
#define TRITONCACHE_API_VERSION_MINOR 1

/* Objects of the server: the first copies bytes, the second is a list of buffers. Both are valid
 * during one call. */
typedef struct TRITONCACHE_Allocator TRITONCACHE_Allocator;
typedef struct TRITONCACHE_CacheEntry TRITONCACHE_CacheEntry;
/* An object of the cache. */
typedef struct TRITONCACHE_Cache TRITONCACHE_Cache;

/* ---- Offered by the server ------------------------------------------------------------------- */

TRITONSERVER_CALL TRITONCACHE_ApiVersion(uint32_t* major, uint32_t* minor);

TRITONSERVER_CALL TRITONCACHE_CacheEntryBufferCount(TRITONCACHE_CacheEntry* entry, size_t* count);

/* For a lookup: the cache adds its own buffer, with size and memory type in the attributes. It is
 * not empty, and the processor can read it. */
TRITONSERVER_CALL TRITONCACHE_CacheEntryAddBuffer(TRITONCACHE_CacheEntry* entry, void* base,
                                                  TRITONSERVER_BufferAttributes* buffer_attributes);

/* The caller owns the attributes, which are filled. During an insert the base is NULL until the
 * cache has set one. */
TRITONSERVER_CALL TRITONCACHE_CacheEntryGetBuffer(TRITONCACHE_CacheEntry* entry, size_t index,
                                                  void** base,
                                                  TRITONSERVER_BufferAttributes* buffer_attributes);

/* For an insert: sets the cache's place for buffer `index`. Attributes may be NULL, then the size
 * stays. */
TRITONSERVER_CALL TRITONCACHE_CacheEntrySetBuffer(TRITONCACHE_CacheEntry* entry, size_t index,
                                                  void* new_base,
                                                  TRITONSERVER_BufferAttributes* buffer_attributes);

/* Copies out of the entry's buffers for a lookup, into them for an insert. After the return the
 * cache may move or drop them. */
TRITONSERVER_CALL TRITONCACHE_Copy(TRITONCACHE_Allocator* allocator, TRITONCACHE_CacheEntry* entry);

/* ---- Offered by the cache, all of them ------------------------------------------------------- */

/* `config`: the user's settings, a JSON object. */
TRITONSERVER_CALL TRITONCACHE_CacheInitialize(TRITONCACHE_Cache** cache, const char* config);
TRITONSERVER_CALL TRITONCACHE_CacheFinalize(TRITONCACHE_Cache* cache);

/* ALREADY_EXISTS if the key is taken. The sizes of the entry's buffers are known. */
TRITONSERVER_CALL TRITONCACHE_CacheInsert(TRITONCACHE_Cache* cache, const char* key,
                                          TRITONCACHE_CacheEntry* entry,
                                          TRITONCACHE_Allocator* allocator);

/* NOT_FOUND if the key is missing. The entry is empty. */
TRITONSERVER_CALL TRITONCACHE_CacheLookup(TRITONCACHE_Cache* cache, const char* key,
                                          TRITONCACHE_CacheEntry* entry,
                                          TRITONCACHE_Allocator* allocator);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NEREID_TRITON_CORE_TRITONCACHE_H_ */

/* A cache that keeps a few entries in memory. Its configuration names, as "mode", what it does
 * wrong. With "until", a file, each look-up adds a byte to FILE.begun and waits for FILE. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "triton/core/tritoncache.h"

enum { ENTRIES = 16 };

typedef struct keeper_entry {
  char key[256];
  void* data;
  size_t size;
} keeper_entry;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct TRITONCACHE_Cache {
  char mode[32];
  char until[256];
  keeper_entry entries[ENTRIES];
};

static TRITONSERVER_Error* wrong(TRITONSERVER_Error_Code code, const char* message) {
  return TRITONSERVER_ErrorNew(code, message);
}

static keeper_entry* find(TRITONCACHE_Cache* cache, const char* key) {
  keeper_entry* found = NULL;
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < ENTRIES && found == NULL; ++i) {
    if (strcmp(cache->entries[i].key, key) == 0) {
      found = &cache->entries[i];
    }
  }
  pthread_mutex_unlock(&mutex);
  return found;
}

static int does(const TRITONCACHE_Cache* cache, const char* mode) {
  return strcmp(cache->mode, mode) == 0;
}

TRITONSERVER_Error* TRITONCACHE_CacheInitialize(TRITONCACHE_Cache** cache, const char* config) {
  const char* const mode = strstr(config, "\"mode\":\"");
  uint32_t major = 9;
  uint32_t minor = 9;
  TRITONSERVER_Error* const error = TRITONCACHE_ApiVersion(&major, &minor);
  if (error != NULL || major != 0 || minor != 1) {
    return wrong(TRITONSERVER_ERROR_UNSUPPORTED, "not version 0.1");
  }
  if (mode == NULL) {
    return wrong(TRITONSERVER_ERROR_INVALID_ARG, "the configuration has no mode");
  }
  *cache = NULL;
  if (strncmp(mode + 8, "nothing", 7) == 0) {
    return NULL;
  }
  *cache = calloc(1, sizeof(TRITONCACHE_Cache));
  strncpy((*cache)->mode, mode + 8, strcspn(mode + 8, "\""));
  const char* const until = strstr(config, "\"until\":\"");
  if (until != NULL) {
    snprintf((*cache)->until, sizeof((*cache)->until), "%.*s", (int)strcspn(until + 9, "\""),
             until + 9);
  }
  return NULL;
}

static void wait_as_told(const TRITONCACHE_Cache* cache) {
  char begun[sizeof(cache->until) + 8];
  snprintf(begun, sizeof(begun), "%s.begun", cache->until);
  FILE* const file = fopen(begun, "a");
  if (file != NULL) {
    fputc('.', file);
    fclose(file);
  }
  while (access(cache->until, F_OK) != 0) {
    usleep(1000);
  }
}

TRITONSERVER_Error* TRITONCACHE_CacheFinalize(TRITONCACHE_Cache* cache) {
  for (int i = 0; i < ENTRIES; ++i) {
    free(cache->entries[i].data);
  }
  free(cache);
  return NULL;
}

/* Shows `size` bytes, with the attributes that a buffer needs. */
static TRITONSERVER_Error* show(TRITONCACHE_CacheEntry* entry, void* data, size_t size) {
  TRITONSERVER_BufferAttributes* attributes = NULL;
  TRITONSERVER_Error* error = TRITONSERVER_BufferAttributesNew(&attributes);
  if (error == NULL) {
    error = TRITONSERVER_BufferAttributesSetByteSize(attributes, size);
  }
  if (error == NULL) {
    error = TRITONCACHE_CacheEntryAddBuffer(entry, data, attributes);
  }
  TRITONSERVER_ErrorDelete(TRITONSERVER_BufferAttributesDelete(attributes));
  return error;
}

TRITONSERVER_Error* TRITONCACHE_CacheLookup(TRITONCACHE_Cache* cache, const char* key,
                                            TRITONCACHE_CacheEntry* entry,
                                            TRITONCACHE_Allocator* allocator) {
  if (cache->until[0] != '\0') {
    wait_as_told(cache);
  }
  const keeper_entry* const kept = find(cache, key);
  if (does(cache, "fails")) {
    return wrong(TRITONSERVER_ERROR_UNAVAILABLE, "the keeper is away");
  }
  if (kept == NULL) {
    return wrong(TRITONSERVER_ERROR_NOT_FOUND, "no such key");
  }
  if (does(cache, "keeps quiet")) {
    return NULL;
  }
  TRITONSERVER_Error* error = show(entry, kept->data, kept->size);
  if (error == NULL && does(cache, "shows two")) {
    error = show(entry, kept->data, kept->size);
  }
  if (error == NULL && does(cache, "shows nothing")) {
    return show(entry, NULL, 0);
  }
  if (error == NULL) {
    error = TRITONCACHE_Copy(allocator, entry);
  }
  if (error == NULL && does(cache, "copies twice")) {
    error = TRITONCACHE_Copy(allocator, entry);
  }
  return error;
}

/* How large the entry's one buffer is. */
static TRITONSERVER_Error* measure(TRITONCACHE_CacheEntry* entry, size_t* size) {
  TRITONSERVER_BufferAttributes* attributes = NULL;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_GPU;
  void* base = &attributes;
  size_t count = 0;
  TRITONSERVER_Error* error = TRITONCACHE_CacheEntryBufferCount(entry, &count);
  if (error != NULL || count != 1) {
    return error != NULL ? error : wrong(TRITONSERVER_ERROR_INTERNAL, "expected one buffer");
  }
  error = TRITONSERVER_BufferAttributesNew(&attributes);
  if (error == NULL) {
    error = TRITONCACHE_CacheEntryGetBuffer(entry, 0, &base, attributes);
  }
  if (error == NULL) {
    error = TRITONSERVER_BufferAttributesByteSize(attributes, size);
  }
  if (error == NULL) {
    error = TRITONSERVER_BufferAttributesMemoryType(attributes, &type);
  }
  TRITONSERVER_ErrorDelete(TRITONSERVER_BufferAttributesDelete(attributes));
  if (error == NULL && (base != NULL || type != TRITONSERVER_MEMORY_CPU)) {
    error = wrong(TRITONSERVER_ERROR_INTERNAL, "expected no place yet, in the processor's memory");
  }
  return error;
}

TRITONSERVER_Error* TRITONCACHE_CacheInsert(TRITONCACHE_Cache* cache, const char* key,
                                            TRITONCACHE_CacheEntry* entry,
                                            TRITONCACHE_Allocator* allocator) {
  keeper_entry* const kept = find(cache, "");
  size_t size = 0;
  if (does(cache, "fails")) {
    return wrong(TRITONSERVER_ERROR_UNAVAILABLE, "the keeper is away");
  }
  if (find(cache, key) != NULL) {
    return wrong(TRITONSERVER_ERROR_ALREADY_EXISTS, "the key is taken");
  }
  TRITONSERVER_Error* error = measure(entry, &size);
  if (error != NULL || kept == NULL) {
    return error != NULL ? error : wrong(TRITONSERVER_ERROR_UNAVAILABLE, "the keeper is full");
  }
  void* const data = malloc(size);
  if (!does(cache, "forgets the place")) {
    error =
        TRITONCACHE_CacheEntrySetBuffer(entry, does(cache, "counts wrongly") ? 1 : 0, data, NULL);
  }
  if (error == NULL) {
    error = TRITONCACHE_Copy(allocator, entry);
  }
  if (error != NULL) {
    free(data);
    return error;
  }
  pthread_mutex_lock(&mutex);
  strncpy(kept->key, key, sizeof(kept->key) - 1);
  kept->data = data;
  kept->size = size;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

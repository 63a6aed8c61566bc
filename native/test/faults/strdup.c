// strdup for a process under libfiu, whose own asks the loader for the C library's in each thread.
// libfiu calls it with a lock held, for which a thread may wait that loads a library, and so has
// the loader's lock.

#include <string.h>

void* __libc_malloc(size_t bytes);

char* strdup(const char* text) {
  size_t bytes = strlen(text) + 1;
  char* copy = __libc_malloc(bytes);
  return copy ? memcpy(copy, text, bytes) : NULL;
}

/* A shared library that looks like an ONNX Runtime from before API version 15, so that the tests
 * can see it refused: there is no way to install an old one beside the new. */
#include <stddef.h>
#include <stdint.h>

struct ApiBase {
  const void* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)(void);
};

static const void* GetApi(uint32_t version) {
  (void)version;
  return NULL;
}

static const char* GetVersionString(void) { return "1.14.1"; }

__attribute__((visibility("default"))) const struct ApiBase* OrtGetApiBase(void) {
  static const struct ApiBase base = {GetApi, GetVersionString};
  return &base;
}

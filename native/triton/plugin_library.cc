#include "triton/plugin_library.h"

#include <dlfcn.h>

#include <map>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "triton/elf_imports.h"

namespace nereid::triton {

namespace {

// Loaded plug-ins by start address.
struct Loaded {
  Mutex mutex;
  std::map<const void*, const Owner*> owners NRD_GUARDED_BY(mutex);
};

Loaded& TheLoaded() {
  static auto* const loaded = new Loaded;
  return *loaded;
}

std::string LastError() {
  const char* const why = dlerror();
  return why == nullptr ? "dlopen failed" : why;
}

const void* BaseOf(const void* code) {
  Dl_info info;
  return dladdr(code, &info) != 0 ? info.dli_fbase : nullptr;
}

// A handle of this library, so that plug-ins linked against no server find its functions, too.
void* OwnHandle() {
  static void* const handle = [] {
    Dl_info info;
    return dladdr(reinterpret_cast<const void*>(&OwnHandle), &info) != 0
               ? dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD)
               : nullptr;
  }();
  return handle;
}

Status CheckImports(const std::string& path, const Owner& owner) {
  std::vector<std::string> imports;
  NRD_RETURN_IF_ERROR(ReadImports(path, &imports));
  std::string missing;
  for (const std::string& name : imports) {
    if (name.starts_with("TRITON") && dlsym(OwnHandle(), name.c_str()) == nullptr) {
      missing += (missing.empty() ? "" : ", ") + name;
    }
  }
  return missing.empty()
             ? Status()
             : Status(NRD_FAILED_PRECONDITION,
                      owner.name() + " (" + path +
                          ") needs functions that this server does not have: " + missing +
                          "; it was made for another version of Triton");
}

}  // namespace

Status PluginLibrary::Open(const std::string& path, Owner& owner,
                           std::unique_ptr<PluginLibrary>* out) {
  NRD_RETURN_IF_ERROR(CheckImports(path, owner));
  const OwnerScope scope(owner);  // its constructors run now
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::string why = handle == nullptr ? LastError() : "";
  // Triton's server is linked with OpenSSL; some plug-ins use it without declaring it.
  if (handle == nullptr && why.find("undefined symbol") != std::string::npos &&
      dlopen("libcrypto.so.3", RTLD_NOW | RTLD_GLOBAL) != nullptr) {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    why = handle == nullptr ? LastError() : "";
  }
  if (handle == nullptr) {
    return Status(NRD_FAILED_PRECONDITION, owner.name() + ": " + why);
  }
  // Any of the functions tells where the library begins; a library without any is skipped.
  const void* base = nullptr;
  for (const char* const name : {"TRITONBACKEND_ModelInstanceExecute", "TRITONCACHE_CacheInsert",
                                 "TRITONREPOAGENT_ModelAction"}) {
    if (const void* const code = dlsym(handle, name); code != nullptr) {
      base = BaseOf(code);
    }
  }
  out->reset(new PluginLibrary(handle, base));
  Loaded& loaded = TheLoaded();
  const MutexLock lock(loaded.mutex);
  loaded.owners[base] = &owner;
  return Status();
}

PluginLibrary::~PluginLibrary() {
  {
    Loaded& loaded = TheLoaded();
    const MutexLock lock(loaded.mutex);
    loaded.owners.erase(base_);
  }
  if (handle_ != nullptr) {
    dlclose(handle_);
  }
}

void* PluginLibrary::Address(const char* name) const { return dlsym(handle_, name); }

std::string PluginLibrary::NameAt(const void* code) {
  Dl_info info;
  if (dladdr(code, &info) == 0) {
    return "a plug-in";
  }
  Loaded& loaded = TheLoaded();
  const MutexLock lock(loaded.mutex);
  const auto found = loaded.owners.find(info.dli_fbase);
  if (found != loaded.owners.end()) {
    return found->second->name();
  }
  const std::string_view path(info.dli_fname);
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace nereid::triton

// The shared library of a plug-in.
#ifndef NEREID_TRITON_PLUGIN_LIBRARY_H_
#define NEREID_TRITON_PLUGIN_LIBRARY_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "triton/handle.h"

namespace nereid::triton {

class PluginLibrary {
 public:
  // Loads `path` for `owner`. NRD_FAILED_PRECONDITION names the Triton functions that it needs and
  // this library lacks, before any of its code has run.
  static Status Open(const std::string& path, Owner& owner, std::unique_ptr<PluginLibrary>* out);
  ~PluginLibrary();
  PluginLibrary(const PluginLibrary&) = delete;
  PluginLibrary& operator=(const PluginLibrary&) = delete;

  // Looks up a function of the plug-in: null if it is missing.
  template <typename Function>
  void Take(const char* name, Function* function) const {
    *function = reinterpret_cast<Function>(Address(name));
  }

  // Keeps the library loaded after this is deleted: other code may still call it.
  void Keep() { handle_ = nullptr; }

  // The name of the plug-in that owns the code: "backend 'python'", or the file's name.
  static std::string NameAt(const void* code);

 private:
  PluginLibrary(void* handle, const void* base) : handle_(handle), base_(base) {}
  void* Address(const char* name) const;

  void* handle_;  // null: the library is kept
  const void* const base_;
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_PLUGIN_LIBRARY_H_

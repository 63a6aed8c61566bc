#include "isolation/child/java_backend.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace nereid {
namespace {

constexpr char kClass[] = "io/nereid/internal/model/ChildModel";
constexpr char kMethod[] = "start";

constexpr int kBackendBroken = 71;  // exit status of the process

// The part of the Java Native Interface that is needed: tables of functions by number, as
// specified, so that building needs no header of a JDK.
constexpr int32_t kVersion = 0x000a0000;
constexpr int kFindClass = 6;
constexpr int kExceptionDescribe = 16;
constexpr int kGetStaticMethod = 113;
constexpr int kCallStaticLongMethod = 134;
constexpr int kDetachCurrentThread = 5;

struct Table {
  void* const* functions;
};

struct JvmOption {
  char* text;
  void* extra;
};

struct JvmArguments {
  int32_t version;
  int32_t option_count;
  JvmOption* options;
  uint8_t ignores_unknown;
};

// A value of Java, passed in arrays.
union Value {
  int64_t number;
  void* object;
};

template <typename Result, typename... Arguments>
Result Call(Table* table, int function, Arguments... arguments) {
  using Function = Result (*)(Table*, Arguments...);
  return reinterpret_cast<Function>(table->functions[function])(table, arguments...);
}

struct Jvm {
  Mutex mutex;
  const nrd_backend* table NRD_GUARDED_BY(mutex) = nullptr;
};

void* core = nullptr;
thread_local std::string told;  // text from the model that is opened on this thread

// Finds a function of the C ABI: the child's own, else the core's.
void* Find(const char* name) {
  void* const own = dlsym(RTLD_DEFAULT, name);
  return own != nullptr ? own : dlsym(core, name);
}

Status Failed(const std::string& what) {
  return Status(NRD_FAILED_PRECONDITION, "the process of an isolated model " + what);
}

// Gets the address of an nrd_backend that Java has filled in.
Status CallJava(Table* environment, const nrd_backend** table_out) {
  void* const type = Call<void*>(environment, kFindClass, kClass);
  void* const method =
      type == nullptr ? nullptr : Call<void*>(environment, kGetStaticMethod, type, kMethod, "(J)J");
  if (method != nullptr) {
    const Value find{.number = reinterpret_cast<int64_t>(&Find)};
    *table_out = reinterpret_cast<const nrd_backend*>(
        Call<int64_t>(environment, kCallStaticLongMethod, type, method, &find));
  }
  Call<void>(environment, kExceptionDescribe);
  return method != nullptr && *table_out != nullptr
             ? Status()
             : Failed("cannot start Nereid in its JVM; the log has the exception");
}

Status StartJvm(const nrd_model_options& options, const nrd_backend** table_out) {
  void* library = nullptr;
  NRD_RETURN_IF_ERROR(OpenLibrary(ParameterOf(options, "isolation.core"), &core));
  NRD_RETURN_IF_ERROR(OpenLibrary(ParameterOf(options, "isolation.jvm"), &library));
  const auto create = reinterpret_cast<int32_t (*)(Table**, Table**, JvmArguments*)>(
      dlsym(library, "JNI_CreateJavaVM"));
  if (create == nullptr) {
    return Failed("has a libjvm.so that makes no JVM");
  }
  std::string text(ParameterOf(options, "isolation.jvm_options"));
  std::vector<JvmOption> made;
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    text[end] = '\0';
    made.push_back({text.data() + begin, nullptr});
  }
  JvmArguments arguments{.version = kVersion,
                         .option_count = static_cast<int32_t>(made.size()),
                         .options = made.data(),
                         .ignores_unknown = 0};
  Table* jvm = nullptr;
  Table* environment = nullptr;
  const int32_t code = create(&jvm, &environment, &arguments);
  if (code != 0) {
    return Failed("cannot start a JVM, which answers " + std::to_string(code) +
                  "; the log has the reason");
  }
  Status status = CallJava(environment, table_out);
  Call<int32_t>(jvm, kDetachCurrentThread);
  return status;
}

}  // namespace

Status JavaBackend(const nrd_model_options& options, ChildBackend* backend_out) {
  static auto* const jvm = new Jvm;
  const MutexLock lock(jvm->mutex);
  if (jvm->table == nullptr) {
    const nrd_backend* table = nullptr;
    Status status;
    // On another thread, since Java should not run on the stack of a process' first thread.
    std::thread([&] { status = StartJvm(options, &table); }).join();
    NRD_RETURN_IF_ERROR(std::move(status));
    jvm->table = table;
  }
  backend_out->table = *jvm->table;
  backend_out->completed = &told;
  return Status();
}

}  // namespace nereid

extern "C" {

void nrd_child_told(const char* text, uint64_t size);

// Called from Java while it opens a model, with the facts for the parent. ChildUpcalls finds the
// function by its name.
void nrd_child_told(const char* text, uint64_t size) { nereid::told.assign(text, size); }

[[noreturn]] void nrd_child_give_up(const char* text, uint64_t size);

// Called from Java when a backend cannot go on in this process. A library's exit handlers might
// wait for the device that failed, so none of them runs.
void nrd_child_give_up(const char* text, uint64_t size) {
  std::fprintf(stderr, "the backend cannot go on in this process: %.*s\n", static_cast<int>(size),
               text);
  std::_Exit(nereid::kBackendBroken);
}

}  // extern "C"

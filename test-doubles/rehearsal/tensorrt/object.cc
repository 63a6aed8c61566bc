#include "object.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include "codes.h"
#include "faults.h"
#include "handles.h"
#include "value.h"

namespace rehearsal::trt {

void Missing(const char* interface_name, const char* function) {
  std::fprintf(stderr,
               "The rehearsal lacks %s::%s: test-doubles/rehearsal/README.md says how to add it.\n",
               interface_name, function);
  std::abort();
}

void Log::Say(Severity severity, const std::string& message) const {
  if (logger_ != nullptr) {
    logger_->log(severity, message.c_str());
  }
}

Life::Life(const void* handle, const char* kind, const char* call, Life* maker)
    : handle_(handle), kind_(kind), maker_(maker) {
  handles::Open(handle, kind, call);
  if (maker_ != nullptr) {
    ++maker_->made_;
  }
}

bool Life::IsAlive(const char* call) const { return handles::Check(handle_, kind_, call); }

bool Life::End(const char* call) {
  if (!handles::Close(handle_, kind_, call)) {
    return false;
  }
  if (made_ > 0) {
    handles::Misuse(std::string(call) + ": the " + kind_ + " is deleted before " +
                    std::to_string(made_) + " of what it made");
  }
  if (maker_ != nullptr) {
    --maker_->made_;
  }
  return true;
}

bool Begin(const Log& log, const char* call) {
  int code = faults::Check(call);
  if (code != 0) {
    log.Error(TextOfCode(call, code));
  }
  return code == 0;
}

bool Begin(const Life& life, const Log& log, const char* call) {
  return life.IsAlive(call) && Begin(log, call);
}

std::string TextOfCode(const char* call, int code) {
  const CodeText* text = TextOf(code);
  return std::string(call) + ": Error Code 1: Cuda Runtime (" +
         (text == nullptr ? "code " + std::to_string(code) : text->text) + ")";
}

void LogException(const Log& log, const char* call) {
  try {
    throw;
  } catch (const Refusal& e) {
    log.Error(std::string(call) + ": Error Code 4: " + e.what());
  } catch (const std::bad_alloc&) {
    log.Error(std::string(call) + ": Error Code 2: out of memory of the processor");
  } catch (const std::exception& e) {
    log.Error(std::string(call) + ": Error Code 2: " + e.what());
  }
}

void Bury(const void* object) {
  static std::mutex mutex;
  static auto* buried = new std::vector<const void*>();  // reachable to the end of the process
  std::lock_guard<std::mutex> lock(mutex);
  buried->push_back(object);
}

}  // namespace rehearsal::trt

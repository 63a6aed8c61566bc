// Holds what a stand-in says against what NVIDIA's own library says, as far as that needs no
// device: against OURS THEIRS, both paths of one library. What differs is printed, and the exit
// status is 1.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kMostCode = 1000;

int compared = 0;
int differences = 0;

void* Opened(const char* path) {
  void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "against: %s\n", dlerror());
    std::exit(2);
  }
  return library;
}

// A function by its name; null: the library has none.
template <typename Function>
Function Find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

void Compare(const char* what, int code, const char* ours, const char* theirs) {
  ++compared;
  if (std::strcmp(ours, theirs) != 0) {
    std::printf("%s of %d: '%s' here, '%s' there\n", what, code, ours, theirs);
    ++differences;
  }
}

void CompareNumbers(const char* what, int ours, int theirs) {
  ++compared;
  if (ours != theirs) {
    std::printf("%s: %d here, %d there\n", what, ours, theirs);
    ++differences;
  }
}

// Texts of the driver, for codes that the stand-in knows.
void CompareDriverTexts(void* ours, void* theirs, const char* name) {
  using Text = int (*)(int, const char**);
  const auto here = Find<Text>(ours, name);
  const auto there = Find<Text>(theirs, name);
  if (here == nullptr || there == nullptr) {
    return;
  }
  for (int code = 0; code < kMostCode; ++code) {
    const char* mine = nullptr;
    const char* real = nullptr;
    if (here(code, &mine) == 0) {
      CompareNumbers(name, 0, there(code, &real));
      Compare(name, code, mine, real == nullptr ? "" : real);
    }
  }
}

// Texts of the runtime and of the management library.
void CompareTexts(void* ours, void* theirs, const char* name) {
  using Text = const char* (*)(int);
  const auto here = Find<Text>(ours, name);
  const auto there = Find<Text>(theirs, name);
  if (here == nullptr || there == nullptr) {
    return;
  }
  const char* const unknown = here(kMostCode - 2);
  for (int code = 0; code < kMostCode; ++code) {
    if (std::strcmp(here(code), unknown) != 0) {
      Compare(name, code, here(code), there(code));
    }
  }
  Compare(name, kMostCode - 2, unknown, there(kMostCode - 2));
}

struct Answer {
  const char* call;
  int code;
};

// What calls answer before the library was started, and at last how its start goes.
std::vector<Answer> AnswersOf(void* library) {
  int number;
  void* pointer;
  if (const auto count = Find<int (*)(int*)>(library, "cuDeviceGetCount")) {
    return {{"cuDeviceGetCount", count(&number)},
            {"cuCtxSetCurrent", Find<int (*)(void*)>(library, "cuCtxSetCurrent")(nullptr)},
            {"cuCtxPopCurrent", Find<int (*)(void**)>(library, "cuCtxPopCurrent_v2")(&pointer)},
            {"cuInit", Find<int (*)(unsigned)>(library, "cuInit")(0)}};
  }
  if (const auto count = Find<int (*)(int*)>(library, "nvmlDeviceGetCount_v2")) {
    return {{"nvmlDeviceGetCount", count(&number)},
            {"nvmlInit", Find<int (*)()>(library, "nvmlInit_v2")()}};
  }
  return {};
}

void CompareAnswers(void* ours, void* theirs) {
  const std::vector<Answer> here = AnswersOf(ours);
  const std::vector<Answer> there = AnswersOf(theirs);
  if (there.empty() || there.back().code == 0) {
    return;  // there is a device, and here is none
  }
  for (std::size_t i = 0; i < here.size(); ++i) {
    CompareNumbers(here[i].call, here[i].code, there[i].code);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "against: expected two paths\n");
    return 2;
  }
  // As on the machine of theirs, which has no device. Before anything of the stand-ins is called.
  setenv("REHEARSAL_DEVICES", "0", 1);
  void* const ours = Opened(arguments[1]);
  void* const theirs = Opened(arguments[2]);
  CompareDriverTexts(ours, theirs, "cuGetErrorName");
  CompareDriverTexts(ours, theirs, "cuGetErrorString");
  CompareTexts(ours, theirs, "cudaGetErrorName");
  CompareTexts(ours, theirs, "cudaGetErrorString");
  CompareTexts(ours, theirs, "nvmlErrorString");
  CompareAnswers(ours, theirs);
  std::printf("%d codes and texts held against %s\n", compared, arguments[2]);
  return differences == 0 ? 0 : 1;
}

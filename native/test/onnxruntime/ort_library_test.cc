// Tests of libraries that the backend must refuse. The onnxruntime_ tests cover the right one.
#include "onnxruntime/ort_library.h"

#include <string>
#include <vector>

#include "doctest/doctest.h"

namespace nereid::test {
namespace {

Status Load(const std::string& path) {
  const OrtLibrary* library = nullptr;
  Status status = OrtLibrary::Load(path, 1, &library);
  CHECK(library == nullptr);
  CHECK(status.code() == NRD_FAILED_PRECONDITION);
  CHECK(status.message().find(path) != std::string_view::npos);
  return status;
}

bool Says(const Status& status, std::string_view text) {
  return status.message().find(text) != std::string_view::npos;
}

}  // namespace

TEST_CASE("a library that is not there") {
  const Status status = Load("/no/such/libonnxruntime.so");
  CHECK(Says(status, "cannot load the ONNX Runtime library"));
  CHECK(Says(status, "No such file or directory"));
}

TEST_CASE("a file that is no library") { CHECK(Says(Load(__FILE__), "cannot load")); }

TEST_CASE("a library that is not ONNX Runtime") {
  CHECK(Says(Load("libm.so.6"), "is not an ONNX Runtime library: it has no OrtGetApiBase"));
}

TEST_CASE("an ONNX Runtime that is too old") {
  CHECK(Says(Load(NEREID_OLD_ONNXRUNTIME_PATH), "is too old, 1.15 or newer is needed"));
}

TEST_CASE("functions that only newer libraries have are null without their table") {
  const std::vector<void (*)()> table(400, [] {});
  const OrtFunctions older = BindOrtFunctions(table.data(), nullptr);
  CHECK((older.CreateAllocator != nullptr));
  CHECK((older.AllocatorGetStats == nullptr));
  CHECK((older.GetKeyValue == nullptr));
  CHECK((older.ReleaseKeyValuePairs == nullptr));
  CHECK((BindOrtFunctions(table.data(), table.data()).AllocatorGetStats != nullptr));
}

}  // namespace nereid::test

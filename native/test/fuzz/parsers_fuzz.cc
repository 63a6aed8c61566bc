// Fuzzes the parsers of foreign bytes; the first byte chooses the parser. They read a client's
// BYTES and shapes, a child's description of its model, messages between an isolated model and its
// child, and plug-in files.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "isolation/options_message.h"
#include "isolation/request_message.h"
#include "triton/elf_imports.h"

namespace nereid {
namespace {

void Expect(bool holds) {
  if (!holds) {
    std::abort();
  }
}

// A BYTES tensor is whole exactly when its elements end at its end.
void ReadStrings(std::string_view body) {
  MessageReader reader(body);
  const uint64_t count = reader.Get<uint16_t>();
  const std::string_view data = reader.ok() ? body.substr(sizeof(uint16_t)) : std::string_view();
  uint64_t skipped = 0;
  const bool ends = SkipBytesElements(data.data(), data.size(), count, &skipped);
  Expect(ValidateBytes(data.data(), data.size(), count, "X").ok() ==
         (ends && skipped == data.size()));
}

// The products equal those of unbounded arithmetic.
void ReadShape(std::string_view body) {
  MessageReader reader(body);
  const auto datatype = reader.Get<int32_t>();
  const auto rank = reader.Get<uint32_t>();
  int64_t shape[NRD_MAX_RANK];
  std::generate_n(shape, NRD_MAX_RANK, [&] { return reader.Get<int64_t>(); });
  uint64_t count = 0;
  uint64_t byte_size = 0;
  const bool counted = ElementCount(rank, shape, &count).ok();
  const bool sized = TensorByteSize(datatype, rank, shape, &byte_size).ok();
  Expect(counted || !sized);
  if (rank > NRD_MAX_RANK) {
    Expect(!counted);
    return;
  }
  const bool negative = std::any_of(shape, shape + rank, [](int64_t dim) { return dim < 0; });
  const bool empty = std::find(shape, shape + rank, 0) != shape + rank;
  unsigned __int128 product = empty ? 0 : 1;
  for (uint32_t i = 0; !negative && i < rank && product <= INT64_MAX; ++i) {
    product *= static_cast<uint64_t>(shape[i]);
  }
  Expect(counted == (!negative && product <= INT64_MAX));
  Expect(!counted || count == product);
  Expect(!sized || byte_size == product * DataTypeByteSize(datatype));
}

void ReadDescription(std::string_view body) {
  MessageReader reader(body);
  std::vector<nrd_tensor_spec> specs(reader.GetCount(sizeof(uint64_t)));
  MessageWriter writer;
  for (nrd_tensor_spec& spec : specs) {
    spec = ReadSpec(&reader);
    WriteSpec(spec, &writer);
  }
}

// A message that was read is the same after it is written and read again.
void ReadModel(std::string_view body) {
  ReadOptions first;
  if (!first.Read(body).ok()) {
    return;
  }
  MessageWriter once;
  WriteOptions(first.options(), &once);
  ReadOptions second;
  Expect(second.Read(once.bytes()).ok());
  MessageWriter twice;
  WriteOptions(second.options(), &twice);
  Expect(once.bytes() == twice.bytes());
}

void ReadAnyRequest(std::string_view body) {
  nrd_request request;
  std::vector<nrd_value> values;
  if (!ReadRequest(body, &request, &values)) {
    return;
  }
  MessageWriter once;
  WriteRequest(request, &once);
  nrd_request second;
  std::vector<nrd_value> other_values;
  Expect(ReadRequest(once.bytes(), &second, &other_values));
  MessageWriter twice;
  WriteRequest(second, &twice);
  Expect(once.bytes() == twice.bytes());
}

void ReadPlugin(std::string_view body) {
  static const int file = memfd_create("plugin", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  Expect(ftruncate(file, 0) == 0);
  Expect(pwrite(file, body.data(), body.size(), 0) == static_cast<ssize_t>(body.size()));
  std::vector<std::string> names;
  (void)triton::ReadImports(path, &names);
}

}  // namespace
}  // namespace nereid

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr void (*kParsers[])(std::string_view) = {nereid::ReadStrings,     nereid::ReadShape,
                                                    nereid::ReadDescription, nereid::ReadModel,
                                                    nereid::ReadAnyRequest,  nereid::ReadPlugin};
  if (size > 0) {
    kParsers[data[0] % std::size(kParsers)]({reinterpret_cast<const char*>(data) + 1, size - 1});
  }
  return 0;
}

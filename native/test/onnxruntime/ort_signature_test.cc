// Tests of configurations against an ONNX file's signature; they do not need the library.
#include "onnxruntime/ort_signature.h"

#include "doctest/doctest.h"

namespace nereid::test {
namespace {

OnnxTensor Tensor(std::string name, int32_t datatype, std::vector<int64_t> dims,
                  std::vector<std::string> names = {}) {
  OnnxTensor tensor;
  tensor.name = std::move(name);
  tensor.datatype = datatype;
  names.resize(dims.size());
  tensor.dims = std::move(dims);
  tensor.dim_names = std::move(names);
  return tensor;
}

TensorSpec Spec(std::string name, std::vector<int64_t> dims, int32_t datatype = NRD_TYPE_FP32) {
  return {std::move(name), datatype, false, std::move(dims)};
}

// A model "in" → "out" whose output fits in all cases.
Status Check(int64_t max_batch_size, TensorSpec input, OnnxTensor own) {
  ModelConfig config;
  config.max_batch_size = max_batch_size;
  config.inputs = {std::move(input)};
  config.outputs = {Spec("out", {2})};
  const OnnxTensor output = max_batch_size > 0 ? Tensor("out", NRD_TYPE_FP32, {-1, 2})
                                               : Tensor("out", NRD_TYPE_FP32, {2});
  return CheckSignature(config, {{std::move(own)}, {output}});
}

bool Says(const Status& status, std::string_view text) {
  return status.code() == NRD_INVALID_ARGUMENT &&
         status.message().find(text) != std::string_view::npos;
}

}  // namespace

TEST_CASE("dims fit when each free dimension of the file takes any size") {
  CHECK(Check(8, Spec("in", {16}), Tensor("in", NRD_TYPE_FP32, {-1, 16})).ok());
  CHECK(Check(8, Spec("in", {16}), Tensor("in", NRD_TYPE_FP32, {-1, -1})).ok());
  CHECK(Check(8, Spec("in", {-1, 3}), Tensor("in", NRD_TYPE_FP32, {-1, -1, 3})).ok());
  CHECK(Check(0, Spec("in", {4, 3}), Tensor("in", NRD_TYPE_FP32, {4, 3})).ok());
  CHECK(Check(0, Spec("in", {}), Tensor("in", NRD_TYPE_FP32, {})).ok());
  CHECK(Check(1, Spec("in", {3}), Tensor("in", NRD_TYPE_FP32, {1, 3})).ok());
}

TEST_CASE("a file that tells no shape is taken as it is") {
  CHECK(Check(8, Spec("in", {16}), Tensor("in", NRD_TYPE_FP32, {})).ok());
  CHECK(Check(0, Spec("in", {4, 3}), Tensor("in", NRD_TYPE_FP32, {})).ok());
}

TEST_CASE("dims that do not fit: the message shows both and what to write") {
  Status status = Check(8, Spec("in", {12}), Tensor("in", NRD_TYPE_FP32, {-1, 16}, {"batch", ""}));
  CHECK(status.message() ==
        "input 'in' is configured with dims [ 12 ] after the batch dimension (max_batch_size is "
        "8), but the ONNX file has [ batch, 16 ]: set dims: [ 16 ], which leave out the batch "
        "dimension");
  status = Check(8, Spec("in", {-1, 16}), Tensor("in", NRD_TYPE_FP32, {-1, 16}));
  CHECK(Says(status, "set dims: [ 16 ], which leave out the batch dimension"));
  status = Check(8, Spec("in", {-1}), Tensor("in", NRD_TYPE_FP32, {-1, 16}));
  CHECK(Says(status, "set dims: [ 16 ]"));
  status = Check(0, Spec("in", {16}), Tensor("in", NRD_TYPE_FP32, {-1, 16}));
  CHECK(Says(status, "and no batch dimension (max_batch_size is 0)"));
  CHECK(Says(status, "set dims: [ -1, 16 ], or max_batch_size to 1 or more"));
  status = Check(0, Spec("in", {7}), Tensor("in", NRD_TYPE_FP32, {-1, 16}));
  CHECK(Says(status, "set dims: [ -1, 16 ]"));
  CHECK_FALSE(Says(status, "max_batch_size to 1"));
}

TEST_CASE("a file whose first dimension is a number cannot take batches") {
  for (const int64_t max_batch_size : {1, 8}) {
    const Status status =
        Check(max_batch_size, Spec("in", {3}), Tensor("in", NRD_TYPE_FP32, {4, 3}));
    CHECK(Says(status,
               "set max_batch_size: 0 and dims: [ 4, 3 ], or export the model with a "
               "dynamic first dimension"));
  }
  CHECK(Says(Check(2, Spec("in", {3}), Tensor("in", NRD_TYPE_FP32, {1, 3})),
             "set max_batch_size: 0"));
}

TEST_CASE("a file is compared with the reshape where there is one") {
  TensorSpec reshaped = Spec("in", {16});
  reshaped.reshape = {4, 4};
  CHECK(Check(8, reshaped, Tensor("in", NRD_TYPE_FP32, {-1, 4, 4})).ok());
  CHECK(Check(0, reshaped, Tensor("in", NRD_TYPE_FP32, {4, -1})).ok());
  const Status status = Check(8, reshaped, Tensor("in", NRD_TYPE_FP32, {-1, 16}));
  CHECK(status.message() ==
        "input 'in' is configured with reshape [ 4, 4 ] after the batch dimension (max_batch_size "
        "is 8), but the ONNX file has [ -1, 16 ]: set reshape: { shape: [ 16 ] }, which leave out "
        "the batch dimension");
  TensorSpec scalar = Spec("in", {1});
  scalar.reshape.emplace();
  CHECK(Check(8, scalar, Tensor("in", NRD_TYPE_FP32, {-1})).ok());
  CHECK(Check(0, scalar, Tensor("in", NRD_TYPE_FP32, {})).ok());
  CHECK(
      Says(Check(8, scalar, Tensor("in", NRD_TYPE_FP32, {-1, 1})), "configured with reshape [ ]"));
}

TEST_CASE("datatypes are named as in config.pbtxt") {
  CHECK(Says(Check(8, Spec("in", {1}), Tensor("in", NRD_TYPE_BYTES, {-1, 1})),
             "configured as TYPE_FP32, but the ONNX file has BYTES: set data_type: TYPE_STRING"));
  CHECK(Check(8, Spec("in", {1}), Tensor("in", NRD_TYPE_INVALID, {-1, 1})).code() ==
        NRD_UNIMPLEMENTED);
}

TEST_CASE("a ragged input has one free dimension in the file, whatever requests have") {
  TensorSpec ragged = Spec("in", {-1, 3});
  ragged.ragged = true;
  CHECK(Check(8, ragged, Tensor("in", NRD_TYPE_FP32, {-1})).ok());
  CHECK(Check(0, ragged, Tensor("in", NRD_TYPE_FP32, {-1})).ok());
  CHECK(Check(8, ragged, Tensor("in", NRD_TYPE_FP32, {})).ok());
  CHECK_FALSE(Check(8, ragged, Tensor("in", NRD_TYPE_FP32, {7})).ok());
  CHECK(Check(8, ragged, Tensor("in", NRD_TYPE_FP32, {-1, -1, 3}, {"batch", "", ""})).message() ==
        "input 'in' is configured with allow_ragged_batch, for which the ONNX file must have dims "
        "[ -1 ], but it has [ batch, -1, 3 ]: remove allow_ragged_batch, or export the model with "
        "one free dimension");
}

TEST_CASE("an input that the core makes must be taken as it is made") {
  TensorSpec hidden = Spec("in", {});
  hidden.hidden = true;
  CHECK(Check(8, hidden, Tensor("in", NRD_TYPE_FP32, {-1})).ok());
  CHECK(Check(1, hidden, Tensor("in", NRD_TYPE_FP32, {1})).ok());
  CHECK(Check(8, hidden, Tensor("in", NRD_TYPE_FP32, {4})).message() ==
        "input 'in' is made with dims [ -1 ], but the ONNX file has [ 4 ]");
  hidden.dims = {2};
  CHECK(Check(8, hidden, Tensor("in", NRD_TYPE_FP32, {-1, -1})).ok());
  CHECK_FALSE(Check(8, hidden, Tensor("in", NRD_TYPE_FP32, {-1, 3})).ok());
}

TEST_CASE("what is shared out by shapes may have any in the file") {
  ModelConfig config;
  config.max_batch_size = 8;
  config.inputs = {Spec("in", {2})};
  config.outputs = {Spec("out", {-1, 2})};
  const OnnxSignature signature{{Tensor("in", NRD_TYPE_FP32, {-1, 2})},
                                {Tensor("out", NRD_TYPE_FP32, {-1})}};
  CHECK_FALSE(CheckSignature(config, signature).ok());
  config.outputs[0].scattered_by = 0;
  CHECK(CheckSignature(config, signature).ok());
}

TEST_CASE("names on both sides must meet") {
  CHECK(Says(Check(8, Spec("wrong", {1}), Tensor("in", NRD_TYPE_FP32, {-1, 1})),
             "input 'wrong' is configured, but the ONNX file has no such input: it has 'in'"));
  ModelConfig config;
  config.inputs = {Spec("a", {1})};
  config.outputs = {Spec("out", {1})};
  OnnxSignature signature{
      {Tensor("a", NRD_TYPE_FP32, {1}), Tensor("b", NRD_TYPE_INT64, {-1, 2}, {"rows", ""})},
      {Tensor("out", NRD_TYPE_FP32, {1}), Tensor("unused", NRD_TYPE_FP32, {1})}};
  CHECK(Says(CheckSignature(config, signature),
             "needs input 'b', which is not configured: add it with data_type: TYPE_INT64 for "
             "dims [ rows, 2 ]"));
  signature.inputs[1].has_default = true;
  CHECK(CheckSignature(config, signature).ok());
}

TEST_CASE("only an input with a default value may be optional") {
  ModelConfig config;
  config.inputs = {Spec("a", {1})};
  config.inputs[0].optional = true;
  config.outputs = {Spec("out", {1})};
  OnnxSignature signature{{Tensor("a", NRD_TYPE_FP32, {1})}, {Tensor("out", NRD_TYPE_FP32, {1})}};
  CHECK(Says(CheckSignature(config, signature), "remove optional: true"));
  signature.inputs[0].has_default = true;
  CHECK(CheckSignature(config, signature).ok());
}

TEST_CASE("every datatype of the protocol has its element type, and back") {
  for (int32_t datatype = NRD_TYPE_BOOL; datatype <= NRD_TYPE_BF16; ++datatype) {
    CHECK(ElementTypeOf(datatype) != OrtElementType::kUndefined);
    CHECK(DataTypeOf(ElementTypeOf(datatype)) == datatype);
  }
  CHECK(DataTypeOf(OrtElementType::kComplex64) == NRD_TYPE_INVALID);
}

}  // namespace nereid::test

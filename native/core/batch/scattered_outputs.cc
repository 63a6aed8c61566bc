#include "core/batch/scattered_outputs.h"

#include <string>

#include "base/tensor.h"
#include "core/request/reshape.h"
#include "memory/buffer_pool.h"

namespace nereid {
namespace {

Status CheckScattered(const ModelConfig& config, const nrd_scattered_output& scattered) {
  if (scattered.output >= config.visible_outputs || scattered.source >= config.visible_inputs) {
    return Status::InvalidArgument("scattered output " + std::to_string(scattered.output) +
                                   " of source " + std::to_string(scattered.source) +
                                   ": the model has " + std::to_string(config.visible_outputs) +
                                   " outputs and " + std::to_string(config.visible_inputs) +
                                   " inputs that requests have");
  }
  const TensorSpec& output = config.outputs[scattered.output];
  const TensorSpec& source = config.inputs[scattered.source];
  const std::string what = "batch output '" + output.name + "'";
  if (scattered.kind != NRD_SCATTER_WITH_INPUT_SHAPE) {
    return Status::InvalidArgument(what + " has unknown kind " + std::to_string(scattered.kind));
  }
  if (output.scattered_by) {
    return Status::InvalidArgument(what + " is there twice");
  }
  if (source.optional) {
    return Status::InvalidArgument(
        what + " has source '" + source.name +
        "', which is optional: expected an input that every request has");
  }
  const std::vector<int64_t>& dims = output.BackendDims();
  for (size_t i = source.BackendDims().size(); i < dims.size(); ++i) {
    if (dims[i] == -1) {
      return Status::InvalidArgument(what + " has a free dimension at place " + std::to_string(i) +
                                     ", where its source '" + source.name + "' has none");
    }
  }
  return Status();
}

// Writes the shape of the request's part: free dimensions of the output get the source's sizes.
void DescribePart(const ModelConfig& config, const Request& request, const TensorSpec& spec,
                  nrd_tensor* part) {
  const uint32_t offset = config.batched() ? 1 : 0;
  nrd_tensor source = request.record.inputs[*spec.scattered_by];
  ToBackendShape(config.inputs[*spec.scattered_by], config.batched(), &source);
  const std::vector<int64_t>& dims = spec.BackendDims();
  part->rank = static_cast<uint32_t>(dims.size()) + offset;
  part->shape[0] = request.rows;
  for (size_t i = 0; i < dims.size(); ++i) {
    part->shape[i + offset] = dims[i] == -1 ? source.shape[i + offset] : dims[i];
  }
}

}  // namespace

Status ReadScatteredOutputs(const nrd_model_options& options, ModelConfig* config) {
  for (uint32_t i = 0; i < options.scattered_output_count; ++i) {
    const nrd_scattered_output& scattered = options.scattered_outputs[i];
    NRD_RETURN_IF_ERROR(CheckScattered(*config, scattered));
    config->outputs[scattered.output].scattered_by = scattered.source;
    config->scatters = true;
  }
  return Status();
}

Status SliceByShape(const ModelConfig& config, const nrd_tensor& whole, Request& request,
                    uint32_t index, uint64_t* byte_offset) {
  const TensorSpec& spec = config.outputs[index];
  nrd_tensor part{};
  DescribePart(config, request, spec, &part);
  const uint64_t rest = whole.byte_size - *byte_offset;
  uint64_t count = 0;
  NRD_RETURN_IF_ERROR(ElementCount(part.rank, part.shape, &count, "output"));
  const char* const begin = static_cast<const char*>(whole.data) + *byte_offset;
  bool enough = true;
  if (spec.datatype == NRD_TYPE_BYTES) {
    enough = SkipBytesElements(begin, rest, count, &part.byte_size);
  } else {
    enough = count <= rest / DataTypeByteSize(spec.datatype);
    part.byte_size = count * DataTypeByteSize(spec.datatype);
  }
  if (!enough) {
    return Status::Internal("backend produced shape " + ShapeToString(whole.rank, whole.shape) +
                            " for output '" + spec.name + "' of model '" + config.name +
                            "', which has too few elements for the shapes of input '" +
                            config.inputs[*spec.scattered_by].name + "'");
  }
  *byte_offset += part.byte_size;
  nrd_tensor& output = request.record.outputs[index];
  if (!IsSelected(output) || output.data != nullptr) {
    return Status();  // not wanted, or made for this request alone
  }
  ToClientShape(spec, config.batched(), &part);
  part.data = const_cast<char*>(begin);
  part.datatype = whole.datatype;
  part.flags = output.flags;
  part.slab = whole.slab;
  BufferPool::Retain(part.slab);
  output = part;
  return Status();
}

}  // namespace nereid

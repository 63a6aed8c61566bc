#include "core/config/model_config.h"

#include "base/status.h"

namespace nereid {
namespace {

void WriteDims(const std::vector<int64_t>& dims, uint32_t* rank_out, int64_t* dims_out) {
  *rank_out = static_cast<uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), dims_out);
}

}  // namespace

void TensorSpec::Write(nrd_tensor_spec* spec_out) const {
  *spec_out = nrd_tensor_spec{};
  spec_out->name = AsNrdString(name);
  spec_out->datatype = datatype;
  spec_out->flags =
      (optional ? uint32_t{NRD_SPEC_OPTIONAL} : 0U) | (reshape ? uint32_t{NRD_SPEC_RESHAPE} : 0U) |
      (ragged ? uint32_t{NRD_SPEC_RAGGED} : 0U) | (hidden ? uint32_t{NRD_SPEC_HIDDEN} : 0U);
  WriteDims(dims, &spec_out->rank, spec_out->dims);
  if (reshape) {
    WriteDims(*reshape, &spec_out->reshape_rank, spec_out->reshape);
  }
}

}  // namespace nereid

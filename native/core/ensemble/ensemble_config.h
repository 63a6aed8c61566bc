// The graph of an ensemble: its models, and the tensors that go from one to the next.
#ifndef NEREID_CORE_ENSEMBLE_ENSEMBLE_CONFIG_H_
#define NEREID_CORE_ENSEMBLE_ENSEMBLE_CONFIG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "core/config/model_config.h"
#include "nereid/nereid.h"

namespace nereid {

class Model;
class Runtime;

// The change of a tensor's batch dimension on its way between a model that batches and one that
// does not. A tensor that fits is not changed.
enum class BatchDimension : uint8_t {
  kKept,     // both have one, or neither
  kAdded,    // a tensor becomes a batch of one
  kDropped,  // a batch of one becomes a tensor
};

struct EnsembleStep {
  struct Input {
    uint32_t position;
    uint32_t value;
    bool required;  // by the step's model
    BatchDimension batch_dimension;
  };

  Model* model = nullptr;
  std::string where;   // prefix of messages: "in ensemble 'e', step 'm': "
  size_t step_at = 0;  // index of "step" in `where`
  std::vector<Input> inputs;
  std::vector<nrd_link> outputs;
};

// Steps are in an order in which each needs only earlier ones, so there are no cycles.
struct EnsembleGraph {
  struct Value {
    // The step that produces the value; values below the ensemble's number of inputs have none.
    uint32_t step = 0;
    uint32_t position = 0;
    std::vector<uint32_t> consumers;  // steps, once for each input that takes the value
  };

  // An output that must be checked or reshaped: its producer declares less than the ensemble,
  // only one of the two batches, or the ensemble gives it another shape.
  struct FittedOutput {
    uint32_t position;
    BatchDimension batch_dimension;
  };

  std::vector<EnsembleStep> steps;
  std::vector<Value> values;
  std::vector<uint32_t> outputs;  // the value of each of the ensemble's outputs
  std::vector<FittedOutput> fitted_outputs;

  // If the last step is decoupled: the graph that each of its responses passes through, from that
  // step's outputs to the ensemble's. This graph has no outputs then.
  std::unique_ptr<EnsembleGraph> behind = nullptr;
  std::string inputs_where = {};  // for a graph behind a step: that step's `where`
};

// The deepest nesting of ensembles: a completion goes outwards through them on one thread's stack.
inline constexpr uint32_t kMaxEnsembleDepth = 32;

// Finds everything that can be wrong with an ensemble. `config` comes from ReadModelConfig with the
// same options; its ensemble_depth and decoupled are set.
Status ReadEnsembleGraph(const Runtime& runtime, const nrd_model_options& options,
                         ModelConfig* config, EnsembleGraph* graph_out);

}  // namespace nereid

#endif  // NEREID_CORE_ENSEMBLE_ENSEMBLE_CONFIG_H_

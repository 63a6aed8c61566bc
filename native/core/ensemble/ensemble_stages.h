// Cuts the graph of an ensemble behind its decoupled steps.
#ifndef NEREID_CORE_ENSEMBLE_ENSEMBLE_STAGES_H_
#define NEREID_CORE_ENSEMBLE_ENSEMBLE_STAGES_H_

#include <cstdint>
#include <vector>

#include "core/ensemble/ensemble_config.h"

namespace nereid {

// Divides an ensemble into stages by how often they run: stage 0 once for a request, each other
// stage once for each response of the decoupled step that begins it. A step must take its values
// from one stage, because responses of different steps cannot be matched.
class EnsembleStages {
 public:
  // Adds a step, in the order of the graph; its stage is that of its inputs.
  void Add(const EnsembleStep& step, bool decoupled);

  // The stage of a value that a step before produces, or of an input of the ensemble.
  [[nodiscard]] uint32_t StageOf(uint32_t value) const {
    return value < value_stages_.size() ? value_stages_[value] : 0;
  }

  [[nodiscard]] bool any_decoupled() const { return !begun_by_.empty(); }

  // The number of stages from the request to this one.
  [[nodiscard]] uint32_t Depth(uint32_t stage) const;

  // Leaves in `graph` the part that runs once for a request. The decoupled step that the outputs
  // need, if any, becomes its last step, and the part behind it becomes `graph->behind`.
  void Cut(uint32_t input_count, EnsembleGraph* graph) const;

 private:
  [[nodiscard]] uint32_t StageBefore(uint32_t stage) const {
    return step_stages_[begun_by_[stage - 1]];
  }
  // `next`: the stage that the part's decoupled step begins; 0: none.
  [[nodiscard]] EnsembleGraph Part(const EnsembleGraph& whole, uint32_t input_count, uint32_t stage,
                                   uint32_t next) const;

  std::vector<uint32_t> step_stages_;
  std::vector<uint32_t> value_stages_;  // of the values produced so far
  std::vector<uint32_t> begun_by_;      // the step that begins stage i + 1
};

}  // namespace nereid

#endif  // NEREID_CORE_ENSEMBLE_ENSEMBLE_STAGES_H_

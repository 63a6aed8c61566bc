// Cuts the graph of an ensemble behind its decoupled steps.
#ifndef NEREID_CORE_ENSEMBLE_ENSEMBLE_STAGES_H_
#define NEREID_CORE_ENSEMBLE_ENSEMBLE_STAGES_H_

#include <cstdint>
#include <vector>

#include "core/ensemble/ensemble_config.h"

namespace nereid {

// Counts how often each part of an ensemble comes: stage 0 once for a request, each other stage
// once for each response of the decoupled step that begins it. A step must take its values from one
// stage: nothing says which response of one step belongs to which of another.
class EnsembleStages {
 public:
  // Steps are added in the order of the graph; the stage of one is that of its inputs.
  void Add(const EnsembleStep& step, bool decoupled);

  // The stage of a value that a step before produces, or of an input of the ensemble.
  [[nodiscard]] uint32_t StageOf(uint32_t value) const {
    return value < value_stages_.size() ? value_stages_[value] : 0;
  }

  [[nodiscard]] bool any_decoupled() const { return !begun_by_.empty(); }

  // The number of stages from the request to this one.
  [[nodiscard]] uint32_t Depth(uint32_t stage) const;

  // Leaves in `graph` what is run once for a request. The decoupled step that the outputs need, if
  // there is one, becomes its last step, and what comes behind it `graph->behind`.
  void Cut(uint32_t input_count, EnsembleGraph* graph) const;

 private:
  [[nodiscard]] uint32_t StageBefore(uint32_t stage) const {
    return step_stages_[begun_by_[stage - 1]];
  }
  // `next`: the stage that its decoupled step begins; 0: it is the last.
  [[nodiscard]] EnsembleGraph Part(const EnsembleGraph& whole, uint32_t input_count, uint32_t stage,
                                   uint32_t next) const;

  std::vector<uint32_t> step_stages_;
  std::vector<uint32_t> value_stages_;  // as far as steps produce them
  std::vector<uint32_t> begun_by_;      // the step that begins stage i + 1
};

}  // namespace nereid

#endif  // NEREID_CORE_ENSEMBLE_ENSEMBLE_STAGES_H_

#ifndef NEREID_CORE_SEQUENCE_SEQUENCE_PICKER_H_
#define NEREID_CORE_SEQUENCE_SEQUENCE_PICKER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/config/model_config.h"
#include "core/queue/batch_decision.h"
#include "core/sequence/sequence.h"

namespace nereid {

// Asks the policies about the sequences of an instance that have something to execute. Not
// synchronised: the dispatcher's mutex guards it.
class SequencePicker {
 public:
  // `config` outlives this and has sequences.
  explicit SequencePicker(const ModelConfig& config);

  // Tells how many sequences of the list run together now, or when to look again. The list is
  // ordered by the arrival of their first requests.
  BatchDecision Pick(const SequenceList& ready, int64_t now_ns);
  // The first `count` sequences that Pick chose, in order of rows; valid until the next Pick.
  std::span<Sequence* const> Picked(size_t count);

 private:
  [[nodiscard]] bool SameStates(const Sequence& a, const Sequence& b) const;
  [[nodiscard]] bool Includes(const Request& request) const;

  const ModelConfig& config_;
  const SequenceConfig& sequences_;
  std::vector<WaitingRequest> seen_;        // reserved once, as are the next two
  std::vector<Sequence*> candidates_;       // the sequences of the entries in `seen_`
  std::vector<const nrd_request*> chosen_;  // of these, the requests that a batcher let in
};

}  // namespace nereid

#endif  // NEREID_CORE_SEQUENCE_SEQUENCE_PICKER_H_

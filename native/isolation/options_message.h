// A model's options on their way into a child, and what a child says about the model's tensors.
#ifndef NEREID_ISOLATION_OPTIONS_MESSAGE_H_
#define NEREID_ISOLATION_OPTIONS_MESSAGE_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "isolation/message.h"
#include "nereid/nereid.h"

namespace nereid {

// Writes all that a backend may look at: names, tensors, parameters, sequences. The parent queues,
// batches and schedules, so what is about that stays there.
void WriteOptions(const nrd_model_options& options, MessageWriter* writer);

// Options that were read from a message, in memory of their own.
class ReadOptions {
 public:
  ReadOptions() = default;
  ReadOptions(const ReadOptions&) = delete;
  ReadOptions& operator=(const ReadOptions&) = delete;

  Status Read(std::string_view body);
  [[nodiscard]] const nrd_model_options& options() const { return options_; }

 private:
  void ReadSequences(MessageReader* reader);

  std::string body_;  // what the strings are in
  nrd_model_options options_{};
  std::vector<nrd_parameter> parameters_;
  std::vector<nrd_tensor_spec> inputs_;
  std::vector<nrd_tensor_spec> outputs_;
  std::vector<nrd_combined_input> combined_;
  std::vector<nrd_scattered_output> scattered_;
  nrd_sequence_options sequences_{};
  std::vector<nrd_control> controls_;
  std::vector<nrd_state> states_;
};

void WriteSpec(const nrd_tensor_spec& spec, MessageWriter* writer);
// The name lies in what the reader reads.
nrd_tensor_spec ReadSpec(MessageReader* reader);

}  // namespace nereid

#endif  // NEREID_ISOLATION_OPTIONS_MESSAGE_H_

// Messages with a model's options for a child, and a child's specifications of the model's tensors.
#ifndef NEREID_ISOLATION_OPTIONS_MESSAGE_H_
#define NEREID_ISOLATION_OPTIONS_MESSAGE_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "isolation/message.h"
#include "nereid/nereid.h"

namespace nereid {

// Writes the options that a backend may read: names, tensors, parameters, sequences. Options for
// queueing, batching and scheduling stay in the parent.
void WriteOptions(const nrd_model_options& options, MessageWriter* writer);

// Reads options from a message; owns their memory.
class ReadOptions {
 public:
  ReadOptions() = default;
  ReadOptions(const ReadOptions&) = delete;
  ReadOptions& operator=(const ReadOptions&) = delete;

  Status Read(std::string_view body);
  [[nodiscard]] const nrd_model_options& options() const { return options_; }

 private:
  void ReadSequences(MessageReader* reader);

  std::string body_;  // contains the strings
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
// Reads a spec, whose name points into the reader's message.
nrd_tensor_spec ReadSpec(MessageReader* reader);

}  // namespace nereid

#endif  // NEREID_ISOLATION_OPTIONS_MESSAGE_H_

// The rules that each record of a child's answer is held to.
#ifndef NEREID_ISOLATION_ANSWER_CHECK_H_
#define NEREID_ISOLATION_ANSWER_CHECK_H_

#include <cstdint>
#include <vector>

#include "isolation/ring.h"
#include "nereid/nereid.h"

namespace nereid {

// Used by one thread at a time, for one answer after another. It decides by what the parent asked
// for and by copies of records alone, so nothing that a child does afterwards can change it.
class AnswerCheck {
 public:
  // An answer to this batch begins. Offsets may be anywhere in `area_bytes`.
  void Begin(const nrd_batch& batch, uint64_t area_bytes, uint64_t message_bytes);
  // Null: the record may be used. Else what is wrong with it, for people.
  const char* Check(const Record& record);

 private:
  const char* CheckIndex(uint32_t index);
  [[nodiscard]] const char* CheckOutput(const Record& record);
  [[nodiscard]] const char* CheckPlace(const Record& record) const;
  const char* CheckOfRequest(const Record& record);

  std::vector<bool> wanted_;  // of the batch itself, and did not come yet
  uint32_t request_count_ = 0;
  uint32_t input_count_ = 0;
  std::vector<uint64_t> value_bytes_;  // of each request, since its last response
  uint64_t area_bytes_ = 0;
  uint64_t message_bytes_ = 0;
  bool computed_ = false;
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_ANSWER_CHECK_H_

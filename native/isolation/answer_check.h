#ifndef NEREID_ISOLATION_ANSWER_CHECK_H_
#define NEREID_ISOLATION_ANSWER_CHECK_H_

#include <cstdint>
#include <vector>

#include "isolation/ring.h"
#include "nereid/nereid.h"

namespace nereid {

// The checks of each record in a child's answer. Used by one thread at a time, for one answer after
// another. It uses only the parent's batch and copies of records, so a child cannot change its
// decisions afterwards.
class AnswerCheck {
 public:
  // Begins the answer to a batch. Offsets may be anywhere in `area_bytes`.
  void Begin(const nrd_batch& batch, uint64_t area_bytes, uint64_t message_bytes);
  // Null: the record may be used; else its mistake, for people.
  const char* Check(const Record& record);

 private:
  const char* CheckIndex(uint32_t index);
  [[nodiscard]] const char* CheckOutput(const Record& record);
  [[nodiscard]] const char* CheckPlace(const Record& record) const;
  const char* CheckOfRequest(const Record& record);

  std::vector<bool> wanted_;  // outputs of the whole batch that are still missing
  uint32_t request_count_ = 0;
  uint32_t input_count_ = 0;
  std::vector<uint64_t> value_bytes_;  // for each request, bytes of values since its last response
  uint64_t area_bytes_ = 0;
  uint64_t message_bytes_ = 0;
  bool computed_ = false;
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_ANSWER_CHECK_H_

// A document in JSON: behind TRITONSERVER_Message.
#ifndef NEREID_TRITON_MESSAGE_H_
#define NEREID_TRITON_MESSAGE_H_

#include <string>

#include "triton/core/tritonserver.h"
#include "triton/handle.h"

namespace nereid::triton {

class Message : public Handle {
 public:
  static constexpr Kind kKind = Kind::kMessage;

  // `owner` deletes it; null: it belongs to another object.
  Message(std::string json, Owner* owner) : json_(std::move(json)) { Open(kKind, owner); }

  [[nodiscard]] const std::string& json() const { return json_; }

 private:
  const std::string json_;
};

// A message that the calling plug-in deletes.
inline TRITONSERVER_Message* NewMessage(std::string json) {
  return Give<TRITONSERVER_Message>(new Message(std::move(json), &Owner::Current()));
}

}  // namespace nereid::triton

#endif  // NEREID_TRITON_MESSAGE_H_

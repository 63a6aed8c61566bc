// Who gets the responses of a decoupled request besides the one that completes it.
#ifndef NEREID_CORE_RESPONDER_H_
#define NEREID_CORE_RESPONDER_H_

#include "nereid/nereid.h"

namespace nereid {

struct Responder {
  nrd_respond_fn respond = nullptr;  // null: there is nobody
  void* context = nullptr;
};

}  // namespace nereid

#endif  // NEREID_CORE_RESPONDER_H_

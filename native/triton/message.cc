#include "triton/message.h"

#include "triton/errors.h"

using nereid::Status;
using nereid::triton::Message;
using nereid::triton::Serve;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message** message,
                                                              const char* json, size_t byte_size) {
  return Serve(NRT_SITE, [&]() -> Status {
    if (json == nullptr && byte_size != 0) {
      return Status::InvalidArgument("the text of a message is NULL");
    }
    *message = nereid::triton::NewMessage(byte_size == 0 ? "" : std::string(json, byte_size));
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message) {
  return Serve<Message>(NRT_SITE, message, [](Message& known) { delete &known; });
}

TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* message,
                                                        const char** json, size_t* byte_size) {
  return Serve<Message>(NRT_SITE, message, [&](Message& known) {
    *json = known.json().c_str();
    *byte_size = known.json().size();
  });
}

}  // extern "C"

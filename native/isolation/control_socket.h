// The socket between an isolated model and its child, for rare messages.
#ifndef NEREID_ISOLATION_CONTROL_SOCKET_H_
#define NEREID_ISOLATION_CONTROL_SOCKET_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "isolation/message.h"

namespace nereid {

// Owns the descriptor. One thread at a time sends or receives; Any thread may call HangUp.
class ControlSocket {
 public:
  // `patience_ms`: longest wait for the other side; 0: no limit.
  explicit ControlSocket(int descriptor, uint64_t patience_ms = 0);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  // False: the other side is gone, or sent an invalid message. `descriptor` is sent along unless it
  // is below 0.
  bool Send(MessageKind kind, std::string_view body, int descriptor = -1);
  bool Receive(MessageKind* kind_out, std::string* body_out, int* descriptor_out = nullptr);
  // Closes the connection for both sides.
  void HangUp();
  // Ends the sending direction; the other side may still answer.
  void SayGoodbye();
  // Returns when the other side has closed the connection, or is gone.
  void AwaitHangUp() const;
  // True if the other side took longer than allowed.
  [[nodiscard]] bool timed_out() const { return timed_out_; }

 private:
  bool SendAll(const char* data, size_t size, int descriptor);
  bool ReceiveAll(char* data, size_t size, int* descriptor_out);

  const int descriptor_;
  bool timed_out_ = false;
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_CONTROL_SOCKET_H_

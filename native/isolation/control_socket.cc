#include "isolation/control_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nereid {
namespace {

struct Header {
  MessageKind kind;
  uint32_t reserved;
  uint64_t byte_size;
};

// The largest message; the configuration of a model is far smaller.
constexpr uint64_t kMaxBytes = uint64_t{64} << 20;

}  // namespace

ControlSocket::ControlSocket(int descriptor, uint64_t patience_ms) : descriptor_(descriptor) {
  const timeval patience{.tv_sec = static_cast<time_t>(patience_ms / 1000),
                         .tv_usec = static_cast<suseconds_t>(patience_ms % 1000 * 1000)};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

ControlSocket::~ControlSocket() { close(descriptor_); }

void ControlSocket::HangUp() { shutdown(descriptor_, SHUT_RDWR); }

void ControlSocket::SayGoodbye() { shutdown(descriptor_, SHUT_WR); }

void ControlSocket::AwaitHangUp() const {
  pollfd watched{.fd = descriptor_, .events = POLLRDHUP, .revents = 0};
  while (poll(&watched, 1, -1) <= 0) {
  }
}

bool ControlSocket::Send(MessageKind kind, std::string_view body, int descriptor) {
  const Header header{.kind = kind, .reserved = 0, .byte_size = body.size()};
  return SendAll(reinterpret_cast<const char*>(&header), sizeof(header), descriptor) &&
         SendAll(body.data(), body.size(), -1);
}

bool ControlSocket::SendAll(const char* data, size_t size, int descriptor) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  while (size > 0) {
    iovec part{.iov_base = const_cast<char*>(data), .iov_len = size};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof(control);
      cmsghdr* const rights = CMSG_FIRSTHDR(&message);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(rights), &descriptor, sizeof(int));
    }
    const ssize_t sent = sendmsg(descriptor_, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent <= 0) {
      timed_out_ = sent < 0 && errno == EAGAIN;
      return false;
    }
    descriptor = -1;
    data += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

bool ControlSocket::Receive(MessageKind* kind_out, std::string* body_out, int* descriptor_out) {
  Header header{};
  if (!ReceiveAll(reinterpret_cast<char*>(&header), sizeof(header), descriptor_out) ||
      header.byte_size > kMaxBytes) {
    return false;
  }
  *kind_out = header.kind;
  body_out->resize(header.byte_size);
  return ReceiveAll(body_out->data(), body_out->size(), nullptr);
}

// Receives bytes. Unrequested descriptors get no room, so the system closes them.
bool ControlSocket::ReceiveAll(char* data, size_t size, int* descriptor_out) {
  while (size > 0) {
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    iovec part{.iov_base = data, .iov_len = size};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptor_out != nullptr) {
      message.msg_control = control;
      message.msg_controllen = sizeof(control);
    }
    const ssize_t received = recvmsg(descriptor_, &message, MSG_CMSG_CLOEXEC);
    if (received < 0 && errno == EINTR) {
      continue;
    }
    if (received <= 0) {
      timed_out_ = received < 0 && errno == EAGAIN;
      return false;
    }
    const cmsghdr* const rights = descriptor_out == nullptr ? nullptr : CMSG_FIRSTHDR(&message);
    if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS &&
        rights->cmsg_len == CMSG_LEN(sizeof(int))) {
      std::memcpy(descriptor_out, CMSG_DATA(rights), sizeof(int));
      descriptor_out = nullptr;
    }
    data += received;
    size -= static_cast<size_t>(received);
  }
  return true;
}

}  // namespace nereid

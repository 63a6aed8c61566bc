// Opens memory of the process that started it, checks what is there, and writes something else. Its
// exit status says what went wrong.
#include <cstdlib>
#include <cstring>

#include "device.h"

int main(int, char** arguments) {
  using rehearsal::Code;
  rehearsal::IpcHandle handle;
  for (std::size_t i = 0; i < sizeof(handle); ++i) {
    const char digits[] = {arguments[1][2 * i], arguments[1][2 * i + 1], 0};
    handle.bytes[i] = static_cast<std::byte>(std::strtoul(digits, nullptr, 16));
  }
  rehearsal::Address address;
  const Code code = rehearsal::OpenIpc(0, handle, "peer", &address);
  if (code != Code::kSuccess) {
    return static_cast<int>(code) % 251 + 1;
  }
  rehearsal::Address again;
  rehearsal::Range range;
  if (rehearsal::OpenIpc(0, handle, "peer", &again) != Code::kSuccess || again != address ||
      !rehearsal::FindRange(address, &range) || range.bytes != 5) {
    return 253;
  }
  std::byte* const bytes = rehearsal::Backing(address, 5, "peer");
  if (std::memcmp(bytes, "hello", 5) != 0) {
    return 254;
  }
  std::memcpy(bytes, "world", 5);
  return rehearsal::CloseIpc(address, "peer") == Code::kSuccess &&
                 rehearsal::CloseIpc(address, "peer") == Code::kSuccess &&
                 rehearsal::Backing(address, 5, "peer") == nullptr
             ? 0
             : 255;
}

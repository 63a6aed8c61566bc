#include "onnxruntime/division_decoder.h"

namespace nereid {
namespace {

constexpr uint8_t kOperandSizePrefix = 0x66;

bool IsPrefix(uint8_t byte) {
  switch (byte) {
    case 0x26:  // segments
    case 0x2E:
    case 0x36:
    case 0x3E:
    case 0x64:
    case 0x65:
    case kOperandSizePrefix:
    case 0x67:  // prefix: size of addresses
    case 0xF2:  // prefix: repetition, without a meaning for divisions
    case 0xF3:
      return true;
    default:
      return false;
  }
}

// The number of bytes that an operand takes behind its ModRM byte.
size_t OperandLength(uint8_t mod_rm, uint8_t next) {
  const auto mod = mod_rm >> 6U;
  const auto rm = mod_rm & 7U;
  if (mod == 3) {
    return 0;  // a register
  }
  const bool has_sib = rm == 4;
  const bool has_no_base = mod == 0 && (has_sib ? (next & 7U) == 5 : rm == 5);
  const size_t displacement = mod == 1 ? 1 : (mod == 2 || has_no_base ? 4 : 0);
  return (has_sib ? 1 : 0) + displacement;
}

}  // namespace

Division DecodeDivision(const uint8_t* code) {
  constexpr size_t kMostPrefixes = 4;
  size_t at = 0;
  bool is_word = false;
  while (at < kMostPrefixes && IsPrefix(code[at])) {
    is_word = is_word || code[at] == kOperandSizePrefix;
    ++at;
  }
  const uint8_t rex = (code[at] & 0xF0U) == 0x40 ? code[at++] : uint8_t{0};
  const bool is_quad = (rex & 8U) != 0;
  const uint8_t opcode = code[at++];
  const uint8_t mod_rm = code[at++];
  const auto extension = (mod_rm >> 3U) & 7U;
  if ((opcode & 0xFEU) != 0xF6 || extension < 6) {
    return {};
  }
  const uint32_t wide_size = is_quad ? 8 : (is_word ? 2 : 4);
  return {.length = at + OperandLength(mod_rm, code[at]),
          .operand_size = opcode == 0xF6 ? 1 : wide_size};
}

}  // namespace nereid

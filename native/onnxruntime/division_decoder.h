// Decodes integer divisions of x86-64, as far as is needed for stepping over one.
#ifndef NEREID_ONNXRUNTIME_DIVISION_DECODER_H_
#define NEREID_ONNXRUNTIME_DIVISION_DECODER_H_

#include <cstddef>
#include <cstdint>

namespace nereid {

struct Division {
  size_t length = 0;  // length of the instruction; 0: no division
  uint32_t operand_size =
      0;  // 1: the result is in AX; 2, 4, 8: in DX and AX, EDX and EAX, RDX and RAX
};

// Reads the instruction DIV or IDIV at `code`. For a signal handler, so it reads nothing else.
Division DecodeDivision(const uint8_t* code);

}  // namespace nereid

#endif  // NEREID_ONNXRUNTIME_DIVISION_DECODER_H_

#ifndef NEREID_REHEARSAL_CODES_H_
#define NEREID_REHEARSAL_CODES_H_

namespace rehearsal {

// What calls answer: the numbers of cudaError_t, which CUresult shares wherever both have a case.
enum class Code : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kMapFailed = 205,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kHostAlreadyRegistered = 712,
  kHostNotRegistered = 713,
  kLaunchFailed = 719,
  kNotPermitted = 800,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
  kUnknown = 999,
};

// Its names in the two interfaces, and what both say of it; null: it is none of theirs.
struct CodeText {
  Code code;
  const char* runtime_name;
  const char* driver_name;
  const char* text;
};

const CodeText* TextOf(int code);

}  // namespace rehearsal

#endif  // NEREID_REHEARSAL_CODES_H_

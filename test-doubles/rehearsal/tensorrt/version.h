// The version of TensorRT that the rehearsal stands in for.
#ifndef NEREID_REHEARSAL_TENSORRT_VERSION_H_
#define NEREID_REHEARSAL_TENSORRT_VERSION_H_

#include <cstdint>
#include <string>

namespace rehearsal::trt {

#if REHEARSAL_TENSORRT == 10
constexpr std::uint8_t kMajor = 10;
constexpr std::uint8_t kMinor = 6;
constexpr std::uint8_t kPatch = 0;
constexpr std::uint8_t kBuild = 26;
#elif REHEARSAL_TENSORRT == 11
constexpr std::uint8_t kMajor = 11;
constexpr std::uint8_t kMinor = 2;
constexpr std::uint8_t kPatch = 1;
constexpr std::uint8_t kBuild = 2;
#else
#error "REHEARSAL_TENSORRT says which major version to be"
#endif

// As getInferLibVersion tells it.
constexpr std::int32_t kVersion = kMajor * 10000 + kMinor * 100 + kPatch;

// The file of one of TensorRT's libraries, such as nvinfer_lean.
inline std::string LibraryFile(const std::string& name) {
  return "lib" + name + ".so." + std::to_string(kMajor);
}

inline std::string VersionText(const std::uint8_t version[4]) {
  std::string text = std::to_string(version[0]);
  for (int i = 1; i < 4; ++i) {
    text += "." + std::to_string(version[i]);
  }
  return text;
}

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_VERSION_H_

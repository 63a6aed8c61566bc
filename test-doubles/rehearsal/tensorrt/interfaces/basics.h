// What all interfaces of TensorRT are made of: values as they cross the boundary, and objects.
#ifndef NEREID_REHEARSAL_TENSORRT_INTERFACES_BASICS_H_
#define NEREID_REHEARSAL_TENSORRT_INTERFACES_BASICS_H_

#include <cstdint>

namespace rehearsal::trt {

enum class DataType : std::int32_t {
  kFloat = 0,
  kHalf = 1,
  kInt8 = 2,
  kInt32 = 3,
  kBool = 4,
  kUint8 = 5,
  kFp8 = 6,
  kBf16 = 7,
  kInt64 = 8,
};

constexpr int kMostDims = 8;

// A count of -1 says that the dimensions are not known.
struct Dims {
  std::int32_t count = 0;
  std::int64_t sizes[kMostDims] = {};
};
static_assert(sizeof(Dims) == 72);

// The values stay the caller's, who keeps them until the build is over.
struct Weights {
  DataType type = DataType::kFloat;
  const void* values = nullptr;
  std::int64_t count = 0;
};
static_assert(sizeof(Weights) == 24);

// What an object's functions are called through: a table that begins with two destructors, which
// callers do not use.
class Root {
 public:
  virtual ~Root() = default;
};

// What the caller holds: a table with nothing but the two destructors, and behind it the functions.
// Both are written as plain functions here. What is deleted is closed and emptied but keeps its
// place in memory, so that a call on it is found out instead of being undefined.
class Held {
 public:
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  virtual void Destruct() { Delete(); }
  virtual void Delete() = 0;

  // What its inline functions call, as those of TensorRT's own headers do.
  [[nodiscard]] Root* functions() const { return functions_; }

 protected:
  explicit Held(Root* functions) : functions_(functions) {}
  ~Held() = default;

 private:
  Root* functions_;
};

// A layer: behind the functions of all layers come those of its kind.
class HeldLayer : public Held {
 public:
  [[nodiscard]] void* own_functions() const { return own_functions_; }

 protected:
  HeldLayer(Root* functions, void* own_functions)
      : Held(functions), own_functions_(own_functions) {}
  ~HeldLayer() = default;

 private:
  void* own_functions_;
};

// The values of a tensor from which shapes are computed.
#if REHEARSAL_TENSORRT == 10
using ShapeValue = std::int32_t;
#else
using ShapeValue = std::int64_t;
#endif

// Ends the process after saying which function of TensorRT the rehearsal lacks.
[[noreturn]] void Missing(const char* interface_name, const char* function);

// Holds the place of a function that nobody calls in the rehearsal, whatever it takes and returns.
// The class says its name in kInterface.
#define REHEARSAL_LACKS(function) \
  virtual void function() { Missing(kInterface, #function); }

// The same in TensorRT 10, which has functions that TensorRT 11 has no more.
#if REHEARSAL_TENSORRT == 10
#define REHEARSAL_TEN_LACKS(function) REHEARSAL_LACKS(function)
#else
#define REHEARSAL_TEN_LACKS(function)
#endif

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_INTERFACES_BASICS_H_

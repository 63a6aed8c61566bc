// The part of ONNX Runtime's C API that Nereid uses. No package provides its C header to builds,
// but the API is one table of functions that only grows at its end, so a slot identifies a
// function: OrtGetApiBase()->GetApi(version) gives the table.
//
// The compiler cannot detect a wrong slot or parameter list; the test "every slot does what its
// name says" (onnxruntime_slots_test.cc) calls each of them and fails when one has no check.
#ifndef NEREID_ONNXRUNTIME_ORT_API_H_
#define NEREID_ONNXRUNTIME_ORT_API_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nereid {

// The version of ONNX Runtime 1.15, whose table has every slot below; newer libraries accept it.
inline constexpr uint32_t kOrtApiVersion = 15;
inline constexpr std::string_view kOrtOldestVersion = "1.15";
// The version of the functions that a library may lack.
inline constexpr uint32_t kOrtNewestApiVersion = 23;

// Objects of the library. The creator of an object that has a Release function owns it.
struct OrtAllocator;
struct OrtEnv;
struct OrtKeyValuePairs;
struct OrtMemoryInfo;
struct OrtRunOptions;
struct OrtSession;
struct OrtSessionOptions;
struct OrtStatus;  // a failure; null is success
struct OrtTensorInfo;
struct OrtThreadingOptions;
struct OrtTypeInfo;
struct OrtValue;

// C enums are ints in the ABI.
enum class OrtErrorCode : int {
  kOk = 0,
  kFail = 1,
  kInvalidArgument = 2,
  kNoSuchFile = 3,
  kNoModel = 4,
  kEngineError = 5,
  kRuntimeException = 6,
  kInvalidProtobuf = 7,
  kModelLoaded = 8,
  kNotImplemented = 9,
  kInvalidGraph = 10,
  kEpFail = 11
};

enum class OrtElementType : int {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16
};

enum class OrtGraphOptimization : int { kNone = 0, kBasic = 1, kExtended = 2, kAll = 99 };
enum class OrtExecutionMode : int { kSequential = 0, kParallel = 1 };
enum class OrtAllocatorKind : int { kDevice = 0, kArena = 1 };
enum class OrtMemoryKind : int { kDefault = 0 };
enum class OrtLogLevel : int { kVerbose = 0, kInfo = 1, kWarning = 2, kError = 3, kFatal = 4 };

// Functions by which the library creates and joins worker threads. The handle must not be null.
using OrtWorkFn = void (*)(void* work);
using OrtCreateThreadFn = const void* (*)(void* context, OrtWorkFn run, void* work);
using OrtJoinThreadFn = void (*)(const void* thread);

using OrtTable = void (*const*)();

struct OrtApiBase {
  OrtTable (*GetApi)(uint32_t version);  // null: the library is older than `version`
  const char* (*GetVersionString)();
};

// F(slot, name, result, parameters). `*_out` and `names` are set on success only.
// clang-format off
#define NRD_ORT_FUNCTIONS(F)                                                                       \
  F(1, GetErrorCode, OrtErrorCode, (const OrtStatus* status))                                      \
  F(2, GetErrorMessage, const char*, (const OrtStatus* status))                                    \
  F(7, CreateSession, OrtStatus*, (const OrtEnv* env, const char* model_path,                      \
    const OrtSessionOptions* options, OrtSession** session_out))                                   \
  F(9, Run, OrtStatus*, (OrtSession* session, const OrtRunOptions* options,                        \
    const char* const* input_names, const OrtValue* const* inputs, size_t input_count,             \
    const char* const* output_names, size_t output_count, OrtValue** outputs))                     \
  F(10, CreateSessionOptions, OrtStatus*, (OrtSessionOptions** options_out))                       \
  F(13, SetSessionExecutionMode, OrtStatus*, (OrtSessionOptions* options, OrtExecutionMode mode))  \
  F(17, DisableMemPattern, OrtStatus*, (OrtSessionOptions* options))                               \
  F(19, DisableCpuMemArena, OrtStatus*, (OrtSessionOptions* options))                              \
  F(22, SetSessionLogSeverityLevel, OrtStatus*, (OrtSessionOptions* options, int level))           \
  F(23, SetSessionGraphOptimizationLevel, OrtStatus*, (OrtSessionOptions* options,                 \
    OrtGraphOptimization level))                                                                   \
  F(24, SetIntraOpNumThreads, OrtStatus*, (OrtSessionOptions* options, int count))                 \
  F(25, SetInterOpNumThreads, OrtStatus*, (OrtSessionOptions* options, int count))                 \
  F(30, SessionGetInputCount, OrtStatus*, (const OrtSession* session, size_t* count_out))          \
  F(31, SessionGetOutputCount, OrtStatus*, (const OrtSession* session, size_t* count_out))         \
  F(32, SessionGetOverridableInitializerCount, OrtStatus*, (const OrtSession* session,             \
    size_t* count_out))                                                                            \
  F(33, SessionGetInputTypeInfo, OrtStatus*, (const OrtSession* session, size_t index,             \
    OrtTypeInfo** info_out))                                                                       \
  F(34, SessionGetOutputTypeInfo, OrtStatus*, (const OrtSession* session, size_t index,            \
    OrtTypeInfo** info_out))                                                                       \
  F(35, SessionGetOverridableInitializerTypeInfo, OrtStatus*, (const OrtSession* session,          \
    size_t index, OrtTypeInfo** info_out))                                                         \
  F(36, SessionGetInputName, OrtStatus*, (const OrtSession* session, size_t index,                 \
    OrtAllocator* allocator, char** name_out))                                                     \
  F(37, SessionGetOutputName, OrtStatus*, (const OrtSession* session, size_t index,                \
    OrtAllocator* allocator, char** name_out))                                                     \
  F(38, SessionGetOverridableInitializerName, OrtStatus*, (const OrtSession* session,              \
    size_t index, OrtAllocator* allocator, char** name_out))                                       \
  F(39, CreateRunOptions, OrtStatus*, (OrtRunOptions** options_out))                               \
  F(48, CreateTensorAsOrtValue, OrtStatus*, (OrtAllocator* allocator, const int64_t* shape,        \
    size_t rank, OrtElementType type, OrtValue** value_out))                                       \
  F(49, CreateTensorWithDataAsOrtValue, OrtStatus*, (const OrtMemoryInfo* memory, void* data,      \
    size_t byte_size, const int64_t* shape, size_t rank, OrtElementType type,                      \
    OrtValue** value_out))                                                                         \
  F(51, GetTensorMutableData, OrtStatus*, (OrtValue* value, void** data_out))                      \
  F(53, GetStringTensorDataLength, OrtStatus*, (const OrtValue* value, size_t* byte_size_out))     \
  F(54, GetStringTensorContent, OrtStatus*, (const OrtValue* value, void* text, size_t byte_size,  \
    size_t* offsets, size_t offset_count))                                                         \
  F(55, CastTypeInfoToTensorInfo, OrtStatus*, (const OrtTypeInfo* info,                            \
    const OrtTensorInfo** tensor_out)) /* null when it is no tensor; owned by info */              \
  F(60, GetTensorElementType, OrtStatus*, (const OrtTensorInfo* info, OrtElementType* type_out))   \
  F(61, GetDimensionsCount, OrtStatus*, (const OrtTensorInfo* info, size_t* rank_out))             \
  F(62, GetDimensions, OrtStatus*, (const OrtTensorInfo* info, int64_t* dims, size_t rank))        \
  F(63, GetSymbolicDimensions, OrtStatus*, (const OrtTensorInfo* info, const char** names,         \
    size_t rank)) /* the names are owned by info; empty for a dimension without one */             \
  F(65, GetTensorTypeAndShape, OrtStatus*, (const OrtValue* value, OrtTensorInfo** info_out))      \
  F(69, CreateCpuMemoryInfo, OrtStatus*, (OrtAllocatorKind allocator, OrtMemoryKind memory,        \
    OrtMemoryInfo** info_out))                                                                     \
  F(76, AllocatorFree, OrtStatus*, (OrtAllocator* allocator, void* memory))                        \
  F(78, GetAllocatorWithDefaultOptions, OrtStatus*, (OrtAllocator** allocator_out)) /* not owned */\
  F(93, ReleaseStatus, void, (OrtStatus* status))                                                  \
  F(94, ReleaseMemoryInfo, void, (OrtMemoryInfo* info))                                            \
  F(95, ReleaseSession, void, (OrtSession* session))                                               \
  F(96, ReleaseValue, void, (OrtValue* value))                                                     \
  F(97, ReleaseRunOptions, void, (OrtRunOptions* options))                                         \
  F(98, ReleaseTypeInfo, void, (OrtTypeInfo* info))                                                \
  F(99, ReleaseTensorTypeAndShapeInfo, void, (OrtTensorInfo* info))                                \
  F(100, ReleaseSessionOptions, void, (OrtSessionOptions* options))                                \
  F(119, CreateEnvWithGlobalThreadPools, OrtStatus*, (OrtLogLevel level, const char* log_name,     \
    const OrtThreadingOptions* options, OrtEnv** env_out))                                         \
  F(120, DisablePerSessionThreads, OrtStatus*, (OrtSessionOptions* options))                       \
  F(121, CreateThreadingOptions, OrtStatus*, (OrtThreadingOptions** options_out))                  \
  F(122, ReleaseThreadingOptions, void, (OrtThreadingOptions* options))                            \
  F(124, AddFreeDimensionOverrideByName, OrtStatus*, (OrtSessionOptions* options,                  \
    const char* name, int64_t size))                                                               \
  F(130, AddSessionConfigEntry, OrtStatus*, (OrtSessionOptions* options, const char* key,          \
    const char* value))                                                                            \
  F(131, CreateAllocator, OrtStatus*, (const OrtSession* session, const OrtMemoryInfo* memory,     \
    OrtAllocator** allocator_out)) /* the session's own */                                         \
  F(132, ReleaseAllocator, void, (OrtAllocator* allocator))                                        \
  F(147, SetGlobalIntraOpNumThreads, OrtStatus*, (OrtThreadingOptions* options, int count))        \
  F(148, SetGlobalInterOpNumThreads, OrtStatus*, (OrtThreadingOptions* options, int count))        \
  F(149, SetGlobalSpinControl, OrtStatus*, (OrtThreadingOptions* options, int allow_spinning))     \
  F(165, AddRunConfigEntry, OrtStatus*, (OrtRunOptions* options, const char* key,                  \
    const char* value))                                                                            \
  F(196, SessionOptionsSetCustomCreateThreadFn, OrtStatus*, (OrtSessionOptions* options,           \
    OrtCreateThreadFn create))                                                                     \
  F(198, SessionOptionsSetCustomJoinThreadFn, OrtStatus*, (OrtSessionOptions* options,             \
    OrtJoinThreadFn join))                                                                         \
  F(199, SetGlobalCustomCreateThreadFn, OrtStatus*, (OrtThreadingOptions* options,                 \
    OrtCreateThreadFn create))                                                                     \
  F(201, SetGlobalCustomJoinThreadFn, OrtStatus*, (OrtThreadingOptions* options,                   \
    OrtJoinThreadFn join))                                                                         \
  F(252, GetResizedStringTensorElementBuffer, OrtStatus*, (OrtValue* value, size_t index,          \
    size_t byte_size, char** text_out)) /* owned by value; since API version 15 */

// Functions that are null if the library is older than kOrtNewestApiVersion.
#define NRD_ORT_NEWER_FUNCTIONS(F)                                                                 \
  F(297, GetKeyValue, const char*, (const OrtKeyValuePairs* pairs, const char* key))               \
  F(300, ReleaseKeyValuePairs, void, (OrtKeyValuePairs* pairs))                                    \
  F(319, AllocatorGetStats, OrtStatus*, (const OrtAllocator* allocator,                            \
    OrtKeyValuePairs** stats_out)) /* without entries where it keeps none */
// clang-format on

struct OrtFunctions {
#define NRD_ORT_MEMBER(slot, name, result, parameters) result(*name) parameters = nullptr;
  NRD_ORT_FUNCTIONS(NRD_ORT_MEMBER)
  NRD_ORT_NEWER_FUNCTIONS(NRD_ORT_MEMBER)
#undef NRD_ORT_MEMBER
};

struct OrtSlot {
  size_t slot;
  std::string_view name;
};

inline constexpr OrtSlot kOrtSlots[] = {
#define NRD_ORT_SLOT(slot, name, result, parameters) {slot, #name},
    NRD_ORT_FUNCTIONS(NRD_ORT_SLOT) NRD_ORT_NEWER_FUNCTIONS(NRD_ORT_SLOT)
#undef NRD_ORT_SLOT
};

// `newer_table` is the table of kOrtNewestApiVersion, or null.
inline OrtFunctions BindOrtFunctions(OrtTable table, OrtTable newer_table) {
  OrtFunctions functions;
#define NRD_ORT_BIND(slot, name, result, parameters) \
  functions.name = reinterpret_cast<result(*) parameters>(table[slot]);
  NRD_ORT_FUNCTIONS(NRD_ORT_BIND)
  if (newer_table != nullptr) {
    table = newer_table;
    NRD_ORT_NEWER_FUNCTIONS(NRD_ORT_BIND)
  }
#undef NRD_ORT_BIND
  return functions;
}

}  // namespace nereid

#endif  // NEREID_ONNXRUNTIME_ORT_API_H_

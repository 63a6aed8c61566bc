// A loaded ONNX file.
#ifndef NEREID_ONNXRUNTIME_ORT_SESSION_H_
#define NEREID_ONNXRUNTIME_ORT_SESSION_H_

#include <memory>

#include "base/status.h"
#include "onnxruntime/ort_library.h"
#include "onnxruntime/ort_memory.h"
#include "onnxruntime/ort_options.h"
#include "onnxruntime/ort_signature.h"

namespace nereid {

// Constant once it is open: any number of threads may run it at once.
class OnnxSession {
 public:
  static Status Open(const OrtLibrary& library, const OrtOptions& options,
                     std::unique_ptr<const OnnxSession>* session_out);

  OnnxSession(const OnnxSession&) = delete;
  OnnxSession& operator=(const OnnxSession&) = delete;

  [[nodiscard]] const OrtLibrary& library() const { return library_; }
  [[nodiscard]] const OnnxSignature& signature() const { return signature_; }
  [[nodiscard]] OrtSession* handle() const { return session_.get(); }
  [[nodiscard]] const OrtMemory& memory() const { return memory_; }
  [[nodiscard]] const OrtRunOptions* run_options() const { return run_options_.get(); }

 private:
  explicit OnnxSession(const OrtLibrary& library);

  Status Load(const OrtOptions& options);
  Status Create(const OrtOptions& options, const OrtSessionOptions* session_options);
  Status ReadSignature();

  const OrtLibrary& library_;
  OrtOwned<OrtSession> session_;
  OrtMemory memory_;
  OrtOwned<OrtRunOptions> run_options_;  // null: the library's defaults
  OnnxSignature signature_;
};

}  // namespace nereid

#endif  // NEREID_ONNXRUNTIME_ORT_SESSION_H_

// One loaded version of a model: its configuration, backend, scheduler, statistics and records.
#ifndef NEREID_CORE_MODEL_MODEL_H_
#define NEREID_CORE_MODEL_MODEL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "core/config/model_config.h"
#include "core/model/model_source.h"
#include "core/request/request.h"
#include "core/request/request_runner.h"
#include "core/request/stats.h"

namespace nereid {

class Runtime;
class Model;

struct ModelReleaser {
  void operator()(Model* model) const;
};

// A loaded model. Any thread may call it, and each record is used by one thread at a time.
// References are counted: the handle that load returned holds one, every acquired record another,
// and so does every ensemble that the model is a step of. The memory, that of all records too, goes
// with the last of them; backend and threads go with the handle.
class Model {
 public:
  // Takes the source over, even when it fails; null: opens one.
  static Status Load(Runtime& runtime, const nrd_model_options& options,
                     std::unique_ptr<ModelSource> source, Model** model_out);

  // Makes the runner of a model without a backend, which uses these two.
  using MakeRunner =
      std::function<std::unique_ptr<RequestRunner>(const ModelConfig& config, ModelStats& stats)>;
  static std::unique_ptr<Model, ModelReleaser> Around(Runtime& runtime, ModelConfig config,
                                                      const MakeRunner& make);

  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();

  // Gives up the handle: see nrd_model_release.
  void Release();

  Status Acquire(Request** request_out);
  static void Reset(Request& request);
  // See nrd_request_receive.
  static void Receive(Request& request, const nrd_receiver* receiver);
  void GiveBack(Request& request);

  int32_t Submit(Request& request);
  // Submits a part of an ensemble's request, which was checked as a whole.
  int32_t SubmitPart(Request& request);
  int32_t WarmUp(Request& request);
  int32_t Cancel(Request& request) { return runner_->Cancel(request); }

  bool Drain(int64_t deadline_ns) { return runner_->Drain(deadline_ns); }

  // See nrd_model_finish_sequences and nrd_model_has_sequence.
  void FinishSequences() { runner_->FinishSequences(); }
  bool KnowsSequence(uint64_t number, std::string_view name) {
    return runner_->KnowsSequence(number, name);
  }

  void ReadStats(nrd_model_stats* stats_out);
  void ReadSequenceStats(nrd_sequence_stats* stats_out);
  // False: there is no such instance.
  bool ReadInstance(uint32_t instance, nrd_instance_stats* stats_out);
  // False: the model has no objective.
  void Sent(const Request& request, uint64_t took_ns) { runner_->Sent(request, took_ns); }
  bool ReadObjective(nrd_objective_stats* stats_out);
  uint32_t ReadCostCurve(nrd_cost_point* points_out, uint32_t capacity) {
    return runner_->ReadCostCurve(points_out, capacity);
  }
  void ReadMemory(nrd_memory_stats* stats_out) const;
  // Null: an ensemble.
  [[nodiscard]] const ModelSource* source() const { return source_.get(); }
  [[nodiscard]] const ModelStats& stats() const { return stats_; }
  [[nodiscard]] const ModelConfig& config() const { return config_; }
  [[nodiscard]] Runtime& runtime() const { return runtime_; }
  [[nodiscard]] PoolAccount* pool_account() const { return pool_account_; }

 private:
  Model(Runtime& runtime, ModelConfig config, std::unique_ptr<ModelSource> source);
  ~Model();
  Request* NewRequest();
  static inline bool Begin(Request& request);
  int32_t Admit(Request& request);
  int32_t Refuse(Request& request, FailReason reason, int32_t code, std::string_view message);
  bool AnswerFromCache(Request& request);

  Runtime& runtime_;
  const ModelConfig config_;
  // The version and, unless answers may outlive their model, the number of this load, so that
  // answers of another load of the version, perhaps from other files, are not used.
  const std::string cache_version_;
  // The backend's table outlives the source, which goes with the handle.
  std::unique_ptr<ModelSource> source_;  // null: an ensemble
  const nrd_backend backend_;
  ModelStats stats_;
  PoolAccount* const pool_account_;  // counts the memory of its requests
  std::unique_ptr<RequestRunner> runner_;
  std::atomic<uint64_t> references_{1};

  Mutex records_mutex_;
  bool released_ NRD_GUARDED_BY(records_mutex_) = false;
  Request* free_records_ NRD_GUARDED_BY(records_mutex_) = nullptr;  // chained by `next`
};

}  // namespace nereid

#endif  // NEREID_CORE_MODEL_MODEL_H_

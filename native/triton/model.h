// A model with a plug-in backend: the state that it sees, and the settings that it reports.
#ifndef NEREID_TRITON_MODEL_H_
#define NEREID_TRITON_MODEL_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "triton/backend.h"
#include "triton/model_tensors.h"

namespace nereid::triton {

class Instance;
class PluginBatcher;

// Configuration of an instance: an entry of the option nereid.instances, in which the passive ones
// come behind those that the core opens.
struct InstanceInfo {
  struct Device {
    std::string kind;
    int64_t id = 0;
  };

  std::string name;
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  int32_t device = 0;
  std::string host_policy = "cpu";
  std::string host_policy_settings = "{}";  // JSON
  bool passive = false;
  std::vector<std::string> profiles;
  std::vector<Device> secondary_devices;
};

// The bytes that a plug-in reports as used, over all memory kinds.
uint64_t ReportedBytes(TRITONSERVER_BufferAttributes** usage, uint32_t count, Status* status);

class Model : public Handle {
 public:
  static constexpr Kind kKind = Kind::kModel;

  // Initialises the model; the backend may complete the configuration.
  static Status Open(Backend& backend, const nrd_model_options& options,
                     std::unique_ptr<Model>* out);
  ~Model();

  // Called once the configuration is complete.
  Status Configure(const nrd_model_options& options);

  [[nodiscard]] Backend& backend() const { return backend_; }
  [[nodiscard]] Owner& owner() const { return backend_.owner(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] uint64_t version() const { return version_; }
  [[nodiscard]] uint64_t load() const { return load_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] bool auto_complete() const { return auto_complete_; }
  [[nodiscard]] const ModelTensors& tensors() const { return tensors_; }
  [[nodiscard]] bool pinned() const { return pinned_; }
  [[nodiscard]] const InstanceInfo& instance_info(uint32_t index);

  [[nodiscard]] std::string config() const;
  Status SetConfig(const std::string& json);
  void ReplaceConfig(std::string_view json);

  void Add(Instance* instance);
  // Returns when the instance is not asked for readiness any more.
  void Remove(Instance* instance);
  // Asks the instances until one is not ready. Callers that come meanwhile wait for the same
  // answer. The plug-in is called without a lock: it may be slow, and call back.
  Status Ready();
  // Fails the requests that the plug-in holds. It gets no more.
  void GiveUp();
  [[nodiscard]] bool given_up() const { return given_up_.load(); }
  // Instances on a device execute one at a time, if the backend asks for it.
  [[nodiscard]] std::unique_lock<std::mutex> DeviceTurn(int32_t device);
  [[nodiscard]] uint64_t InstanceBytes();

  // Null: the core decides which requests go together.
  [[nodiscard]] PluginBatcher* batcher() const { return batcher_.get(); }

  std::atomic<void*> state{nullptr};  // the plug-in's
  std::atomic<uint64_t> reported_bytes{0};

 private:
  Model(Backend& backend, const nrd_model_options& options);
  Status Initialize();
  Status ReadInstances(const nrd_model_options& options);
  // Opens the passive instances, those behind the `active` ones. The core does not know them.
  Status OpenPassiveInstances(uint32_t active);

  Backend& backend_;
  const std::string name_;
  const uint64_t version_;
  const uint64_t load_;
  const std::string directory_;
  const bool auto_complete_;
  ModelTensors tensors_;
  std::vector<InstanceInfo> instance_infos_;
  std::vector<std::unique_ptr<Instance>> passive_;
  bool pinned_ = false;
  bool initialized_ = false;
  std::atomic<bool> initializing_{false};
  std::atomic<bool> given_up_{false};
  std::unique_ptr<PluginBatcher> batcher_;
  mutable Mutex mutex_;
  std::map<int32_t, std::mutex> devices_ NRD_GUARDED_BY(mutex_);
  std::string config_ NRD_GUARDED_BY(mutex_);
  std::vector<Instance*> instances_ NRD_GUARDED_BY(mutex_);
  bool is_asked_ NRD_GUARDED_BY(mutex_) = false;
  std::vector<Instance*> asked_ NRD_GUARDED_BY(mutex_);  // those that have not answered yet
  Status answer_ NRD_GUARDED_BY(mutex_);                 // the last one
  uint64_t answers_ NRD_GUARDED_BY(mutex_) = 0;          // how many there were
  Condition answered_;
};

// The models that are open, by their loads.
class LoadedModels {
 public:
  // Calls body(Model&) for the model of a load, which stays open meanwhile; false: there is none.
  template <typename Body>
  static bool With(uint64_t load, Body&& body) {
    Model* const model = Hold(load);
    if (model == nullptr) {
      return false;
    }
    const std::unique_ptr<Model, void (*)(Model*)> held(model, LetGo);
    body(*model);
    return true;
  }
  static void Add(Model* model);
  // Removes the model once no caller holds it.
  static void Remove(Model* model);

 private:
  static Model* Hold(uint64_t load);
  static void LetGo(Model* model);
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_MODEL_H_

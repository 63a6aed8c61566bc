// A model whose backend is a plug-in: what the plug-in knows of it, and what it says.
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

// The bytes that a plug-in says something occupies, of all memory together.
uint64_t ReportedBytes(TRITONSERVER_BufferAttributes** usage, uint32_t count, Status* status);

class Model : public Handle {
 public:
  static constexpr Kind kKind = Kind::kModel;

  // Initialises it, which may complete the configuration.
  static Status Open(Backend& backend, const nrd_model_options& options,
                     std::unique_ptr<Model>* out);
  ~Model();

  // Once all is known of how it is served.
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
  // Returns when nobody asks it any more whether it is ready.
  void Remove(Instance* instance);
  // Asks all instances, until one is not ready. The plug-in is asked without a lock: it may take
  // its time, and call back.
  Status Ready();
  // Fails the requests that the plug-in has. It gets none from then on.
  void GiveUp();
  [[nodiscard]] bool given_up() const { return given_up_.load(); }
  // With a backend that asks for that, instances on a device execute one at a time.
  [[nodiscard]] std::unique_lock<std::mutex> DeviceTurn(int32_t device);
  [[nodiscard]] uint64_t InstanceBytes();

  // Null: the backend leaves it to the core which requests go together.
  [[nodiscard]] PluginBatcher* batcher() const { return batcher_.get(); }

  std::atomic<void*> state{nullptr};  // the plug-in's
  std::atomic<uint64_t> reported_bytes{0};

 private:
  Model(Backend& backend, const nrd_model_options& options);
  Status Initialize();
  Status ReadInstances(const nrd_model_options& options);
  // They get no requests, so the core knows nothing of them: those behind the `active` ones.
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
  std::vector<Instance*> asked_ NRD_GUARDED_BY(mutex_);  // one entry for each who asks it
  Condition answered_;
};

// The models that are open, by their loads.
class LoadedModels {
 public:
  // Calls body(Model&) for the model of a load, which is not closed meanwhile; false: there is
  // none.
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
  // When nobody holds it.
  static void Remove(Model* model);

 private:
  static Model* Hold(uint64_t load);
  static void LetGo(Model* model);
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_MODEL_H_

#include "triton/model.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "triton/buffer_attributes.h"
#include "triton/execution.h"
#include "triton/host.h"
#include "triton/instance.h"
#include "triton/json.h"
#include "triton/plugin_batcher.h"

namespace nereid::triton {

namespace {

uint64_t Number(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

TRITONSERVER_InstanceGroupKind KindOf(const std::string& name) {
  return name == "KIND_GPU"     ? TRITONSERVER_INSTANCEGROUPKIND_GPU
         : name == "KIND_MODEL" ? TRITONSERVER_INSTANCEGROUPKIND_MODEL
         : name == "KIND_AUTO"  ? TRITONSERVER_INSTANCEGROUPKIND_AUTO
                                : TRITONSERVER_INSTANCEGROUPKIND_CPU;
}

InstanceInfo ReadInstance(const Json& entry, const Json& policies) {
  InstanceInfo info;
  info.name = entry["name"].text();
  info.kind = KindOf(entry["kind"].text());
  info.device = static_cast<int32_t>(entry["device"].Number(0));
  if (!entry["host_policy"].empty()) {
    info.host_policy = entry["host_policy"].text();
  }
  if (const Json& settings = policies[info.host_policy]; !settings.empty()) {
    info.host_policy_settings = settings.raw();
  }
  info.passive = entry["passive"].truth();
  for (const Json& profile : entry["profiles"].items()) {
    info.profiles.push_back(profile.text());
  }
  for (const Json& device : entry["secondary_devices"].items()) {
    info.secondary_devices.push_back({device["kind"].text(), device["device"].Number(0)});
  }
  return info;
}

struct Models {
  struct Entry {
    Model* model;
    uint32_t holders = 0;
    bool leaves = false;  // no more callers hold it
  };

  Mutex mutex;
  Condition let_go;
  std::vector<Entry> all NRD_GUARDED_BY(mutex);
};

Models& TheModels() {
  static auto* const models = new Models;
  return *models;
}

}  // namespace

uint64_t ReportedBytes(TRITONSERVER_BufferAttributes** usage, uint32_t count, Status* status) {
  uint64_t bytes = 0;
  for (TRITONSERVER_BufferAttributes* pointer : std::span(usage, count)) {
    const BufferAttributes* const attributes = Find<BufferAttributes>(pointer);
    if (attributes == nullptr) {
      *status = Status::InvalidArgument("an entry of the memory usage is no buffer attributes");
      return 0;
    }
    bytes += attributes->byte_size;
  }
  return bytes;
}

void LoadedModels::Add(Model* model) {
  Models& models = TheModels();
  const MutexLock lock(models.mutex);
  models.all.push_back({model});
}

void LoadedModels::Remove(Model* model) {
  Models& models = TheModels();
  const MutexLock lock(models.mutex);
  while (true) {
    const auto found =
        std::find_if(models.all.begin(), models.all.end(),
                     [&](const Models::Entry& entry) { return entry.model == model; });
    if (found == models.all.end()) {
      return;
    }
    found->leaves = true;
    if (found->holders == 0) {
      models.all.erase(found);
      return;
    }
    models.let_go.Wait(models.mutex);
  }
}

Model* LoadedModels::Hold(uint64_t load) {
  Models& models = TheModels();
  const MutexLock lock(models.mutex);
  for (Models::Entry& entry : models.all) {
    if (entry.model->load() == load && !entry.leaves) {
      ++entry.holders;
      return entry.model;
    }
  }
  return nullptr;
}

void LoadedModels::LetGo(Model* model) {
  Models& models = TheModels();
  const MutexLock lock(models.mutex);
  for (Models::Entry& entry : models.all) {
    entry.holders -= entry.model == model ? 1 : 0;
  }
  models.let_go.NotifyAll();
}

Model::Model(Backend& backend, const nrd_model_options& options)
    : backend_(backend),
      name_(View(options.name)),
      version_(Number(View(options.version))),
      load_(Number(ParameterOf(options, "nereid.load"))),
      directory_(ParameterOf(options, "nereid.directory")),
      auto_complete_(ParameterOf(options, "nereid.auto_complete") == "1"),
      config_(ParameterOf(options, "nereid.config")) {
  Handle::Open(kKind, nullptr);
}

Status Model::Open(Backend& backend, const nrd_model_options& options,
                   std::unique_ptr<Model>* out) {
  std::unique_ptr<Model> made(new Model(backend, options));
  LoadedModels::Add(made.get());  // its configuration is completed by its load
  NRD_RETURN_IF_ERROR(made->Initialize());
  *out = std::move(made);
  return Status();
}

Status Model::Initialize() {
  const BackendFunctions& functions = backend_.functions();
  auto* const self = Give<TRITONBACKEND_Model>(this);
  if (functions.model_initialize != nullptr) {
    initializing_ = true;
    Status status = backend_.Call("TRITONBACKEND_ModelInitialize",
                                  [&] { return functions.model_initialize(self); });
    initializing_ = false;
    NRD_RETURN_IF_ERROR(std::move(status));
  }
  initialized_ = true;
  return functions.batches() ? PluginBatcher::Open(*this, &batcher_) : Status();
}

Model::~Model() {
  LoadedModels::Remove(this);
  const BackendFunctions& functions = backend_.functions();
  batcher_.reset();
  passive_.clear();
  if (!initialized_ || functions.model_finalize == nullptr) {
    return;
  }
  const Status status = backend_.Call("TRITONBACKEND_ModelFinalize", [&] {
    return functions.model_finalize(Give<TRITONBACKEND_Model>(this));
  });
  if (!status.ok()) {
    Log(kLogError, {owner().name(), " failed to end model '", name_, "': ", status.message()});
  }
}

Status Model::Configure(const nrd_model_options& options) {
  tensors_ = ModelTensors(options);
  pinned_ = PoolIsPinned();
  {
    const MutexLock lock(mutex_);
    config_ = ParameterOf(options, "nereid.config");
  }
  NRD_RETURN_IF_ERROR(ReadInstances(options));
  return OpenPassiveInstances(std::max(options.instance_count, 1U));
}

Status Model::ReadInstances(const nrd_model_options& options) {
  const std::string_view text = ParameterOf(options, "nereid.instances");
  const std::string_view policies_text = ParameterOf(options, "nereid.host_policies");
  Json instances;
  Json policies;
  if (!text.empty()) {
    NRD_RETURN_IF_ERROR(Json::Parse(text, &instances));
  }
  if (!policies_text.empty()) {
    NRD_RETURN_IF_ERROR(Json::Parse(policies_text, &policies));
  }
  instance_infos_.clear();
  for (const Json& entry : instances.items()) {
    instance_infos_.push_back(ReadInstance(entry, policies));
  }
  const size_t count = std::max<size_t>(options.instance_count, 1);
  while (instance_infos_.size() < count) {
    InstanceInfo& info = instance_infos_.emplace_back();
    info.name = name_ + "_0_" + std::to_string(instance_infos_.size() - 1);
  }
  return Status();
}

Status Model::OpenPassiveInstances(uint32_t active) {
  for (auto i = active; i < instance_infos_.size(); ++i) {
    NRD_RETURN_IF_ERROR(Instance::Open(*this, i, &passive_.emplace_back()));
  }
  return Status();
}

const InstanceInfo& Model::instance_info(uint32_t index) { return instance_infos_.at(index); }

std::string Model::config() const {
  const MutexLock lock(mutex_);
  return config_;
}

Status Model::SetConfig(const std::string& json) {
  if (!initializing_) {
    return Status(NRD_UNIMPLEMENTED,
                  "the configuration of model '" + name_ +
                      "' can be set while TRITONBACKEND_ModelInitialize runs, and not later");
  }
  const std::string before = config();
  ReplaceConfig(json);
  const nrt_host& host = TheHost();
  nrd_error error{sizeof(nrd_error), 0, 0, 0, {}};
  const int32_t code = host.config_completed(host.context, load_, AsNrdString(json), &error);
  if (code != NRD_OK) {
    ReplaceConfig(before);
    return StatusFromCallback(code, error, "the control plane");
  }
  return Status();
}

void Model::ReplaceConfig(std::string_view json) {
  const MutexLock lock(mutex_);
  config_ = json;
}

void Model::Add(Instance* instance) {
  const MutexLock lock(mutex_);
  instances_.push_back(instance);
}

void Model::Remove(Instance* instance) {
  const MutexLock lock(mutex_);
  std::erase(instances_, instance);
  while (std::find(asked_.begin(), asked_.end(), instance) != asked_.end()) {
    answered_.Wait(mutex_);
  }
}

Status Model::Ready() {
  std::vector<Instance*> instances;
  {
    const MutexLock lock(mutex_);
    if (is_asked_) {
      for (const uint64_t before = answers_; answers_ == before;) {
        answered_.Wait(mutex_);
      }
      return answer_.Clone();
    }
    instances = instances_;
    asked_ = instances;
    is_asked_ = true;
  }
  Status status;
  for (Instance* instance : instances) {
    if (status.ok()) {
      status = instance->Ready();
    }
    const MutexLock lock(mutex_);
    std::erase(asked_, instance);
    answered_.NotifyAll();
  }
  const MutexLock lock(mutex_);
  answer_ = std::move(status);
  ++answers_;
  is_asked_ = false;
  answered_.NotifyAll();
  return answer_.Clone();
}

void Model::GiveUp() {
  given_up_.store(true);
  if (const std::string held = owner().Holdings(); !held.empty()) {
    Log(kLogError, owner().name() + " still holds " + held + " when model '" + name_ +
                       "' is unloaded; what it has of the model's requests is lost");
  }
  std::vector<std::shared_ptr<ExecutionPool>> pools;
  {
    const MutexLock lock(mutex_);
    for (const Instance* instance : instances_) {
      pools.push_back(instance->executions());
    }
  }
  for (const auto& pool : pools) {
    pool->GiveUp();
  }
}

std::unique_lock<std::mutex> Model::DeviceTurn(int32_t device) {
  if (backend_.policy != TRITONBACKEND_EXECUTION_DEVICE_BLOCKING || tensors_.sequences) [[likely]] {
    return {};
  }
  std::mutex* turn = nullptr;
  {
    const MutexLock lock(mutex_);
    turn = &devices_[device];
  }
  return std::unique_lock(*turn);
}

uint64_t Model::InstanceBytes() {
  const MutexLock lock(mutex_);
  uint64_t bytes = 0;
  for (const Instance* instance : instances_) {
    bytes += instance->reported_bytes.load();
  }
  return bytes;
}

}  // namespace nereid::triton

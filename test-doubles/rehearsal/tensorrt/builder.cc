#include "builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "archive.h"
#include "faults.h"
#include "network.h"
#include "version.h"

namespace rehearsal::trt {

// ---- Bytes that callers delete -----------------------------------------------------------------

HostMemory::HostMemory(std::vector<std::byte> bytes, const char* call)
    : Held(static_cast<HostMemoryCalls*>(this)),
      life_(static_cast<Held*>(this), "TensorRT host memory", call, nullptr),
      bytes_(std::move(bytes)) {}

void HostMemory::Delete() {
  if (life_.End("~IHostMemory")) {
    bytes_ = {};
    Bury(this);
  }
}

void* HostMemory::data() const {
  return life_.IsAlive("IHostMemory::data") ? const_cast<std::byte*>(bytes_.data()) : nullptr;
}

std::size_t HostMemory::size() const {
  return life_.IsAlive("IHostMemory::size") ? bytes_.size() : 0;
}

DataType HostMemory::type() const { return DataType::kInt8; }

// ---- Optimization profiles ---------------------------------------------------------------------

ProfileObject::ProfileObject(const Log& log, const Life* builder)
    : Held(static_cast<OptimizationProfileCalls*>(this)), log_(log), builder_(builder) {}

void ProfileObject::Delete() {}

bool ProfileObject::setDimensions(const char* input, Selector which, const Dims& dims) {
  const char* call = "IOptimizationProfile::setDimensions";
  return Begin(*builder_, log_, call) && Guarded(log_, call, false, [&] {
           profile_.shapes[input].at(static_cast<std::size_t>(which)) = ShapeOf(dims);
           return true;
         });
}

bool ProfileObject::setShapeValues(const char* input, Selector which, const ShapeValue* values,
                                   std::int32_t count) {
  const char* call = "IOptimizationProfile::setShapeValues";
  return Begin(*builder_, log_, call) && Guarded(log_, call, false, [&] {
           profile_.values[input].at(static_cast<std::size_t>(which)) = {values, values + count};
           return true;
         });
}

// ---- Timing caches -----------------------------------------------------------------------------

namespace {

constexpr const char* kCacheTag = "rehearsed timing cache";

}  // namespace

TimingCache::TimingCache(const Log& log, Life* config, std::int64_t builds)
    : Held(static_cast<TimingCacheCalls*>(this)),
      log_(log),
      life_(static_cast<Held*>(this), "TensorRT timing cache", "IBuilderConfig::createTimingCache",
            config),
      builds_(builds) {}

void TimingCache::Delete() {
  if (life_.End("~ITimingCache")) {
    Bury(this);
  }
}

Held* TimingCache::serialize() const {
  const char* call = "ITimingCache::serialize";
  if (!Begin(life_, log_, call)) {
    return nullptr;
  }
  Writer to;
  to.Text(kCacheTag);
  to.Number(builds_);
  return new HostMemory(to.bytes(), call);
}

bool TimingCache::Read(const void* bytes, std::size_t size, std::int64_t* builds) {
  *builds = 0;
  if (size == 0) {
    return true;
  }
  try {
    Reader from(static_cast<const std::byte*>(bytes), size);
    bool ours = from.Text() == kCacheTag;
    *builds = from.Number();
    from.End();
    return ours;
  } catch (const Refusal&) {
    return false;
  }
}

// ---- The configuration -------------------------------------------------------------------------

BuilderConfig::BuilderConfig(const Log& log, Life* builder)
    : Held(static_cast<BuilderConfigCalls*>(this)),
      log_(log),
      life_(static_cast<Held*>(this), "TensorRT builder configuration",
            "IBuilder::createBuilderConfig", builder) {}

void BuilderConfig::Delete() {
  if (life_.End("~IBuilderConfig")) {
    profiles_.clear();
    Bury(this);
  }
}

void BuilderConfig::setFlag(BuilderFlag flag) {
  if (life_.IsAlive("IBuilderConfig::setFlag")) {
    flags_ |= 1U << static_cast<unsigned>(flag);
  }
}

void BuilderConfig::clearFlag(BuilderFlag flag) {
  if (life_.IsAlive("IBuilderConfig::clearFlag")) {
    flags_ &= ~(1U << static_cast<unsigned>(flag));
  }
}

bool BuilderConfig::getFlag(BuilderFlag flag) const {
  return ((flags_ >> static_cast<unsigned>(flag)) & 1U) != 0;
}

std::int32_t BuilderConfig::addOptimizationProfile(const Held* profile) {
  const char* call = "IBuilderConfig::addOptimizationProfile";
  if (!Begin(life_, log_, call)) {
    return -1;
  }
  return Guarded(log_, call, -1, [&] {
    const Profile& added = static_cast<const ProfileObject*>(profile)->profile();
    for (const auto* ranges : {&added.shapes, &added.values}) {
      for (const auto& [input, range] : *ranges) {
        bool fits = range[0].size() == range[1].size() && range[1].size() == range[2].size();
        for (std::size_t i = 0; fits && i < range[1].size(); ++i) {
          fits = range[0][i] <= range[1][i] && range[1][i] <= range[2][i];
        }
        if (!fits) {
          throw Refusal("expected shapes that grow from MIN to MAX for input '" + input +
                        "', got " + Text(range[0]) + ", " + Text(range[1]) + ", " + Text(range[2]));
        }
      }
    }
    profiles_.push_back(added);
    return static_cast<std::int32_t>(profiles_.size()) - 1;
  });
}

std::int32_t BuilderConfig::getNbOptimizationProfiles() const {
  return static_cast<std::int32_t>(profiles_.size());
}

Held* BuilderConfig::createTimingCache(const void* bytes, std::size_t size) const {
  const char* call = "IBuilderConfig::createTimingCache";
  std::int64_t builds = 0;
  if (!Begin(life_, log_, call)) {
    return nullptr;
  }
  if (!TimingCache::Read(bytes, size, &builds)) {
    log_.Error(std::string(call) + ": Error Code 4: the timing cache cannot be read");
    return nullptr;
  }
  return new TimingCache(log_, &life_, builds);
}

bool BuilderConfig::setTimingCache(const Held& cache, bool /*ignore_mismatch*/) {
  if (!Begin(life_, log_, "IBuilderConfig::setTimingCache")) {
    return false;
  }
  timing_cache_ = const_cast<TimingCache*>(static_cast<const TimingCache*>(&cache));
  return true;
}

// What only makes real builds quicker or smaller changes nothing here.
void BuilderConfig::setMemoryPoolLimit(std::int32_t /*pool*/, std::size_t /*bytes*/) {
  (void)life_.IsAlive("IBuilderConfig::setMemoryPoolLimit");
}

void BuilderConfig::setBuilderOptimizationLevel(std::int32_t /*level*/) {
  (void)life_.IsAlive("IBuilderConfig::setBuilderOptimizationLevel");
}

void BuilderConfig::setPluginsToSerialize(const char* const* /*paths*/, std::int32_t /*count*/) {
  (void)life_.IsAlive("IBuilderConfig::setPluginsToSerialize");
}

bool BuilderConfig::setMaxAuxStreams(std::int32_t /*count*/) {
  return life_.IsAlive("IBuilderConfig::setMaxAuxStreams");
}

void BuilderConfig::setHardwareCompatibilityLevel(std::int32_t level) {
  if (life_.IsAlive("IBuilderConfig::setHardwareCompatibilityLevel")) {
    hardware_level_ = level;
  }
}

void BuilderConfig::setProgressMonitor(ProgressMonitorCalls* monitor) {
  if (life_.IsAlive("IBuilderConfig::setProgressMonitor")) {
    monitor_ = monitor;
  }
}

// ---- The builder -------------------------------------------------------------------------------

Builder::Builder(LoggerCalls* logger)
    : Held(static_cast<BuilderCalls*>(this)),
      log_(logger),
      life_(static_cast<Held*>(this), "TensorRT builder", "createInferBuilder_INTERNAL", nullptr) {}

void Builder::Delete() {
  if (life_.End("~IBuilder")) {
    Bury(this);
  }
}

Held* Builder::createBuilderConfig() {
  return Begin(life_, log_, "IBuilder::createBuilderConfig") ? new BuilderConfig(log_, &life_)
                                                             : nullptr;
}

Held* Builder::createNetworkV2(std::uint32_t flags) {
  bool strongly_typed = kMajor >= 11 || ((flags >> kStronglyTyped) & 1U) != 0;
  return Begin(life_, log_, "IBuilder::createNetworkV2") ? new Network(log_, &life_, strongly_typed)
                                                         : nullptr;
}

Held* Builder::createOptimizationProfile() {
  if (!Begin(life_, log_, "IBuilder::createOptimizationProfile")) {
    return nullptr;
  }
  profiles_.push_back(std::make_unique<ProfileObject>(log_, &life_));
  return profiles_.back().get();
}

Held* Builder::buildSerializedNetwork(Held& network, Held& config) {
  const char* call = "IBuilder::buildSerializedNetwork";
  auto& with = static_cast<BuilderConfig&>(config);
  if (!Begin(life_, log_, call) || !NetworkOf(network).IsAlive(call) || !with.IsAlive(call)) {
    return nullptr;
  }
  return Guarded(log_, call, static_cast<Held*>(nullptr), [&] {
    Plan plan = BuildPlan(NetworkOf(network).graph(), with);
    if (with.timing_cache() != nullptr) {
      with.timing_cache()->CountBuild();
    }
    return new HostMemory(WritePlan(plan), call);
  });
}

}  // namespace rehearsal::trt

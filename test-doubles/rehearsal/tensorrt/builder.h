// Objects that build plans.
#ifndef NEREID_REHEARSAL_TENSORRT_BUILDER_H_
#define NEREID_REHEARSAL_TENSORRT_BUILDER_H_

#include <memory>
#include <string>
#include <vector>

#include "interfaces/builder.h"
#include "object.h"
#include "plan.h"

namespace rehearsal::trt {

// Bytes of the processor that callers delete: a plan, or a timing cache.
class HostMemory final : public Held, public HostMemoryCalls {
 public:
  HostMemory(std::vector<std::byte> bytes, const char* call);

  void Delete() override;
  [[nodiscard]] void* data() const override;
  [[nodiscard]] std::size_t size() const override;
  [[nodiscard]] DataType type() const override;

 private:
  Life life_;
  std::vector<std::byte> bytes_;
};

// Lives and goes with the builder: callers delete none.
class ProfileObject final : public Held, public OptimizationProfileCalls {
 public:
  ProfileObject(const Log& log, const Life* builder);

  void Delete() override;
  bool setDimensions(const char* input, Selector which, const Dims& dims) override;
  bool setShapeValues(const char* input, Selector which, const ShapeValue* values,
                      std::int32_t count) override;

  [[nodiscard]] const Profile& profile() const { return profile_; }

 private:
  Log log_;
  const Life* builder_;
  Profile profile_;
};

// What earlier builds measured: here, a number of builds.
class TimingCache final : public Held, public TimingCacheCalls {
 public:
  TimingCache(const Log& log, Life* config, std::int64_t builds);

  void Delete() override;
  [[nodiscard]] Held* serialize() const override;

  // Whether bytes are those of a cache; empty ones are.
  static bool Read(const void* bytes, std::size_t size, std::int64_t* builds);
  void CountBuild() { ++builds_; }

 private:
  Log log_;
  Life life_;
  std::int64_t builds_;
};

class BuilderConfig final : public Held, public BuilderConfigCalls {
 public:
  BuilderConfig(const Log& log, Life* builder);

  void Delete() override;
  void setFlags(std::uint32_t flags) override { flags_ = flags; }
  [[nodiscard]] std::uint32_t getFlags() const override { return flags_; }
  void clearFlag(BuilderFlag flag) override;
  void setFlag(BuilderFlag flag) override;
  [[nodiscard]] bool getFlag(BuilderFlag flag) const override;
  std::int32_t addOptimizationProfile(const Held* profile) override;
  [[nodiscard]] std::int32_t getNbOptimizationProfiles() const override;
  Held* createTimingCache(const void* bytes, std::size_t size) const override;
  bool setTimingCache(const Held& cache, bool ignore_mismatch) override;
  void setMemoryPoolLimit(std::int32_t pool, std::size_t bytes) override;
  void setBuilderOptimizationLevel(std::int32_t level) override;
  void setHardwareCompatibilityLevel(std::int32_t level) override;
  void setPluginsToSerialize(const char* const* paths, std::int32_t count) override;
  bool setMaxAuxStreams(std::int32_t count) override;
  void setProgressMonitor(ProgressMonitorCalls* monitor) override;

  [[nodiscard]] bool IsAlive(const char* call) const { return life_.IsAlive(call); }
  [[nodiscard]] const std::vector<Profile>& profiles() const { return profiles_; }
  [[nodiscard]] bool IsHardwareCompatible() const { return hardware_level_ != 0; }
  [[nodiscard]] ProgressMonitorCalls* monitor() const { return monitor_; }
  [[nodiscard]] TimingCache* timing_cache() const { return timing_cache_; }

 private:
  Log log_;
  mutable Life life_;  // caches that a const function makes are its own
  std::uint32_t flags_ = 1U << static_cast<unsigned>(BuilderFlag::kTf32);
  std::vector<Profile> profiles_;
  std::int32_t hardware_level_ = 0;
  ProgressMonitorCalls* monitor_ = nullptr;
  TimingCache* timing_cache_ = nullptr;
};

class Builder final : public Held, public BuilderCalls {
 public:
  explicit Builder(LoggerCalls* logger);

  void Delete() override;
  Held* createBuilderConfig() override;
  Held* createNetworkV2(std::uint32_t flags) override;
  Held* createOptimizationProfile() override;
  Held* buildSerializedNetwork(Held& network, Held& config) override;

 private:
  Log log_;
  Life life_;
  std::vector<std::unique_ptr<ProfileObject>> profiles_;
};

// Builds a plan of a network for the calling thread's device, and tells the configuration's monitor
// how far it is. Throws Refusal.
Plan BuildPlan(const Graph& graph, const BuilderConfig& config);

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_BUILDER_H_

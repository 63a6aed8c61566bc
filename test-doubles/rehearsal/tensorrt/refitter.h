// Gives an engine other weights.
#ifndef NEREID_REHEARSAL_TENSORRT_REFITTER_H_
#define NEREID_REHEARSAL_TENSORRT_REFITTER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine.h"
#include "interfaces/runtime.h"
#include "object.h"

namespace rehearsal::trt {

// Weights are read where the caller has them, and not before the engine is refitted. Those of one
// layer belong together: who sets some of them has to set all.
class Refitter final : public Held, public RefitterCalls {
 public:
  Refitter(Life* engine, std::shared_ptr<EngineState> state, LoggerCalls* logger);

  void Delete() override;
  bool refitCudaEngine() override;
  bool setNamedWeights(const char* name, Weights weights) override;
  std::int32_t getMissingWeights(std::int32_t size, const char** names) override;
  std::int32_t getAllWeights(std::int32_t size, const char** names) override;
  Weights getWeightsPrototype(const char* name) const override;

 private:
  // Weights of that name that can be changed; null: there are none.
  [[nodiscard]] Parameter* Find(const char* name) const;
  // Names of the weights that can be changed, or of those alone that are missing.
  [[nodiscard]] std::vector<const char*> Names(bool missing) const;

  Log log_;
  Life life_;
  std::shared_ptr<EngineState> state_;
  std::map<std::string, Weights> set_;
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_REFITTER_H_

// An ensemble in a simulation: the real Ensemble, ResponseFlow and ResponseCache over models whose
// backends answer at random times.
#ifndef NEREID_TEST_SIMULATION_SIMULATED_ENSEMBLE_H_
#define NEREID_TEST_SIMULATION_SIMULATED_ENSEMBLE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "core/ensemble/ensemble.h"
#include "core/model/model.h"
#include "core/model/runtime.h"
#include "core/request/request_runner.h"
#include "test/simulation/simulated_world.h"

namespace nereid::simulation {

// A step of the graph. Value 0 is the request's input, value i + 1 what step i makes.
struct SimulatedStep {
  std::vector<uint32_t> inputs;
  bool decoupled = false;
};

// A request to the ensemble, as its client sees it.
struct SimulatedCall {
  Request* request = nullptr;
  uint64_t generation = 0;  // rises with each use of this memory
  bool in_flight = false;
  int64_t input = 0;
  std::vector<int64_t> expected;  // values of a successful answer, in order
  std::vector<int64_t> received;
  uint32_t sent = 0;   // responses that its decoupled step sent; later steps may still hold them
  uint32_t parts = 0;  // unanswered requests to models of its steps
};

// All tensors are one number.
inline void AsOneNumber(nrd_tensor* tensor, void* data) {
  tensor->data = data;
  tensor->byte_size = sizeof(int64_t);
  tensor->datatype = NRD_TYPE_INT64;
  tensor->rank = 1;
  tensor->shape[0] = 1;
}

class SimulatedEnsemble final : public Actor {
 public:
  explicit SimulatedEnsemble(SimulatedWorld& world);
  ~SimulatedEnsemble() override;

  void Handle(const Event& event) override;
  void SendToWork() override;
  void BeginCalm() override { calm_ = true; }
  [[nodiscard]] bool IsCalm() const override { return active_.empty(); }
  void BeginEnd() override { ending_ = true; }
  [[nodiscard]] bool HasEnded() const override { return ending_ && ensemble_ == nullptr; }

  [[nodiscard]] uint64_t answered() const { return answered_; }
  [[nodiscard]] uint64_t executed() const { return executed_; }

 private:
  class Runner;

  // A request to the model of a step.
  struct Part {
    Request* request = nullptr;  // null: unused
    uint32_t step = 0;
    uint64_t number = 0;  // of the use
    uint32_t sent = 0;
    uint32_t responses = 0;  // sent before the answer
    bool has_last = false;   // the answer carries one more response
  };

  // Chooses the graph and its computation.
  void Load();
  void ChooseSteps();
  void LoadSteps();
  void LoadEnsemble();
  void Unload();
  [[nodiscard]] int64_t Compute(uint32_t step, const std::vector<int64_t>& values,
                                uint32_t response) const;
  static uint32_t ResponsesFor(int64_t input) { return static_cast<uint32_t>(input % 4); }
  void Expect(uint32_t step, std::vector<int64_t>* values, std::vector<int64_t>* expected) const;

  // Clients.
  void Arrive();
  SimulatedCall& NewCall();
  void Answered(SimulatedCall& call);
  static void OnComplete(void* context, const uint64_t* tags, uint32_t count);
  static void OnRespond(void* context, uint64_t tag, nrd_tensor* outputs, uint32_t count);
  static SimulatedCall& CallOf(const Request& part) {
    return *reinterpret_cast<SimulatedCall*>(part.record.tag);
  }

  // Backends.
  int32_t Submit(uint32_t step, Request& request);
  int32_t CancelPart(Request& request);
  void GoOn(Part& part);
  void SendNext(Part& part);
  void AnswerPart(Part& part);
  void Execute(uint32_t step, Request& request, uint32_t response);
  void Keep(const Request& request);
  void GoOnSoon(Part& part);

  SimulatedWorld& world_;
  std::unique_ptr<Runtime> runtime_;
  ModelStats stats_{1, 0, false};
  std::vector<SimulatedStep> steps_;
  std::vector<std::unique_ptr<Model, ModelReleaser>> models_;  // one for each step
  Model* ensemble_ = nullptr;                                  // null: it is unloaded
  uint32_t most_inflight_ = 0;
  uint32_t decoupled_ = 0;  // number of decoupled steps
  int64_t salt_ = 0;        // makes each load compute other values
  int64_t execution_ns_ = 1'000;
  uint64_t generation_ = 0;
  bool closing_ = false;
  bool calm_ = false;
  bool ending_ = false;

  std::deque<SimulatedCall> calls_;
  std::vector<SimulatedCall*> unused_calls_;
  std::vector<SimulatedCall*> active_;
  std::deque<Part> parts_;
  std::vector<Part*> unused_parts_;
  std::vector<Part*> stalled_;
  uint64_t last_number_ = 0;
  uint64_t answered_ = 0;
  uint64_t executed_ = 0;
};

}  // namespace nereid::simulation

#endif  // NEREID_TEST_SIMULATION_SIMULATED_ENSEMBLE_H_

#include "core/ensemble/ensemble_stages.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace nereid {
namespace {

// True if anything takes the value; other outputs of a decoupled step are not asked for.
bool IsTaken(const EnsembleGraph& whole, uint32_t value) {
  return !whole.values[value].consumers.empty() ||
         std::find(whole.outputs.begin(), whole.outputs.end(), value) != whole.outputs.end();
}

// One stage of a graph, whose values get new numbers.
class StageGraph {
 public:
  explicit StageGraph(const EnsembleGraph& whole) : whole_(whole), numbers_(whole.values.size()) {}

  void AddInput(uint32_t value) { AddValue(value, {}); }

  // Adds the values that the decoupled step `from` makes for this stage.
  void AddInputs(const EnsembleStep& from) {
    graph_.inputs_where = from.where;
    for (const nrd_link& output : from.outputs) {
      if (IsTaken(whole_, output.value)) {
        AddInput(output.value);
      }
    }
  }

  void AddStep(const EnsembleStep& from, bool decoupled) {
    const auto index = static_cast<uint32_t>(graph_.steps.size());
    EnsembleStep& step = graph_.steps.emplace_back(from);
    for (EnsembleStep::Input& input : step.inputs) {
      input.value = numbers_[input.value];
      graph_.values[input.value].consumers.push_back(index);
    }
    if (decoupled) {
      std::erase_if(step.outputs,
                    [this](const nrd_link& link) { return !IsTaken(whole_, link.value); });
    }
    for (nrd_link& output : step.outputs) {
      output.value =
          AddValue(output.value, {.step = index, .position = output.position, .consumers = {}});
    }
  }

  void AddOutputs() {
    for (const uint32_t value : whole_.outputs) {
      graph_.outputs.push_back(numbers_[value]);
    }
    graph_.fitted_outputs = whole_.fitted_outputs;
  }

  EnsembleGraph& graph() { return graph_; }

 private:
  uint32_t AddValue(uint32_t value, EnsembleGraph::Value made) {
    numbers_[value] = static_cast<uint32_t>(graph_.values.size());
    graph_.values.push_back(std::move(made));
    return numbers_[value];
  }

  const EnsembleGraph& whole_;
  std::vector<uint32_t> numbers_;  // by value of the whole graph
  EnsembleGraph graph_;
};

}  // namespace

void EnsembleStages::Add(const EnsembleStep& step, bool decoupled) {
  const auto index = static_cast<uint32_t>(step_stages_.size());
  step_stages_.push_back(step.inputs.empty() ? 0 : StageOf(step.inputs.front().value));
  if (decoupled) {
    begun_by_.push_back(index);
  }
  const uint32_t made = decoupled ? static_cast<uint32_t>(begun_by_.size()) : step_stages_.back();
  for (const nrd_link& output : step.outputs) {
    value_stages_.resize(std::max<size_t>(value_stages_.size(), output.value + 1));
    value_stages_[output.value] = made;
  }
}

uint32_t EnsembleStages::Depth(uint32_t stage) const {
  uint32_t depth = 1;
  for (; stage != 0; stage = StageBefore(stage)) {
    ++depth;
  }
  return depth;
}

EnsembleGraph EnsembleStages::Part(const EnsembleGraph& whole, uint32_t input_count, uint32_t stage,
                                   uint32_t next) const {
  StageGraph part(whole);
  if (stage == 0) {
    for (uint32_t value = 0; value < input_count; ++value) {
      part.AddInput(value);
    }
  } else {
    part.AddInputs(whole.steps[begun_by_[stage - 1]]);
  }
  for (uint32_t i = 0; i < whole.steps.size(); ++i) {
    const bool decoupled = std::find(begun_by_.begin(), begun_by_.end(), i) != begun_by_.end();
    if (step_stages_[i] == stage && !decoupled) {
      part.AddStep(whole.steps[i], false);
    }
  }
  if (next == 0) {
    part.AddOutputs();
  } else {
    part.AddStep(whole.steps[begun_by_[next - 1]], true);
  }
  return std::move(part.graph());
}

// Goes backwards from the outputs: only stages between them and the request are needed.
void EnsembleStages::Cut(uint32_t input_count, EnsembleGraph* graph) const {
  uint32_t stage = StageOf(graph->outputs.front());
  if (stage == 0) {
    return;
  }
  const EnsembleGraph whole = std::exchange(*graph, {});
  for (uint32_t next = 0;; next = std::exchange(stage, StageBefore(stage))) {
    EnsembleGraph part = Part(whole, input_count, stage, next);
    if (next != 0) {
      part.behind = std::make_unique<EnsembleGraph>(std::exchange(*graph, {}));
    }
    *graph = std::move(part);
    if (stage == 0) {
      return;
    }
  }
}

}  // namespace nereid

#include "core/ensemble/ensemble_config.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "base/tensor.h"
#include "core/ensemble/ensemble_stages.h"
#include "core/model/model.h"
#include "core/request/request_check.h"

namespace nereid {
namespace {

// A tensor as one side of a link sees it.
struct End {
  const TensorSpec* spec = nullptr;            // NULL: not linked yet
  const std::vector<int64_t>* dims = nullptr;  // of the passed tensor, which an ensemble may have
                                               // reshaped
  bool batched = false;
  std::string name;  // "output 'X' of step 'm'"
};

End EndOfEnsemble(const ModelConfig& config, const TensorSpec& spec, std::string_view kind) {
  return {&spec, &spec.BackendDims(), config.batched(),
          std::string(kind) + " '" + spec.name + "' of the ensemble"};
}

End EndOfStep(const ModelConfig& config, const TensorSpec& spec, std::string_view kind) {
  return {&spec, &spec.dims, config.batched(),
          std::string(kind) + " '" + spec.name + "' of step '" + config.name + "'"};
}

bool DimsAgree(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](int64_t x, int64_t y) { return x == y || x == -1 || y == -1; });
}

std::vector<int64_t> FullShape(const End& end) {
  std::vector<int64_t> shape = *end.dims;
  if (end.batched) {
    shape.insert(shape.begin(), -1);
  }
  return shape;
}

BatchDimension Passing(const End& from, const End& to) {
  if (from.batched == to.batched) {
    return BatchDimension::kKept;
  }
  return to.batched ? BatchDimension::kAdded : BatchDimension::kDropped;
}

// Checks that two ends fit. If only one side batches, they may agree without the batch dimension,
// so that rows pass one by one, or with it: [-1,4] without batching equals any batch of [4].
Status CheckAgreement(const End& from, const End& to) {
  if (from.spec->datatype != to.spec->datatype) {
    return Status::InvalidArgument(
        from.name + " has datatype " + std::string(DataTypeName(from.spec->datatype)) + ", but " +
        to.name + " expects " + std::string(DataTypeName(to.spec->datatype)));
  }
  if (!DimsAgree(*from.dims, *to.dims) && !DimsAgree(FullShape(from), FullShape(to))) {
    return Status::InvalidArgument(
        from.name + " has shape " + ExpectedShape(*from.dims, from.batched) + ", but " + to.name +
        " expects " + ExpectedShape(*to.dims, to.batched) + " (batch dimensions included)");
  }
  return Status();
}

// True if a tensor that agrees with `from`, which batches as `to` does, may have a shape that `to`
// excludes, rows aside.
bool IsNarrower(const End& to, const End& from) {
  return !std::equal(from.dims->begin(), from.dims->end(), to.dims->begin(), to.dims->end(),
                     [](int64_t a, int64_t b) { return a == b || b == -1; });
}

// True if each request of the model has as many rows as the one that its inputs come from.
bool KeepsRows(const ModelConfig& config) {
  const std::span<const TensorSpec> inputs = config.VisibleInputs();
  return config.batched() && std::any_of(inputs.begin(), inputs.end(),
                                         [](const TensorSpec& spec) { return !spec.optional; });
}

Status CheckOptions(const nrd_model_options& options) {
  const auto refuse = [](std::string_view what) {
    return Status::InvalidArgument("an ensemble " + std::string(what));
  };
  if (options.backend != nullptr) {
    return refuse("has no backend: its steps do the work");
  }
  if (options.instance_count > 1) {
    return refuse("has no instances of its own, but its instance count is " +
                  std::to_string(options.instance_count));
  }
  if ((options.flags & NRD_MODEL_DYNAMIC_BATCHING) != 0) {
    return refuse("cannot have dynamic batching: its steps' models batch");
  }
  if (options.batcher != nullptr) {
    return refuse("cannot have a batcher: its steps' models batch");
  }
  if ((options.flags & NRD_MODEL_PRESERVE_ORDERING) != 0) {
    return refuse("cannot preserve the order of its requests");
  }
  return Status();
}

// Reads one ensemble. `ends_` has the producer of each value, as far as steps were read.
class GraphReader {
 public:
  GraphReader(const Runtime& runtime, const nrd_model_options& options, ModelConfig* config,
              EnsembleGraph* graph)
      : runtime_(runtime), options_(options), config_(*config), graph_(*graph) {}

  Status Read() {
    NRD_RETURN_IF_ERROR(CountValues());
    for (size_t i = 0; i < config_.inputs.size(); ++i) {
      ends_[i] = EndOfEnsemble(config_, config_.inputs[i], "input");
    }
    for (uint32_t i = 0; i < options_.step_count; ++i) {
      graph_.steps.emplace_back();
      NRD_RETURN_IF_ERROR(ReadStep(options_.steps[i], i, &graph_.steps.back()));
    }
    NRD_RETURN_IF_ERROR(ReadOutputs());
    return Cut();
  }

 private:
  // Counts the values by their producers. Then a value without producer means that another one is
  // produced twice.
  Status CountValues() {
    uint64_t produced = options_.input_count;
    for (uint32_t i = 0; i < options_.step_count; ++i) {
      produced += options_.steps[i].output_count;
    }
    if (options_.value_count != produced) {
      return Status::InvalidArgument("value_count is " + std::to_string(options_.value_count) +
                                     ", but the ensemble's inputs and the steps' outputs make " +
                                     std::to_string(produced));
    }
    ends_.resize(options_.value_count);
    graph_.values.resize(options_.value_count);
    return Status();
  }

  Status ReadStep(const nrd_step& from, uint32_t index, EnsembleStep* step) {
    const auto* const model = reinterpret_cast<const Model*>(from.model);
    if (model == nullptr || &model->runtime() != &runtime_) {
      return Status::InvalidArgument("step " + std::to_string(index) +
                                     " has no model of the ensemble's runtime");
    }
    step->model = reinterpret_cast<Model*>(from.model);
    const ModelConfig& config = model->config();
    step->where = "in ensemble '" + config_.name + "', ";
    step->step_at = step->where.size();
    step->where += "step '" + config.name + "': ";
    rows_are_kept_ &= KeepsRows(config);
    NRD_RETURN_IF_ERROR(ReadInputs({from.inputs, from.input_count}, index, config, step));
    NRD_RETURN_IF_ERROR(ReadProduced({from.outputs, from.output_count}, index, config, step));
    std::vector<uint32_t> taken;
    for (const EnsembleStep::Input& input : step->inputs) {
      taken.push_back(input.value);
    }
    NRD_RETURN_IF_ERROR(CheckOrigins("step '" + config.name + "' receives inputs", taken));
    stages_.Add(*step, config.decoupled);
    const uint32_t stage = taken.empty() ? 0 : stages_.StageOf(taken.front());
    return SetDepth(config.ensemble_depth + stages_.Depth(stage),
                    "step '" + config.name + "' nests ensembles");
  }

  Status SetDepth(uint32_t depth, const std::string& who) {
    config_.ensemble_depth = std::max(config_.ensemble_depth, depth);
    if (config_.ensemble_depth > kMaxEnsembleDepth) {
      return Status::InvalidArgument(who + " more than " + std::to_string(kMaxEnsembleDepth) +
                                     " deep");
    }
    return Status();
  }

  // Checks that values taken together come equally often. The message begins as Triton's.
  Status CheckOrigins(const std::string& who, std::span<const uint32_t> values) const {
    for (const uint32_t value : values) {
      if (stages_.StageOf(value) != stages_.StageOf(values.front())) {
        return Status::InvalidArgument(
            who + " originated from different decoupled models: " + ends_[values.front()].name +
            " and " + ends_[value].name +
            " do not come equally often, so no response of the one belongs to one of the other");
      }
    }
    return Status();
  }

  Status Cut() {
    NRD_RETURN_IF_ERROR(CheckOrigins("the ensemble has outputs", graph_.outputs));
    config_.decoupled = stages_.any_decoupled();
    config_.allow_inline = (options_.flags & NRD_MODEL_NO_INLINE) == 0;
    if (config_.decoupled && config_.use_cache) {
      return Status::InvalidArgument("response_cache is not possible with a decoupled model");
    }
    const uint32_t stage = stages_.StageOf(graph_.outputs.front());
    stages_.Cut(options_.input_count, &graph_);
    return SetDepth(stages_.Depth(stage), "the ensemble has decoupled steps");
  }

  // Checks a link's position, which no other link may have, and value; names the tensor.
  Status CheckLink(const nrd_link& link, std::string_view kind, const ModelConfig& config,
                   std::span<const TensorSpec> specs, std::vector<bool>* linked, End* end_out) {
    if (link.position >= specs.size()) {
      return Status::InvalidArgument("step '" + config.name + "' links " + std::string(kind) + " " +
                                     std::to_string(link.position) + ", but its model has " +
                                     std::to_string(specs.size()));
    }
    const TensorSpec& spec = specs[link.position];
    *end_out = EndOfStep(config, spec, kind);
    if (link.value >= ends_.size()) {
      return Status::InvalidArgument(end_out->name + " is linked to value " +
                                     std::to_string(link.value) + " of " +
                                     std::to_string(ends_.size()));
    }
    if ((*linked)[link.position]) {
      return Status::InvalidArgument(end_out->name + " is linked twice");
    }
    (*linked)[link.position] = true;
    return Status();
  }

  Status ReadInputs(std::span<const nrd_link> links, uint32_t index, const ModelConfig& config,
                    EnsembleStep* step) {
    std::vector<bool> linked(config.visible_inputs);
    for (const nrd_link& link : links) {
      End end;
      NRD_RETURN_IF_ERROR(CheckLink(link, "input", config, config.VisibleInputs(), &linked, &end));
      if (ends_[link.value].spec == nullptr) {
        return Status::InvalidArgument(end.name + " takes value " + std::to_string(link.value) +
                                       ", which is neither an input of the ensemble nor an output "
                                       "of an earlier step");
      }
      const End& from = ends_[link.value];
      NRD_RETURN_IF_ERROR(CheckAgreement(from, end));
      step->inputs.push_back({link.position, link.value, !end.spec->optional, Passing(from, end)});
      graph_.values[link.value].consumers.push_back(index);
    }
    for (size_t i = 0; i < linked.size(); ++i) {
      if (!linked[i] && !config.inputs[i].optional) {
        return Status::InvalidArgument("input '" + config.inputs[i].name + "' of step '" +
                                       config.name + "' is required, but nothing is linked to it");
      }
    }
    return Status();
  }

  Status ReadProduced(std::span<const nrd_link> links, uint32_t index, const ModelConfig& config,
                      EnsembleStep* step) {
    std::vector<bool> linked(config.visible_outputs);
    for (const nrd_link& link : links) {
      End end;
      NRD_RETURN_IF_ERROR(
          CheckLink(link, "output", config, config.VisibleOutputs(), &linked, &end));
      if (ends_[link.value].spec != nullptr) {
        return Status::InvalidArgument(end.name + " produces value " + std::to_string(link.value) +
                                       ", which " + ends_[link.value].name + " already is");
      }
      ends_[link.value] = std::move(end);
      graph_.values[link.value].step = index;
      graph_.values[link.value].position = link.position;
      step->outputs.push_back(link);
    }
    return Status();
  }

  Status ReadOutputs() {
    for (uint32_t i = 0; i < options_.output_count; ++i) {
      const uint32_t value = options_.output_values[i];
      const End end = EndOfEnsemble(config_, config_.outputs[i], "output");
      if (value >= ends_.size()) {
        return Status::InvalidArgument(end.name + " is value " + std::to_string(value) + " of " +
                                       std::to_string(ends_.size()));
      }
      // An input's memory may be the caller's, which an answer cannot keep.
      if (value < options_.input_count) {
        return Status::InvalidArgument(end.name + " is " + ends_[value].name +
                                       " itself: a step must produce it");
      }
      const End& from = ends_[value];
      NRD_RETURN_IF_ERROR(CheckAgreement(from, end));
      graph_.outputs.push_back(value);
      const BatchDimension passing = Passing(from, end);
      if (passing != BatchDimension::kKept || IsNarrower(end, from) || end.spec->reshape ||
          (config_.batched() && !rows_are_kept_)) {
        graph_.fitted_outputs.push_back({i, passing});
      }
    }
    return Status();
  }

  const Runtime& runtime_;
  const nrd_model_options& options_;
  ModelConfig& config_;
  EnsembleGraph& graph_;
  std::vector<End> ends_;
  EnsembleStages stages_;
  bool rows_are_kept_ = true;  // rows are the same from the ensemble's inputs through all steps
                               // read
};

}  // namespace

Status ReadEnsembleGraph(const Runtime& runtime, const nrd_model_options& options,
                         ModelConfig* config, EnsembleGraph* graph) {
  NRD_RETURN_IF_ERROR(CheckOptions(options));
  if (options.steps == nullptr || options.output_values == nullptr) {
    return Status::InvalidArgument("steps and output_values of an ensemble must both be set");
  }
  if (config->core_gathers) {
    return Status::InvalidArgument(
        "an ensemble has neither ragged nor hidden tensors: those are its steps' models' own");
  }
  return GraphReader(runtime, options, config, graph).Read();
}

}  // namespace nereid

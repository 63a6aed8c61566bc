#include "core/ensemble/load_ensemble.h"

#include <memory>
#include <utility>

#include "core/ensemble/ensemble.h"
#include "core/ensemble/ensemble_config.h"
#include "core/model/model_options.h"
#include "core/model/runtime.h"

namespace nereid {
namespace {

// Makes an ensemble; the one behind a decoupled step has neither a handle nor visible statistics,
// and belongs to the whole one.
std::unique_ptr<Model, ModelReleaser> NewEnsemble(Runtime& runtime, ModelConfig config,
                                                  EnsembleGraph graph) {
  std::unique_ptr<Model, ModelReleaser> behind;
  if (graph.behind != nullptr) {
    const EnsembleStep& last = graph.steps.back();
    ModelConfig rest = config;
    rest.reshapes_inputs = false;
    rest.inputs.clear();
    for (const nrd_link& output : last.outputs) {
      const TensorSpec& spec = last.model->config().outputs[output.position];
      rest.inputs.push_back({.name = spec.name, .datatype = spec.datatype, .dims = spec.dims});
    }
    rest.visible_inputs = static_cast<uint32_t>(rest.inputs.size());
    behind = NewEnsemble(runtime, std::move(rest), std::move(*graph.behind));
  }
  return Model::Around(runtime, std::move(config), [&](const ModelConfig& own, ModelStats& stats) {
    return std::make_unique<Ensemble>(
        EnsembleContext{.config = own,
                        .cache = own.use_cache ? runtime.cache() : nullptr,
                        .stats = stats,
                        .completion = runtime.completion(),
                        .responder = runtime.responder()},
        std::move(graph), behind.release());
  });
}

}  // namespace

Status LoadEnsemble(Runtime& runtime, const nrd_model_options& options, Model** model_out) {
  ModelConfig config;
  EnsembleGraph graph;
  if (options.objective != nullptr) {
    return Status::InvalidArgument(
        "an ensemble executes nothing itself, expected that the models of its steps have the "
        "objectives");
  }
  NRD_RETURN_IF_ERROR(ReadModelConfig(options, &config));
  NRD_RETURN_IF_ERROR(ReadEnsembleGraph(runtime, options, &config, &graph));
  NRD_RETURN_IF_ERROR(runtime.CheckResponder(config));
  *model_out = NewEnsemble(runtime, std::move(config), std::move(graph)).release();
  runtime.CountModel(1);
  return Status();
}

}  // namespace nereid

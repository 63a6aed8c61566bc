package io.nereid.cli;

import io.nereid.client.IndexedModel;
import io.nereid.client.InferenceClient;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.perf.ModelInfo;
import io.nereid.perf.ModelInfo.TensorInfo;
import io.nereid.perf.PerfException;
import io.nereid.perf.ServerConnection;
import io.nereid.types.Names;
import java.util.Comparator;
import java.util.List;

/** Converts descriptions of a running server's models to the types for models of this process. */
final class ServedModels {

  private ServedModels() {}

  /** All models that the server knows, loaded or not, by name and version. */
  static List<IndexedModel> index(ServerConnection server) {
    return server.ask("expected the models of " + server, InferenceClient::repositoryIndex).stream()
        .sorted(
            Comparator.comparing(IndexedModel::name)
                .thenComparingInt(model -> model.version().length())
                .thenComparing(IndexedModel::version))
        .toList();
  }

  /** The specification of a ready model; with an empty version, the server chooses. */
  static ModelSpec spec(ServerConnection server, String name, String version) {
    ModelInfo info = info(server, name, version);
    ModelSpec.Builder spec =
        ModelSpec.builder(name)
            .backend(info.platform().isBlank() ? "-" : info.platform())
            .maxBatchSize(info.batched() ? Math.max(1, info.maxBatchSize().orElse(1)) : 0)
            .decoupled(info.decoupled());
    for (TensorInfo input : info.inputs()) {
      spec.input(tensor(input, info.batched(), info.optionalInputs().contains(input.name())));
    }
    info.outputs().forEach(output -> spec.output(tensor(output, info.batched(), false)));
    return spec.build();
  }

  /** The description of a model; the failure for an unknown name lists the known ones. */
  private static ModelInfo info(ServerConnection server, String name, String version) {
    try {
      return server.model(name, version);
    } catch (PerfException e) {
      List<String> known = names(server);
      if (known.isEmpty() || known.contains(name)) {
        throw e;
      }
      throw new IllegalArgumentException(
          e.getMessage() + Names.hint("the server has", name, known), e);
    }
  }

  private static List<String> names(ServerConnection server) {
    try {
      return index(server).stream().map(IndexedModel::name).distinct().toList();
    } catch (PerfException e) {
      return List.of(); // the first failure is enough
    }
  }

  /** Converts a tensor: metadata have the batch dimension, specifications do not. */
  private static TensorSpec tensor(TensorInfo tensor, boolean batched, boolean optional) {
    List<Long> shape = tensor.shape();
    List<Long> dims = batched && !shape.isEmpty() ? shape.subList(1, shape.size()) : shape;
    return new TensorSpec(tensor.name(), tensor.type(), dims, optional);
  }
}

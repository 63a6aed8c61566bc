package io.nereid.internal.config;

import io.nereid.model.LoadTimes;
import io.nereid.model.ModelSpec;
import io.nereid.proto.ModelConfig;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Drafts models that consist of one file and have no configuration but a program's. */
final class FileDraft {

  /**
   * The largest batch of a model that is a file and can batch, unless more is set: users of a bare
   * file expect its free first dimension to take a request of some rows.
   */
  private static final int MAX_BATCH_SIZE = 64;

  private FileDraft() {}

  /** Returns the largest batch of a model that has a batch dimension and tells no size. */
  static int maxBatchSize(ModelFiles files, ReadOptions options) {
    return files.file().isEmpty()
        ? options.defaultMaxBatchSize()
        : Math.max(MAX_BATCH_SIZE, options.defaultMaxBatchSize());
  }

  /** True if a program names a model's file but none of its tensors. */
  static boolean isMeant(ModelSpec spec) {
    return spec.inputs().isEmpty()
        && spec.outputs().isEmpty()
        && spec.backend().isEmpty()
        && spec.ensemble().isEmpty()
        && spec.parameters().containsKey(ParameterReader.MODEL_PATH);
  }

  /** Drafts a model that {@link #isMeant} accepts. */
  static ModelDraft.Partial of(ModelSpec spec) {
    Path path = Path.of(spec.parameters().get(ParameterReader.MODEL_PATH));
    ModelFiles files = ModelFiles.ofFile(path, spec.name());
    ModelConfig.Builder config = SpecWriter.write(spec).toBuilder();
    config.clearModelWarmup().clearParameters();
    config.setDefaultModelFilename(path.getFileName().toString());
    ConfigNode root =
        ConfigNode.root(config.build(), new ConfigSource.Text("model '" + spec.name() + "'"));
    SpecReader reader = new SpecReader(root, files, ReadOptions.DEFAULT, spec.version());
    reader.readOpening(); // also checks that the file exists
    long wanted = spec.maxBatchSize() > 0 ? spec.maxBatchSize() : MAX_BATCH_SIZE;
    int most = (int) Math.min(wanted, Integer.MAX_VALUE);
    return new ModelDraft.Partial(
        reader, spec, List.of("input", "output"), most, Optional.of(spec), LoadTimes.NONE);
  }

  /** Returns the program's specification, completed from the file. */
  static ModelDraft.Whole complete(ModelSpec given, ModelSpec told) {
    if (given.maxBatchSize() > 0 && told.maxBatchSize() == 0) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          ("model '%s' has maxBatchSize %s, but not all of its inputs and outputs have a free "
                  + "first dimension for the batch: leave it out, or export the model with one")
              .formatted(given.name(), given.maxBatchSize()));
    }
    ModelSpec spec = given.completed(told);
    return new ModelDraft.Whole(spec, ProtobufConfiguration.of(spec), LoadTimes.NONE);
  }
}

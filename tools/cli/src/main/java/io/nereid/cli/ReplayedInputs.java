package io.nereid.cli;

import io.nereid.recording.AnswerSource;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.RecordedTensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.jr.ob.JSON;

/** Turns a recording into inputs for the load generator. */
final class ReplayedInputs {

  /** The most requests of a model whose inputs are used. */
  private static final int MOST_MEASURED = 100;

  private ReplayedInputs() {}

  /**
   * Writes inputs of the recording for each model as files that {@code perf --input-data} takes.
   * Requests of more than one row are left out.
   *
   * @param source has the models
   * @param single the name of the only model; empty: models have their recorded names
   */
  static Path write(List<RecordedCall> calls, AnswerSource source, String single, Path into)
      throws IOException {
    Files.createDirectories(into);
    Map<String, List<RecordedCall>> byModel =
        calls.stream()
            .collect(Collectors.groupingBy(call -> single.isEmpty() ? call.model() : single));
    for (Map.Entry<String, List<RecordedCall>> model : byModel.entrySet()) {
      boolean batched = source.maxBatchSize(model.getKey()) > 0;
      List<Map<String, Object>> data =
          model.getValue().stream()
              .filter(call ->
                  !batched
                      || call.inputs().stream().allMatch(input -> input.shape().getFirst() == 1))
              .limit(MOST_MEASURED)
              .map(call -> json(call, batched))
              .toList();
      if (!data.isEmpty()) {
        Files.writeString(
            into.resolve(model.getKey() + ".json"), JSON.std.asString(Map.of("data", data)));
      }
    }
    return into;
  }

  private static Map<String, Object> json(RecordedCall call, boolean batched) {
    Map<String, Object> inputs = new LinkedHashMap<>();
    call.inputs().forEach(input -> inputs.put(input.name(), json(input, batched)));
    return inputs;
  }

  private static Map<String, Object> json(RecordedTensor input, boolean batched) {
    List<Long> shape = input.shape();
    return Map.of(
        "b64",
        Base64.getEncoder().encodeToString(input.bytes()),
        "shape",
        batched ? shape.subList(1, shape.size()) : shape);
  }
}

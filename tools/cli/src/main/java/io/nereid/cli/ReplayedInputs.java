package io.nereid.cli;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelFile;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.RecordedTensor;
import io.nereid.recording.Recording;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.jr.ob.JSON;

/** Makes a recording what the load generator sends to measure speed. */
final class ReplayedInputs {

  /** Requests of a model whose inputs are sent again. */
  private static final int MOST_MEASURED = 100;

  private ReplayedInputs() {}

  /**
   * Writes inputs of the recording for each model as files that {@code perf --input-data} takes.
   * Requests of more than one row are left out.
   */
  static Path write(Path directory, Path models, Path into) throws IOException {
    Files.createDirectories(into);
    Map<String, List<Map<String, Object>>> byModel = new LinkedHashMap<>();
    try (Recording recording = Recording.open(directory);
        Nereid nereid = Nereid.open(models)) {
      for (RecordedCall call : recording.byArrival()) {
        Model model = ModelFile.isAt(models) ? nereid.model() : nereid.model(call.model());
        boolean batched = model.spec().maxBatchSize() > 0;
        List<Map<String, Object>> data =
            byModel.computeIfAbsent(model.name(), name -> new ArrayList<>());
        if (data.size() < MOST_MEASURED
            && (!batched
                || call.inputs().stream().allMatch(input -> input.shape().getFirst() == 1))) {
          Map<String, Object> inputs = new LinkedHashMap<>();
          call.inputs().forEach(input -> inputs.put(input.name(), json(input, batched)));
          data.add(inputs);
        }
      }
    }
    for (Map.Entry<String, List<Map<String, Object>>> model : byModel.entrySet()) {
      if (!model.getValue().isEmpty()) {
        Files.writeString(
            into.resolve(model.getKey() + ".json"),
            JSON.std.asString(Map.of("data", model.getValue())));
      }
    }
    return into;
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

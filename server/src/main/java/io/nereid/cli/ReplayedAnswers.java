package io.nereid.cli;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelFile;
import io.nereid.model.RepositoryOptions;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.RecordedTensor;
import io.nereid.recording.Recording;
import io.nereid.recording.compare.Answer;
import io.nereid.recording.compare.AnswerComparison;
import io.nereid.recording.compare.Tolerance;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.jr.ob.JSON;

/**
 * Sends the requests of a recording to two repositories, or to the models of two files, in this
 * process, one after the other in the order in which they arrived, and compares the answers.
 */
final class ReplayedAnswers {

  /** Requests of a model whose inputs are sent again to measure speed. */
  private static final int MOST_MEASURED = 100;

  private ReplayedAnswers() {}

  /** The requests of a recording, by arrival. */
  private static List<RecordedCall> calls(Recording recording) throws IOException {
    List<RecordedCall> calls = new ArrayList<>();
    for (RecordedCall call = recording.next(); call != null; call = recording.next()) {
      calls.add(call);
    }
    calls.sort(Comparator.comparing(RecordedCall::arrival));
    return calls;
  }

  /** Compares the answers of {@code b} with those of {@code a}. */
  static AnswerComparison compare(
      Path directory, Path a, Path b, Map<String, Tolerance> tolerances)
      throws IOException {
    AnswerComparison comparison = new AnswerComparison(tolerances, Map.of());
    try (Recording recording = Recording.open(directory);
        Nereid first = open(a);
        Nereid second = open(b)) {
      for (RecordedCall call : calls(recording)) {
        String request = call.id().isEmpty() ? call.arrival().toString() : call.id();
        Map<String, Answer> one = new LinkedHashMap<>();
        Map<String, Answer> other = new LinkedHashMap<>();
        String endOfOne = answer(first, ModelFile.isAt(a), call, one);
        String endOfOther = answer(second, ModelFile.isAt(b), call, other);
        if (endOfOne.equals("OK") && endOfOther.equals("OK")) {
          comparison.add(call.model(), request, one, other);
        } else {
          comparison.addFailure(call.model(), request, endOfOne, endOfOther);
        }
      }
    }
    return comparison;
  }

  private static Nereid open(Path models) {
    return Nereid.open(RepositoryOptions.builder().repository(models).build());
  }

  /** Fills in the outputs; returns how it ended. */
  private static String answer(
      Nereid nereid, boolean file, RecordedCall call, Map<String, Answer> outputs) {
    try {
      Model model = file ? nereid.model() : nereid.model(call.model());
      try (InferRequest request = RecordedInference.request(model, call);
          InferResponse response = request.infer()) {
        for (String name : response.outputNames()) {
          Tensor output = response.output(name);
          outputs.put(
              name,
              new Answer(
                  output.dataType(),
                  Arrays.stream(output.shape()).boxed().toList(),
                  ByteBuffer.wrap(output.segment().toArray(ValueLayout.JAVA_BYTE))));
        }
      }
      return "OK";
    } catch (NereidException e) {
      return e.code() + ": " + e.getMessage();
    }
  }

  /**
   * Writes inputs of the recording for each model as files that {@code perf --input-data} takes.
   * Requests of more than one row are left out.
   */
  static Path inputs(Path directory, Path models, Path into) throws IOException {
    Files.createDirectories(into);
    Map<String, List<Map<String, Object>>> byModel = new LinkedHashMap<>();
    try (Recording recording = Recording.open(directory);
        Nereid nereid = open(models)) {
      for (RecordedCall call : calls(recording)) {
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

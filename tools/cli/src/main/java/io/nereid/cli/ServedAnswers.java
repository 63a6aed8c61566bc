package io.nereid.cli;

import io.nereid.client.InferRequest;
import io.nereid.client.InferResponse;
import io.nereid.client.InferenceException;
import io.nereid.client.Tensor;
import io.nereid.perf.ServerConnection;
import io.nereid.recording.AnswerSource;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.RecordedTensor;
import io.nereid.recording.compare.Answer;
import io.nereid.types.NereidException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Answers recorded requests with a running server, which chooses the version. For one thread.
 *
 * @param server stays the caller's
 * @param single the model that answers in place of recorded ones; empty: the recorded one
 */
record ServedAnswers(ServerConnection server, String single) implements AnswerSource {

  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @Override
  public Map<String, Answer> answer(RecordedCall call, List<RecordedTensor> inputs) {
    String model = name(call.model());
    InferRequest.Builder request = InferRequest.builder(model).id(call.id()).deadline(PATIENCE);
    call.protocolParameters(0).forEach((name, value) -> parameter(request, name, value));
    call.wantedOutputs().forEach(request::output);
    for (RecordedTensor input : inputs) {
      long[] shape = input.shape().stream().mapToLong(Long::longValue).toArray();
      ByteBuffer content = ByteBuffer.wrap(input.bytes());
      request.input(input.name(), Tensor.of(input.dataType(), content, shape));
    }
    return server.ask(
        "expected an answer of model '" + model + "'",
        client -> {
          try (InferResponse response = client.infer(request.build())) {
            return outputs(response);
          } catch (InferenceException e) {
            throw new NereidException(e.code(), e.getMessage(), e);
          }
        });
  }

  private String name(String recorded) {
    return single.isEmpty() ? recorded : single;
  }

  private static void parameter(InferRequest.Builder request, String name, Object value) {
    switch (value) {
      case Boolean truth -> request.parameter(name, truth);
      case Long number -> request.parameter(name, number);
      case Double number -> request.parameter(name, number);
      default -> request.parameter(name, value.toString());
    }
  }

  private static Map<String, Answer> outputs(InferResponse response) {
    Map<String, Answer> outputs = new LinkedHashMap<>();
    for (String name : response.outputNames()) {
      Tensor output = response.output(name);
      List<Long> shape = Arrays.stream(output.shape()).boxed().toList();
      outputs.put(name, new Answer(output.dataType(), shape, output.byteBuffer()).copy());
    }
    return outputs;
  }

  @Override
  public long maxBatchSize(String model) {
    return ServedModels.spec(server, name(model), "").maxBatchSize();
  }
}

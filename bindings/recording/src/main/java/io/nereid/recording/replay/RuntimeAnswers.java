package io.nereid.recording.replay;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.SequenceId;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.RecordedTensor;
import io.nereid.recording.compare.Answer;
import io.nereid.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Answers by the models of this process.
 *
 * @param nereid has them; it stays the caller's
 * @param single whether it has one model, which answers whatever the recorded one was called
 */
public record RuntimeAnswers(Nereid nereid, boolean single) implements AnswerSource {

  /** The request with all that was recorded, but for its deadline and the version it went to. */
  public static InferRequest request(Model model, RecordedCall call) {
    return request(model, call, call.inputs());
  }

  private static InferRequest request(Model model, RecordedCall call, List<RecordedTensor> inputs) {
    InferRequest request = model.newRequest();
    try {
      fill(request, call, inputs);
      return request;
    } catch (RuntimeException e) {
      request.close();
      throw e;
    }
  }

  private static void fill(InferRequest request, RecordedCall call, List<RecordedTensor> inputs) {
    request.id(call.id()).timeout(Duration.ofNanos(call.timeoutNs())).priority(call.priority());
    RecordedCall.Sequence sequence = call.sequence();
    if (sequence.isThere()) {
      request
          .sequence(new SequenceId(sequence.number(), sequence.name()))
          .sequenceStart(sequence.starts())
          .sequenceEnd(sequence.ends());
    }
    call.parameters().forEach(request::parameter);
    call.wantedOutputs().forEach(request::output);
    for (RecordedTensor input : inputs) {
      long[] shape = input.shape().stream().mapToLong(Long::longValue).toArray();
      MemorySegment content = MemorySegment.ofArray(input.bytes());
      request.input(input.name(), Tensor.of(input.dataType(), content, shape));
    }
  }

  private Model model(String name) {
    return single ? nereid.model() : nereid.model(name);
  }

  @Override
  public Map<String, Answer> answer(RecordedCall call, List<RecordedTensor> inputs) {
    Map<String, Answer> outputs = new LinkedHashMap<>();
    try (InferRequest request = request(model(call.model()), call, inputs);
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
    return outputs;
  }

  @Override
  public long maxBatchSize(String model) {
    return model(model).spec().maxBatchSize();
  }
}

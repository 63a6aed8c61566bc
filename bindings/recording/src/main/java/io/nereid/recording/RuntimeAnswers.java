package io.nereid.recording;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.SequenceId;
import io.nereid.recording.compare.Answer;
import io.nereid.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Answers by the models of this process.
 *
 * @param models finds the one that answers by the name of the recorded one
 */
public record RuntimeAnswers(Function<String, Model> models) implements AnswerSource {

  /**
   * Answers by the models of a runtime, which stays the caller's.
   *
   * @param single whether it has one model, which answers whatever the recorded one was called
   */
  public RuntimeAnswers(Nereid nereid, boolean single) {
    this(single ? name -> nereid.model() : nereid::model);
  }

  /** The request with all that was recorded, but for its times and the version it went to. */
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
    request.id(call.id()).priority(call.priority());
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
      MemorySegment content = MemorySegment.ofBuffer(input.buffer());
      request.input(input.name(), Tensor.of(input.dataType(), content, shape));
    }
  }

  /** The outputs of a response, in its memory. */
  static Map<String, Answer> outputs(InferResponse response) {
    Map<String, Answer> outputs = new LinkedHashMap<>();
    for (String name : response.outputNames()) {
      Tensor output = response.output(name);
      List<Long> shape = Arrays.stream(output.shape()).boxed().toList();
      outputs.put(name, new Answer(output.dataType(), shape, output.segment().asByteBuffer()));
    }
    return outputs;
  }

  @Override
  public Map<String, Answer> answer(RecordedCall call, List<RecordedTensor> inputs) {
    try (InferRequest request = request(models.apply(call.model()), call, inputs);
        InferResponse response = request.infer()) {
      Map<String, Answer> outputs = outputs(response);
      outputs.replaceAll((name, output) -> output.copy());
      return outputs;
    }
  }

  @Override
  public long maxBatchSize(String model) {
    return models.apply(model).spec().maxBatchSize();
  }
}

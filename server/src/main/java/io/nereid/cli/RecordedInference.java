package io.nereid.cli;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.model.SequenceId;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.RecordedTensor;
import io.nereid.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/** Makes requests to a model of this process of what was recorded. */
final class RecordedInference {

  private RecordedInference() {}

  /** The request with all that was recorded, but for its deadline and the version it went to. */
  static InferRequest request(Model model, RecordedCall call) {
    InferRequest request = model.newRequest().id(call.id());
    request.timeout(Duration.ofNanos(call.timeoutNs())).priority(call.priority());
    RecordedCall.Sequence sequence = call.sequence();
    if (sequence.isThere()) {
      request
          .sequence(new SequenceId(sequence.number(), sequence.name()))
          .sequenceStart(sequence.starts())
          .sequenceEnd(sequence.ends());
    }
    call.parameters().forEach(request::parameter);
    call.wantedOutputs().forEach(request::output);
    for (RecordedTensor input : call.inputs()) {
      long[] shape = input.shape().stream().mapToLong(Long::longValue).toArray();
      MemorySegment content = MemorySegment.ofArray(input.bytes());
      request.input(input.name(), Tensor.of(input.dataType(), content, shape));
    }
    return request;
  }
}

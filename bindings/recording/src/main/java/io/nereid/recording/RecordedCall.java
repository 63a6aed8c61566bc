package io.nereid.recording;

import io.nereid.recording.compare.Answer;
import io.nereid.types.StatusCode;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A request of a recording.
 *
 * @param recording tells recordings of a directory apart
 * @param model the model's name
 * @param version the version that it was sent to
 * @param id the sender's id; empty: it had none
 * @param arrival when it was sent to the model
 * @param arrivalNs the same from the beginning of its recording
 * @param durationNs from then to its answer
 * @param stages where that time went
 * @param status how it ended
 * @param message the failure in words; empty: there was none
 * @param batchSize rows of the batch that it was executed in; 0: it was not
 * @param inline whether it was executed on the thread that sent it
 * @param cacheHit whether the response cache answered it
 * @param deadlineNs after its arrival; 0: none
 * @param timeoutNs how long it might wait for its turn; 0: as the model has it
 * @param priority 1 is the most urgent; 0: the model's default
 * @param sequence the sequence that it was part of
 * @param parameters what came with it: booleans, longs, doubles, strings, and big integers
 * @param wantedOutputs the outputs that the sender named
 * @param inputs its inputs
 * @param outputs its outputs, where these were recorded
 */
public record RecordedCall(
    long recording,
    String model,
    long version,
    String id,
    Instant arrival,
    long arrivalNs,
    long durationNs,
    Stages stages,
    StatusCode status,
    String message,
    int batchSize,
    boolean inline,
    boolean cacheHit,
    long deadlineNs,
    long timeoutNs,
    int priority,
    Sequence sequence,
    Map<String, Object> parameters,
    List<String> wantedOutputs,
    List<RecordedTensor> inputs,
    List<RecordedTensor> outputs) {

  /** Its outputs, where these were recorded, as something to compare with. */
  Map<String, Answer> answers() {
    Map<String, Answer> answers = new LinkedHashMap<>();
    for (RecordedTensor output : outputs) {
      Answer answer = new Answer(output.dataType(), output.shape(), output.content().get());
      answers.put(output.name(), answer);
    }
    return answers;
  }

  /**
   * The parameters with which the protocol carries it: its own, and for priority, sequence and time
   * in the queue those that the protocol has.
   *
   * @param timeoutNs how long it may wait for its turn; 0: as the model has it
   */
  public Map<String, Object> protocolParameters(long timeoutNs) {
    Map<String, Object> all = new LinkedHashMap<>(parameters);
    if (priority != 0) {
      all.put("priority", (long) priority);
    }
    if (timeoutNs != 0) {
      all.put("timeout", Math.max(1, timeoutNs / 1000));
    }
    if (sequence.isThere()) {
      all.put("sequence_id", sequence.name().isEmpty() ? sequence.number() : sequence.name());
      all.put("sequence_start", sequence.starts());
      all.put("sequence_end", sequence.ends());
    }
    return all;
  }

  /** The times that it spent waiting and in each stage of its execution. */
  public record Stages(
      long queueNs, long computeInputNs, long computeInferNs, long computeOutputNs) {}

  /**
   * Its part in a sequence.
   *
   * @param number the sequence's number, unsigned; 0: it has a name, or there is none
   * @param name the sequence's name
   * @param starts whether it was the first of the sequence
   * @param ends whether it was the last
   */
  public record Sequence(long number, String name, boolean starts, boolean ends) {

    /** True if it was part of a sequence. */
    public boolean isThere() {
      return number != 0 || !name.isEmpty();
    }
  }
}

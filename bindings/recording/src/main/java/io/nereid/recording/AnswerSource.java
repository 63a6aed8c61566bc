package io.nereid.recording;

import io.nereid.recording.compare.Answer;
import io.nereid.types.NereidException;
import java.util.List;
import java.util.Map;

/** Answers recorded requests. One thread calls it. */
public interface AnswerSource {

  /** Answers with the outputs that were recorded; a request that failed has none. */
  AnswerSource RECORDED =
      new AnswerSource() {
        @Override
        public Map<String, Answer> answer(RecordedCall call, List<RecordedTensor> inputs) {
          return call.answers();
        }

        @Override
        public long maxBatchSize(String model) {
          return 0;
        }
      };

  /**
   * Returns the outputs by name, in memory that stays as it is.
   *
   * @param inputs those that are sent in place of the recorded ones, or these
   * @throws NereidException if the request fails
   */
  Map<String, Answer> answer(RecordedCall call, List<RecordedTensor> inputs);

  /** Returns the rows that a request to the model may have; 0: its requests have no rows. */
  long maxBatchSize(String model);

  /** Answers the request as it was recorded. */
  default Map<String, Answer> answer(RecordedCall call) {
    return answer(call, call.inputs());
  }
}

package io.nereid.junit;

import io.nereid.Nereid;
import io.nereid.model.ModelFile;
import io.nereid.recording.AnswerSource;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.RecordedTensor.Presence;
import io.nereid.recording.Recording;
import io.nereid.recording.RuntimeAnswers;
import io.nereid.recording.compare.AnswerComparison;
import io.nereid.recording.compare.Tolerance;
import io.nereid.recording.replay.ReplayedAnswers;
import io.nereid.recording.replay.WorstCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.extension.BeforeTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Implements {@link ReplayTest}. JUnit makes it. */
final class ReplayExtension implements BeforeTestExecutionCallback {

  /** Called by JUnit. */
  ReplayExtension() {}

  @Override
  public void beforeTestExecution(ExtensionContext context) throws IOException {
    ReplayTest said =
        AnnotationSupport.findAnnotation(context.getElement(), ReplayTest.class).orElseThrow();
    boolean recorded = said.against().isEmpty();
    try (Recording recording = Recording.open(Path.of(said.recording()));
        Nereid tested = Nereid.open(Path.of(said.models()));
        Nereid right = recorded ? null : Nereid.open(Path.of(said.against()))) {
      AnswerSource answers = source(tested, said.models());
      AnswerSource expected = recorded ? AnswerSource.RECORDED : source(right, said.against());
      List<RecordedCall> calls =
          recording.byArrival().stream().filter(call -> !recorded || isAnswered(call)).toList();
      if (calls.isEmpty()) {
        throw new IllegalArgumentException(
            "expected requests in %s%s, there are none"
                .formatted(said.recording(), recorded ? " whose outputs were recorded" : ""));
      }
      Map<String, Tolerance> tolerances =
          said.tolerances().isEmpty() ? Map.of() : Tolerance.read(Path.of(said.tolerances()));
      AnswerComparison comparison =
          new ReplayedAnswers(expected, answers, tolerances)
              .compare(calls, Optional.of(recorded ? answers : expected), new WorstCalls(0));
      if (comparison.differs()) {
        throw new AssertionError(comparison.text());
      }
    }
  }

  private static AnswerSource source(Nereid nereid, String models) {
    return new RuntimeAnswers(nereid, ModelFile.isAt(Path.of(models)));
  }

  private static boolean isAnswered(RecordedCall call) {
    return !call.outputs().isEmpty()
        && call.outputs().stream().allMatch(output -> output.presence() == Presence.THERE);
  }
}

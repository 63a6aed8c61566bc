package io.nereid.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.nereid.Nereid;
import io.nereid.recording.Recorder;
import io.nereid.recording.RecordingOptions;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Recordings that pass, and those that fail with their report. */
@SuppressWarnings("try") // recorders are opened to be closed
class ReplayTestTest {

  private static final String RECORDED = "target/replay-test";
  private static final String MODELS = "../../native/test/models/";
  private static final String RIGHT = MODELS + "identity_fp32.onnx";
  private static final String PLANTED = MODELS + "planted.onnx";

  /** Not found by Surefire: a class that is nested and static is run only when it is asked for. */
  static class Replayed {

    @ReplayTest(recording = RECORDED, models = RIGHT)
    void asRecorded() {}

    @ReplayTest(recording = RECORDED, models = RIGHT, against = RIGHT)
    void asTheOther() {}

    @ReplayTest(recording = RECORDED, models = PLANTED)
    void unlikeRecorded() {
      throw new IllegalStateException("the method runs though answers differ");
    }

    @ReplayTest(recording = "target/no-such-recording", models = RIGHT)
    void nothingIsThere() {}
  }

  @BeforeEach
  void record() throws IOException {
    Path recorded = Path.of(RECORDED);
    if (Files.exists(recorded)) {
      try (Stream<Path> segments = Files.list(recorded)) {
        for (Path segment : segments.toList()) {
          Files.delete(segment);
        }
      }
    }
    try (Nereid nereid = Nereid.open(Path.of(RIGHT));
        Recorder recorder =
            Recorder.start(nereid, RecordingOptions.to(recorded).withOutputs(true))) {
      for (float value : new float[] {1, 617, 2}) {
        Tensor input = Tensor.ofFloats(new float[] {value, value}, 1, 2);
        try (var request = nereid.model().newRequest().id("r" + value).input("INPUT0", input);
            var response = request.infer()) {
          assertEquals(value, response.output("OUTPUT0").floatAt(0));
        }
      }
    }
  }

  @Test
  void answersThatDifferFailTheTestWithTheReport() {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(Replayed.class))
                .build(),
            listener);
    TestExecutionSummary summary = listener.getSummary();
    assertEquals(2, summary.getTestsSucceededCount(), () -> summary.getFailures().toString());
    String report = failure(summary, "unlikeRecorded");
    assertTrue(report.contains("OUTPUT0: 1 of 3 answers differ"), report);
    assertTrue(report.contains("worst r617.0"), report);
    assertTrue(failure(summary, "nothingIsThere").contains("no-such-recording"));
  }

  private static String failure(TestExecutionSummary summary, String test) {
    return summary.getFailures().stream()
        .filter(failure -> failure.getTestIdentifier().getDisplayName().startsWith(test))
        .map(failure -> failure.getException().getMessage())
        .findFirst()
        .orElse("");
  }
}

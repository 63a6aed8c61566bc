package io.nereid.server.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.statistics.Histogram;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The values of one minute, by a clock that the test moves. */
class SlidingWindowTest {

  private final SlidingWindow window = new SlidingWindow();
  private Nereid nereid;

  @BeforeEach
  void load() {
    nereid = Nereid.create();
    loadAnew();
  }

  private void loadAnew() {
    nereid.load(
        ModelSpec.builder("m")
            .backend("identity")
            .input("IN", DataType.FP32, 1)
            .output("OUT", DataType.FP32, 1)
            .build());
  }

  @AfterEach
  void close() {
    nereid.close();
  }

  /** So many requests at this second, and what the window holds then. */
  private long infer(int requests, long second) {
    Model model = nereid.model("m");
    for (int i = 0; i < requests; i++) {
      try (InferRequest request = model.newRequest()) {
        request.input("IN", Tensor.ofFloats(new float[1], 1)).infer().close();
      }
    }
    Histogram all = model.statistics().totalHistogram();
    return window.look(all, TimeUnit.SECONDS.toNanos(second)).count();
  }

  @Test
  void valuesOlderThanAMinuteLeave() {
    assertEquals(2, infer(2, 1000));
    assertEquals(5, infer(3, 1030));
    assertEquals(5, infer(0, 1059));
    assertEquals(3, infer(0, 1060)); // those of the begin were there at 1000
    assertEquals(4, infer(1, 1089));
    assertEquals(1, infer(0, 1090));
    assertEquals(0, infer(0, 5000));
  }

  @Test
  void rareReadersSeeEverythingSinceTheirLastTime() {
    assertEquals(1, infer(1, 0));
    assertEquals(2, infer(2, 300));
    assertEquals(3, infer(3, 600));
  }

  @Test
  void aHistogramThatIsBegunAnewHasNoPast() {
    assertEquals(4, infer(4, 0));
    assertEquals(3, infer(3, 300));
    loadAnew();
    assertEquals(2, infer(2, 310));
    assertEquals(2, infer(0, 311));
    assertEquals(0, infer(0, 400));
  }
}

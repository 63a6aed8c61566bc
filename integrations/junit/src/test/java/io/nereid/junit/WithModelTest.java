package io.nereid.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.tensor.Tensor;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** The annotation opens models, and reports tests that forget something. */
class WithModelTest {

  private static final String REPOSITORY = "../../examples/models";

  /** Not found by Surefire: a class that is nested and static is run only when it is asked for. */
  @WithModel(
      value = REPOSITORY,
      models = {"simple", "identity_fp32"})
  @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
  static class Forgetful {

    static Nereid ofClass;

    @Test
    @Order(1)
    void forgets(@ModelName("simple") Model simple) {
      simple.newRequest().input("INPUT0", Tensor.ofInts(new int[16], 1, 16));
    }

    @Test
    @Order(2)
    void closes(Nereid nereid, @ModelName("identity_fp32") Model model) {
      ofClass = nereid;
      assertEquals("identity_fp32", model.name());
      assertEquals(2, nereid.models().size());
    }

    @Test
    @Order(3)
    @WithModel(REPOSITORY + "/digits/1/model.onnx")
    void hasItsOwn(Nereid nereid, Model model) {
      assertNotSame(ofClass, nereid);
      assertEquals("model", model.name());
    }

    @Test
    @Order(4)
    void wantsOneOfTwo(Model model) {
      throw new AssertionError("got " + model);
    }
  }

  /** What is not there. */
  @WithModel("classpath:no/such.onnx")
  static class Missing {
    @Test
    void test(Model model) {
      throw new AssertionError("got " + model);
    }
  }

  private static TestExecutionSummary run(Class<?> tests) {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request().selectors(selectClass(tests)).build();
    LauncherFactory.create().execute(request, listener);
    return listener.getSummary();
  }

  private static String failure(TestExecutionSummary summary, String test) {
    return summary.getFailures().stream()
        .filter(failure -> failure.getTestIdentifier().getDisplayName().startsWith(test))
        .map(failure -> failure.getException().getMessage())
        .findFirst()
        .orElse("");
  }

  @Test
  void aTestThatForgetsARequestFailsAndTheOthersDoNot() {
    TestExecutionSummary summary = run(Forgetful.class);
    assertEquals(2, summary.getTestsSucceededCount(), () -> summary.getFailures().toString());
    String forgets = failure(summary, "forgets");
    assertTrue(forgets.contains("left open"), forgets);
    assertTrue(forgets.contains("WithModelTest"), "where it was made: " + forgets);
    String which = failure(summary, "wantsOneOfTwo");
    assertTrue(which.contains("there is identity_fp32, simple"), which);
    assertEquals(
        2, summary.getTotalFailureCount(), "no failure of the class repeats that of the test");
  }

  @Test
  void aMissingModelIsTold() {
    String said = failure(run(Missing.class), "test");
    assertTrue(said.contains("no/such.onnx"), said);
  }
}

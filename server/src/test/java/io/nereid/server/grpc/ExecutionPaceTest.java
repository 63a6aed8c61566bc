package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.Model;
import io.nereid.model.Batch;
import io.nereid.model.ModelSpec;
import io.nereid.server.shared.ExecutionPace;
import io.nereid.types.DataType;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Event loops execute requests of models that are quick, and only of these. */
class ExecutionPaceTest {

  private static final float QUICK = 0;
  private static final float SLOW = 1;
  private static final long SLOW_NS = 200_000_000;
  private static final long DISTRUST_NS = 9_000_000_000L; // a little less than it lasts
  private static final long COMPILE_NS = 120_000_000_000L; // for the backend to become quick

  private volatile boolean onLoop; // where the last request was executed

  /** A repository may have any number of versions in the course of a year. */
  @Test
  void modelsThatAreGoneAreForgotten() {
    try (InferFixture server =
        new InferFixture().identity("a", DataType.FP32).identity("b", DataType.FP32)) {
      ExecutionPace.Table paces = new ExecutionPace.Table();
      Model first = server.nereid().model("a");
      ExecutionPace pace = paces.of(first);
      assertFalse(pace.isShort());
      assertSame(pace, paces.of(first));
      first.unload();
      paces.of(server.nereid().model("b"));
      assertEquals(1, paces.size());
    }
  }

  /**
   * A client that mixes slow inputs into many quick ones stops an event loop once, not each time.
   */
  @Test
  void slowInputsOfQuickModelsStopALoopOnce() {
    try (InferFixture server = new InferFixture().load(model())) {
      long startNs;
      boolean again;
      do {
        do {
          awaitTrust(server);
          startNs = System.nanoTime();
        } while (!isOnLoop(server, SLOW)); // otherwise its predecessor had not been quick enough
        again = false;
        for (int i = 0; i < 150; i++) { // the estimate alone needs 130
          again |= isOnLoop(server, QUICK);
        }
        again |= isOnLoop(server, SLOW);
      } while (System.nanoTime() - startNs > DISTRUST_NS);
      assertFalse(again, "the model stops an event loop again");
    }
  }

  private ModelSpec.Builder model() {
    return ModelSpec.builder("mixed")
        .backend(context -> this::execute)
        .input("IN", DataType.FP32, -1, -1)
        .output("OUT", DataType.FP32, -1, -1);
  }

  private void execute(Batch batch) {
    onLoop = Thread.currentThread().getName().startsWith("nrd-grpc-");
    if (batch.input("IN").floatAt(0) == SLOW) {
      long endNs = System.nanoTime() + SLOW_NS;
      for (long leftNs = SLOW_NS; leftNs > 0; leftNs = endNs - System.nanoTime()) {
        LockSupport.parkNanos(leftNs);
      }
    }
    batch.output("OUT", batch.input("IN"));
  }

  private void awaitTrust(InferFixture server) {
    long startNs = System.nanoTime();
    while (!isOnLoop(server, QUICK)) {
      assumeTrue(System.nanoTime() - startNs < COMPILE_NS, "nothing is quick on this machine now");
    }
  }

  private boolean isOnLoop(InferFixture server, float value) {
    server.infer(InferFixture.floats("mixed", value));
    return onLoop;
  }
}

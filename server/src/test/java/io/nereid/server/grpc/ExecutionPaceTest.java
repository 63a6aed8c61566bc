package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.nereid.Model;
import io.nereid.server.shared.ExecutionPace;
import io.nereid.types.DataType;
import org.junit.jupiter.api.Test;

/** What is known of models by the event loops. */
class ExecutionPaceTest {

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
}

package io.nereid.tensorrt.builder;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class BuildScopeTest {

  @Test
  void closesAllOnceAndTheLastFirst() {
    List<String> closed = new ArrayList<>();
    BuildScope scope = new BuildScope(null);
    scope.keep(() -> closed.add("first"));
    AutoCloseable fails =
        () -> {
          closed.add("fails");
          throw new IllegalStateException("it always does");
        };
    assertEquals(fails, scope.keep(fails));
    scope.keep(() -> closed.add("last"));
    assertEquals(List.of(), closed);
    scope.close();
    scope.close();
    assertEquals(List.of("last", "fails", "first"), closed);
  }
}

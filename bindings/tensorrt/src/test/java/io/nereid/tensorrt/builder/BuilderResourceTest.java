package io.nereid.tensorrt.builder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BuilderResourceTest {

  @TempDir Path directory;

  @BeforeEach
  @SuppressWarnings("restricted")
  void theLoaderFindsNoLeanRuntime() {
    boolean found;
    try (Arena arena = Arena.ofConfined()) {
      SymbolLookup.libraryLookup(BuilderResource.LEAN_RUNTIME, arena);
      found = true;
    } catch (IllegalArgumentException e) {
      found = false;
    }
    assumeTrue(!found, "this machine's loader finds TensorRT's lean runtime");
  }

  private String failure() {
    var e =
        assertThrows(NereidException.class, () -> BuilderResource.requireLeanRuntime(directory));
    assertEquals(StatusCode.FAILED_PRECONDITION, e.code());
    return e.getMessage();
  }

  @Test
  void placesOfTheLeanRuntimeAreTold() {
    String message = failure();
    assertTrue(message.contains("neither beside TensorRT in " + directory), message);
  }

  @Test
  void thatTheLoaderDoesNotLookBesideTensorRtIsSaid() throws Exception {
    Files.createFile(directory.resolve(BuilderResource.LEAN_RUNTIME));
    String message = failure();
    assertTrue(message.contains("LD_LIBRARY_PATH=" + directory), message);
  }
}

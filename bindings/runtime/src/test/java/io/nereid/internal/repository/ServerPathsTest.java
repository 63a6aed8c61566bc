package io.nereid.internal.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Paths in the texts of libraries, and what only looks like one. */
class ServerPathsTest {

  @TempDir private Path directory;

  @Test
  void filesAreNamedFromTheirModelsOrByTheirNamesAlone() throws Exception {
    Path model = Files.createDirectories(directory.resolve("real/m/1"));
    Path linked = directory.resolve("linked");
    Files.createSymbolicLink(linked, directory.resolve("real"));
    List<Path> models = List.of(linked.resolve("m"));
    assertEquals(
        "no m/1/model.onnx, m/1/weights:data",
        hide(
            models,
            "no %s/model.onnx, %s/weights:data",
            linked.resolve("m/1"),
            model.toRealPath()));
    assertEquals("not in [real]", hide(models, "not in [%s]", directory.resolve("real")));
    assertEquals("lib.so: not found", hide(models, "%s/lib.so: not found", directory));
  }

  @Test
  void pathsThatLeadNowhereStay() {
    for (String text :
        List.of(
            "Node (/encoder/layer.0/Add) Op (Add)",
            "expected 1/2 and m/1/model.onnx, got a/tmp",
            "http://localhost/tmp",
            "expected / or /v2")) {
      assertEquals(text, ServerPaths.hide(text, List.of()));
    }
  }

  private static String hide(List<Path> models, String message, Object... paths) {
    return ServerPaths.hide(message.formatted(paths), models);
  }
}

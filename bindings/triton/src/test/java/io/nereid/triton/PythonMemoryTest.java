package io.nereid.triton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PythonMemoryTest {

  @Test
  void onlyPythonIsNamedAndOnlyIfTheUserDidNot() {
    Map<String, String> given = Map.of("shm-region-prefix-name", "mine_");
    assertEquals(Map.of(), PythonMemory.named("onnxruntime", Map.of()));
    assertEquals(given, PythonMemory.named("python", given));
    String prefix = PythonMemory.named("python", Map.of()).get("shm-region-prefix-name");
    assertTrue(prefix.startsWith("triton_python_backend_shm_region_nereid_"), prefix);
    assertTrue(prefix.contains("_" + ProcessHandle.current().pid() + "_"), prefix);
  }

  @Test
  void filesOfProcessesThatAreGoneAreRemoved(@TempDir Path directory) throws Exception {
    String own = PythonMemory.named("python", Map.of()).get("shm-region-prefix-name");
    String[] parts = own.split("_");
    String namespace = parts[parts.length - 3];
    Process other = new ProcessBuilder("sleep", "0").start();
    other.waitFor();
    String begin = "triton_python_backend_shm_region_nereid_";
    List<String> gone =
        List.of(
            begin + namespace + "_" + other.pid() + "_1_some",
            begin + namespace + "_" + ProcessHandle.current().pid() + "_1_some");
    List<String> kept =
        List.of(
            own + "some",
            begin + "9_" + other.pid() + "_1_some",
            "triton_python_backend_shm_region_some",
            begin + namespace);
    for (String name : gone) {
      Files.createFile(directory.resolve(name));
    }
    for (String name : kept) {
      Files.createFile(directory.resolve(name));
    }
    PythonMemory.removeOrphans(directory, namespace);
    for (String name : gone) {
      assertFalse(Files.exists(directory.resolve(name)), name);
    }
    for (String name : kept) {
      assertTrue(Files.exists(directory.resolve(name)), name);
    }
  }
}

package io.nereid.tensorrt;

import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A target for fuzzing: any bytes as a plan of TensorRT, and as a file of weights beside it. Each
 * is taken, or refused with a message that names the file. No library of NVIDIA's is needed.
 */
public final class PlanFuzz {

  private static Path file;
  private static ModelSpec spec;

  private PlanFuzz() {}

  /** Jazzer calls it. */
  public static synchronized void fuzzerTestOneInput(byte[] bytes) throws IOException {
    if (file == null) {
      file = Files.createTempFile("nereid", ".plan");
      file.toFile().deleteOnExit();
      spec =
          ModelSpec.builder("m")
              .backend("tensorrt")
              .parameter("model_path", file.toString())
              .build();
    }
    Files.write(file, bytes);
    try {
      new TensorRtBackend().inspect(spec);
    } catch (NereidException e) {
      expectName(e);
    }
    try (SafeTensors weights = new SafeTensors(file)) {
      weights.tensors().values().forEach(weights::read);
    } catch (NereidException e) {
      expectName(e);
    }
  }

  private static void expectName(NereidException failure) {
    if (!failure.getMessage().contains(file.getFileName().toString())) {
      throw new AssertionError("a message without the file", failure);
    }
  }
}

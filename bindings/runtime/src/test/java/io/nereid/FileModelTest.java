package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelIndexEntry;
import io.nereid.model.ModelOverride;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A model that is one file needs nothing beside it. */
class FileModelTest {

  @TempDir private Path directory;

  /** Any of the core's own; identity_fp32 has a free first dimension, and fixed_batch has not. */
  private static Path shipped(String name) {
    Path here = Path.of("native", "test", "models", name + ".onnx");
    return Files.exists(here) ? here : Path.of("..", "..").resolve(here);
  }

  private Path copy(String name, String as) throws IOException {
    Path to = directory.resolve(as);
    Files.createDirectories(to.getParent());
    return Files.copy(shipped(name), to);
  }

  private static void assertEchoes(Model model, int rows) {
    String in = model.spec().inputs().getFirst().name();
    String out = model.spec().outputs().getFirst().name();
    float[][] values = new float[rows][3];
    values[rows - 1][2] = 7;
    try (var request = model.newRequest().input(in, Tensor.ofArray(values));
        var response = request.infer()) {
      assertArrayEquals(values, response.output(out).toFloatArray2d());
    }
  }

  @Test
  void aFileIsOpenedAndTakesRowsTogether() throws IOException {
    try (Nereid nereid = Nereid.open(copy("identity_fp32", "echo.onnx"))) {
      Model model = nereid.model();
      assertEquals("echo", model.name());
      assertEquals(64, model.spec().maxBatchSize());
      assertTrue(model.spec().dynamicBatching().isPresent());
      assertEchoes(model, 40);
      assertTrue(
          model.configuration().toText().contains("default_model_filename: \"echo.onnx\""),
          model.configuration().toText());
    }
  }

  @Test
  void aFixedFirstDimensionIsNoBatch() throws IOException {
    try (Nereid nereid = Nereid.open(copy("fixed_batch", "fixed.onnx"))) {
      assertEquals(0, nereid.model().spec().maxBatchSize());
      assertTrue(nereid.model().spec().dynamicBatching().isEmpty());
    }
  }

  @Test
  void aProgramLoadsAFileAndSetsWhatItWants() {
    try (Nereid nereid = Nereid.create()) {
      Model plain = nereid.load(ModelSpec.onnx(shipped("identity_fp32")));
      assertEquals("identity_fp32", plain.name());
      assertEquals(64, plain.spec().maxBatchSize());
      assertEchoes(plain, 5);
      Model chosen =
          nereid.load(
              ModelSpec.builder("chosen")
                  .onnx(shipped("identity_fp32"))
                  .maxBatchSize(2)
                  .instanceCount(2)
                  .batcher((batch, next) -> true)
                  .build());
      assertEquals(2, chosen.spec().maxBatchSize());
      assertEquals(2, chosen.spec().instanceGroups().getFirst().count());
      assertTrue(chosen.spec().batcher().isPresent());
      assertEchoes(chosen, 2);
      ModelSpec fixed =
          ModelSpec.builder("fixed").onnx(shipped("fixed_batch")).maxBatchSize(8).build();
      NereidException e = assertThrows(NereidException.class, () -> nereid.load(fixed));
      assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
      assertTrue(e.getMessage().contains("maxBatchSize 8"), e.getMessage());
    }
  }

  @Test
  void bytesAndResourcesOfJarsLeaveNothingBehind() throws IOException {
    byte[] bytes = Files.readAllBytes(shipped("identity_fp32"));
    Path jar = directory.resolve("models.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new JarEntry("models/echo.onnx"));
      out.write(bytes);
      out.closeEntry();
    }
    long before = temporaryModels();
    try (Nereid nereid = Nereid.create();
        URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()})) {
      try (var in = loader.getResourceAsStream("models/echo.onnx")) {
        assertEchoes(nereid.load("resource", in), 3);
      }
      assertEchoes(nereid.load("bytes", new ByteArrayInputStream(bytes)), 3);
      NereidException e =
          assertThrows(
              NereidException.class,
              () -> nereid.load("broken", new ByteArrayInputStream(new byte[] {1, 2, 3})));
      assertTrue(e.getMessage().contains("broken"), e.getMessage());
      assertThrows(NereidException.class, nereid::model, "there are three");
    }
    assertEquals(before, temporaryModels());
  }

  private static long temporaryModels() throws IOException {
    try (Stream<Path> paths = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return paths
          .filter(path -> path.getFileName().toString().startsWith("nereid-model-"))
          .count();
    }
  }

  @Test
  void aDirectoryOfFilesIsARepository() throws IOException {
    copy("identity_fp32", "one.onnx");
    copy("identity_int32", "two.onnx");
    copy("identity_fp32", ".hidden.onnx");
    copy("identity_fp32", "whole/1/model.onnx");
    copy("identity_int32", "whole.onnx"); // the directory goes before
    Files.writeString(directory.resolve("README.md"), "no model");
    try (Nereid nereid = Nereid.open(directory)) {
      assertEquals(
          List.of("one", "two", "whole"),
          nereid.repository().index().stream().map(ModelIndexEntry::name).toList());
      assertEchoes(nereid.model("one"), 2);
      assertEquals(4, nereid.model("whole").spec().maxBatchSize());
      TensorSpec input = nereid.model("two").spec().inputs().getFirst();
      assertEquals(DataType.INT32, input.dataType());
    }
  }

  @Test
  void aFileIsFollowedLoadedAgainAndUnloaded() throws IOException {
    RepositoryOptions.Builder options = RepositoryOptions.builder().repository(directory);
    Path file = copy("identity_fp32", "m.onnx");
    try (Nereid nereid = Nereid.open(options.explicit("m").build())) {
      nereid.repository().load("m", ModelOverride.ofConfig("{\"max_batch_size\": 16}"));
      assertEquals(16, nereid.model("m").spec().maxBatchSize());
      nereid.repository().unload("m");
      Files.write(file, Files.readAllBytes(shipped("identity_int32")));
      nereid.repository().load("m");
      assertEquals(DataType.INT32, nereid.model("m").spec().inputs().getFirst().dataType());
      Files.delete(file);
      assertThrows(NereidException.class, () -> nereid.repository().load("m"));
    }
  }

  @Test
  void filesInNameSpacesAndAsRepositoriesOfTheirOwn() throws IOException {
    Path one = copy("identity_fp32", "a/m.onnx");
    Path two = copy("identity_int32", "b/n.onnx");
    RepositoryOptions options =
        RepositoryOptions.builder().repository(one).repository(two).namespacing(true).build();
    try (Nereid nereid = Nereid.open(options)) {
      assertEchoes(nereid.model("m"), 2);
      assertEquals("n", nereid.model("n").name());
    }
  }

  @Test
  void mistakesAreTold() throws IOException {
    Files.write(directory.resolve("bad.onnx"), new byte[] {1, 2, 3});
    Files.write(directory.resolve("empty.onnx"), new byte[0]);
    Files.write(directory.resolve("engine.plan"), new byte[] {1, 2, 3});
    try (Nereid nereid = Nereid.open(directory)) {
      assertFails(nereid, "bad", "bad.onnx");
      assertFails(nereid, "empty", "empty.onnx is empty (0 bytes)");
      assertFails(nereid, "engine", "tensorrt", "NVIDIA driver");
    }
    Path other = Files.createFile(directory.resolve("model.txt"));
    NereidException e = assertThrows(NereidException.class, () -> Nereid.open(other));
    assertTrue(e.getMessage().contains("no file *.onnx or *.plan"), e.getMessage());
    Path gone = directory.resolve("gone.onnx");
    assertThrows(NereidException.class, () -> Nereid.open(gone));
    try (Nereid nereid = Nereid.create()) {
      NereidException missing =
          assertThrows(NereidException.class, () -> nereid.load(ModelSpec.onnx(gone)));
      assertTrue(missing.getMessage().contains("gone.onnx is missing"), missing.getMessage());
    }
  }

  /** One of the messages: which one depends on what there is beside the runtime. */
  private static void assertFails(Nereid nereid, String model, String... messages) {
    NereidException e = assertThrows(NereidException.class, () -> nereid.model(model));
    assertTrue(Stream.of(messages).anyMatch(e.getMessage()::contains), e.getMessage());
  }
}

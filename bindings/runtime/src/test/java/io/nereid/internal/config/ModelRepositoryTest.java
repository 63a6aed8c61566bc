package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.internal.repository.ModelDirectories;
import io.nereid.model.LoadTimes;
import io.nereid.model.TensorSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Directories as they are, and as they should not be. */
@Timeout(600) // in place of waiting for ever
class ModelRepositoryTest {

  private static final String CONFIG = "backend: \"identity\"\n" + TestRepository.TENSORS;
  private static final String ONNX = "backend: \"onnxruntime\"\n" + TestRepository.TENSORS;

  @TempDir Path directory;

  private TestRepository repository;

  @BeforeEach
  void makeRepository() {
    repository = new TestRepository(directory);
  }

  private static String name(ModelDraft model) {
    return model.name() + "/" + model.version();
  }

  private List<String> names() {
    return repository.read().stream().map(ModelRepositoryTest::name).toList();
  }

  @Test
  void bundledModelsAreAllReadable() {
    List<ModelDraft> models =
        TestRepository.readAll(Path.of("../../examples/models"), repository.warnings::add);
    assertEquals(
        List.of(
            "digits/1",
            "identity_fp32/1",
            "repeat/1",
            "simple/1",
            "simple_string/1",
            "simple_twice/1",
            "voice/1"),
        models.stream().map(ModelRepositoryTest::name).toList());
    models.forEach(model -> assertFalse(model instanceof ModelDraft.Broken, () -> "" + model));
    assertEquals(List.of(), repository.warnings);
  }

  @Test
  void directoriesWithoutAModelAreLeftOut() throws IOException {
    repository.model("m", CONFIG, 1);
    Files.writeString(directory.resolve("README.txt"), "not a model");
    Files.createDirectory(directory.resolve(".git"));
    Files.createDirectory(directory.resolve("..data"));
    assertEquals(List.of("m/1"), names());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "|m/20",
        "version_policy { latest { } }|m/20",
        "version_policy { latest { num_versions: 2 } }|m/3,m/20",
        "version_policy { latest { num_versions: 4294967295 } }|m/1,m/3,m/20",
        "version_policy { all { } }|m/1,m/3,m/20",
        "version_policy { specific { versions: [ 3, 1 ] } }|m/1,m/3"
      })
  void policySelectsVersions(String policy, String expected) throws IOException {
    Path model = repository.model("m", CONFIG + (policy == null ? "" : policy), 1, 3, 20);
    for (String other : List.of("0", "04", "x5", "6x", "-7", "1234567890123456789", "src")) {
      Files.createDirectory(model.resolve(other));
    }
    Files.writeString(model.resolve("30"), "a file is no version");
    assertEquals(List.of(expected.split(",")), names());
  }

  @Test
  void aVersionThatIsAskedForButMissingIsLeftOut() throws IOException {
    repository.model("m", CONFIG + "version_policy { specific { versions: [ 1, 2 ] } }", 1);
    assertEquals(List.of("m/1"), names());
    repository.model("m", CONFIG + "version_policy { specific { versions: [ 2, 3 ] } }", 1);
    assertBroken(StatusCode.NOT_FOUND, "at least one version must be available under the version");
  }

  @Test
  void aBrokenModelStopsNoOther() throws IOException {
    repository.model("a", "input {", 1);
    repository.model("b", CONFIG, 1);
    assertEquals(List.of("a/0", "b/1"), names());
  }

  private void assertBroken(StatusCode code, String reason) {
    NereidException failure = repository.failure();
    assertTrue(failure.getMessage().contains(reason), failure.getMessage());
    assertEquals(code, failure.code(), failure.getMessage());
  }

  @Test
  void aModelWithoutConfigurationSaysSo() throws IOException {
    Files.createDirectories(directory.resolve("m/1"));
    assertBroken(StatusCode.NOT_FOUND, "there is no m/config.pbtxt");
    Files.createFile(directory.resolve("m/1/model.onnx"));
    assertBroken(StatusCode.INVALID_ARGUMENT, "m/1/model.onnx is empty (0 bytes)");
    Files.writeString(directory.resolve("m/1/model.onnx"), "x");
    ModelDraft.Partial draft = assertInstanceOf(ModelDraft.Partial.class, repository.draft());
    assertEquals("onnxruntime", draft.opening().backendName());
    assertBroken(
        StatusCode.INVALID_ARGUMENT,
        "m, which has no config.pbtxt: the configuration lacks input, output, and the backend "
            + "'onnxruntime' cannot tell it");
  }

  @Test
  void withoutAutoCompletionAConfigurationMustSayItAll() throws IOException {
    ReadOptions options = new ReadOptions(false, 4, Optional.empty());
    Path model = Files.createDirectories(directory.resolve("m"));
    Files.createDirectory(model.resolve("1"));
    Files.writeString(model.resolve("1/model.onnx"), "x");
    assertTrue(reason(model, options).endsWith("and auto-completion is off"));
    Files.writeString(model.resolve("config.pbtxt"), "input { name: 'X' dims: 1 }");
    assertEquals(
        "m/config.pbtxt: the configuration lacks output, data_type of input 'X', and "
            + "auto-completion is off: add it",
        reason(model, options));
  }

  private static String reason(Path model, ReadOptions options) {
    List<ModelDraft> reading = ModelReader.read(model, options, line -> {});
    return ((ModelDraft.Broken) reading.getFirst()).cause().getMessage();
  }

  @Test
  void readingTellsHowLongItTook() throws IOException {
    Path model = repository.model("m", CONFIG, 1);
    long startNs = System.nanoTime();
    List<ModelDraft> reading = ModelReader.read(model, ReadOptions.DEFAULT, line -> {});
    long tookNs = System.nanoTime() - startNs;
    LoadTimes times = assertInstanceOf(ModelDraft.Whole.class, reading.getFirst()).times();
    assertTrue(times.read().isPositive() && times.parse().isPositive(), times.toString());
    assertTrue(times.total().toNanos() <= tookNs, times.toString());
  }

  @Test
  void aModelWithoutVersionsSaysSo() throws IOException {
    repository.model("m", CONFIG);
    assertBroken(
        StatusCode.NOT_FOUND,
        "at least one version must be available under the version policy of model 'm'");
  }

  @Test
  void modelFilesAreLookedAt() throws IOException {
    Path model = repository.model("m", ONNX, 1);
    assertBroken(StatusCode.NOT_FOUND, "m/1/model.onnx is missing");
    Path file = Files.createFile(model.resolve("1/model.onnx"));
    assertBroken(StatusCode.INVALID_ARGUMENT, "m/1/model.onnx is empty (0 bytes)");
    Files.delete(file);
    Files.createDirectory(file);
    assertBroken(StatusCode.INVALID_ARGUMENT, "m/1/model.onnx is not a file");
  }

  @Test
  void batchStrategyLibrariesAreRefused() throws IOException {
    Path model = repository.model("m", CONFIG, 1);
    Files.writeString(model.resolve("1/batchstrategy.so"), "x");
    assertBroken(StatusCode.UNIMPLEMENTED, "custom batching libraries are not supported");
  }

  @Test
  void aMissingLabelFileIsTold() throws IOException {
    repository.model("m", CONFIG.replaceFirst("(output.*) }", "$1 label_filename: \"l.txt\" }"), 1);
    assertBroken(StatusCode.NOT_FOUND, "m/l.txt is missing");
  }

  @Test
  void aLabelFileMayBeALinkWithinTheRepositoryOnly(@TempDir Path elsewhere) throws IOException {
    Path model = repository.model("m", outputs("l.txt"), 1);
    Path secret = Files.writeString(elsewhere.resolve("secret"), "secret");
    Files.createSymbolicLink(model.resolve("l.txt"), secret);
    assertBroken(
        StatusCode.INVALID_ARGUMENT, "m/l.txt is a link that leads out of the model repository");
    Files.delete(model.resolve("l.txt"));
    // As Kubernetes mounts a volume.
    Path data = Files.createDirectory(repository.root.resolve("..data"));
    Files.writeString(data.resolve("l.txt"), "a\n");
    Files.createSymbolicLink(model.resolve("l.txt"), Path.of("../..data/l.txt"));
    assertEquals(List.of("a"), repository.spec().outputs().getFirst().labels());
  }

  private static String outputs(String... labelFiles) {
    StringBuilder config = new StringBuilder("backend: 'identity' input { name: 'I' ");
    config.append("data_type: TYPE_FP32 dims: 1 } ");
    for (int i = 0; i < labelFiles.length; i++) {
      config.append("output { name: 'O%d' data_type: TYPE_FP32 dims: 1 ".formatted(i));
      config.append("label_filename: '%s' } ".formatted(labelFiles[i]));
    }
    return config.toString();
  }

  @Test
  void labelsAreTheLinesAsTheyAre() throws IOException {
    Path model = repository.model("m", outputs("l.txt", "l.txt"), 1);
    Files.writeString(model.resolve("l.txt"), " a \r\n\n\tb\rc\r\r\n d");
    List<TensorSpec> outputs = repository.spec().outputs();
    assertEquals(List.of(" a ", "", "\tb\rc\r", " d"), outputs.getFirst().labels());
    assertSame(outputs.getFirst().labels(), outputs.getLast().labels());
    Files.writeString(model.resolve("l.txt"), "");
    assertEquals(List.of(), repository.spec().outputs().getFirst().labels());
  }

  @Test
  void labelsOfAModelHaveALimitTogether() throws IOException {
    Path model = repository.model("m", outputs("a", "a", "a"), 1);
    Files.writeString(model.resolve("a"), "123456789012345678901234567890\r\n".repeat(1 << 19));
    assertEquals(1 << 19, repository.spec().outputs().getFirst().labels().size());
    repository.model("m", outputs("a", "b"), 1);
    Files.writeString(model.resolve("b"), "x");
    assertBroken(StatusCode.INVALID_ARGUMENT, "m/b: a model's label files hold at most 16777216 b");
    Files.writeString(model.resolve("a"), "1\n".repeat((1 << 20) + 1));
    assertBroken(StatusCode.INVALID_ARGUMENT, "m/a: a model's label files hold at most 1048576 l");
  }

  @Test
  void specificVersionsHaveALimit() throws IOException {
    String most = "1, ".repeat(1023) + "1";
    repository.model("m", CONFIG + "version_policy { specific { versions: [ " + most + " ] } }", 1);
    assertEquals(List.of("m/1"), names());
    String many = "version_policy { specific { versions: [ " + most + ", 2 ] } }";
    repository.model("m", CONFIG + many, 1);
    assertBroken(StatusCode.INVALID_ARGUMENT, "expected at most 1024 specific versions, got 1025");
  }

  @Test
  void everyFailureOfReadingIsTheModels() throws IOException {
    Path model = repository.model("m", CONFIG + "metric_tags { key: 'a' value: 'b' }", 1);
    for (Error error :
        List.of(
            new OutOfMemoryError("heap"),
            new StackOverflowError(),
            new NoClassDefFoundError("x/Y"),
            new AssertionError("a"))) {
      List<ModelDraft> reading =
          ModelReader.read(
              model,
              ReadOptions.DEFAULT,
              line -> {
                throw error;
              });
      ModelDraft.Broken broken = (ModelDraft.Broken) reading.getFirst();
      boolean memory = error instanceof OutOfMemoryError;
      assertEquals(
          memory ? StatusCode.RESOURCE_EXHAUSTED : StatusCode.INTERNAL, broken.cause().code());
      assertSame(error, broken.cause().getCause());
    }
  }

  @Test
  void failuresDoNotTellWhereTheDirectoryIs() throws IOException {
    Path model = repository.model("m", CONFIG + "metric_tags { key: 'a' value: 'b' }", 1);
    IOException cause = new FileSystemException(model.resolve("f").toString(), null, "I/O error");
    assertEquals("m/f cannot be read: I/O error", ModelFiles.failure("m/f", cause).getMessage());
    List<ModelDraft> reading =
        ModelReader.read(
            model,
            ReadOptions.DEFAULT,
            line -> {
              throw new UncheckedIOException(cause);
            });
    String message = ((ModelDraft.Broken) reading.getFirst()).cause().getMessage();
    assertTrue(!message.contains(directory.toString()) && message.contains("m/f"), message);
  }

  @Test
  void configurationsThatAreNoTextAreTold() throws IOException {
    Path model = repository.model("m", CONFIG, 1);
    Path config = model.resolve("config.pbtxt");
    Files.write(config, new byte[] {'n', (byte) 0xFF, (byte) 0xFE});
    assertBroken(StatusCode.INVALID_ARGUMENT, "m/config.pbtxt is not UTF-8 text");
    Files.write(config, new byte[(1 << 20) + 1]);
    assertBroken(StatusCode.INVALID_ARGUMENT, "m/config.pbtxt is larger than 1048576 bytes");
    Files.writeString(config, "");
    assertBroken(StatusCode.INVALID_ARGUMENT, "m/config.pbtxt: names no backend: expected backend");
    Files.writeString(config, "backend: 'identity'");
    assertBroken(StatusCode.INVALID_ARGUMENT, "the configuration lacks input, output");
    Files.delete(config);
    Files.createDirectory(config);
    assertBroken(StatusCode.INVALID_ARGUMENT, "m/config.pbtxt is not a file");
  }

  @Test
  void blankNamesOfBackendsAreTold() throws IOException {
    Path config = repository.model("m", CONFIG, 1).resolve("config.pbtxt");
    for (String blank : new String[] {" ", "\f", "\t\u2003"}) {
      for (String field : new String[] {"backend", "platform"}) {
        Files.writeString(config, field + ": '" + blank + "'");
        assertBroken(
            StatusCode.INVALID_ARGUMENT,
            "m/config.pbtxt: expected the name of a backend, got blanks alone");
      }
    }
  }

  @Test
  void linksInCirclesAndPipesAreTold() throws Exception {
    Path model = repository.model("m", CONFIG, 1);
    Path config = model.resolve("config.pbtxt");
    Files.delete(config);
    Files.createSymbolicLink(config, config);
    assertBroken(StatusCode.NOT_FOUND, "m/config.pbtxt is missing");
    Files.delete(config);
    Process mkfifo = new ProcessBuilder("mkfifo", config.toString()).start();
    assumeTrue(mkfifo.waitFor(10, TimeUnit.SECONDS) && mkfifo.exitValue() == 0);
    assertBroken(StatusCode.INVALID_ARGUMENT, "m/config.pbtxt is not a file");
  }

  @Test
  void linksToOtherPlacesAreFollowed(@TempDir Path elsewhere) throws IOException {
    Path real = new TestRepository(elsewhere).model("m", CONFIG, 1);
    Files.createSymbolicLink(directory.resolve("m"), real);
    assertEquals(List.of("m/1"), names());
  }

  @Test
  void unreadableFilesAreTold() throws IOException {
    Path model = repository.model("m", CONFIG, 1);
    Path config = model.resolve("config.pbtxt");
    assumeTrue(config.toFile().setReadable(false));
    assumeFalse(Files.isReadable(config), "root may read everything");
    assertBroken(StatusCode.PERMISSION_DENIED, "m/config.pbtxt may not be read");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b", "tab\tbed", "back\\slash", "bell\u0007"})
  void namesWithTricksAreRefused(String name) throws IOException {
    repository.model(name, CONFIG, 1);
    assertBroken(StatusCode.INVALID_ARGUMENT, "odel name must not contain");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "..", "../m", "/m", "m/../m", "."})
  void oneModelIsNotAskedForByPath(String name) throws IOException {
    repository.model("m", CONFIG, 1);
    NereidException failure =
        assertThrows(NereidException.class, () -> ModelDirectories.find(List.of(directory), name));
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code(), failure.getMessage());
  }

  @Test
  void theRepositoryItselfMustBeADirectory() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");
    for (Path wrong : List.of(file, directory.resolve("nothing"))) {
      NereidException failure =
          assertThrows(NereidException.class, () -> ModelDirectories.find(List.of(wrong)));
      assertTrue(failure.getMessage().contains(wrong.toString()), failure.getMessage());
    }
  }
}

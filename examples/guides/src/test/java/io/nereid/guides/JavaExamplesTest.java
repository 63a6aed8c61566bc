package io.nereid.guides;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.recording.Recorder;
import io.nereid.recording.RecordingOptions;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** The Java of README.md and of the documents does what they say, as it stands there. */
class JavaExamplesTest {

  private static final String SUMS = "[2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32]";

  /** A model "m" with an input and an output of two numbers, which answers its input. */
  private static final String ECHO =
      """
      import io.nereid.Model;
      import io.nereid.Nereid;
      import io.nereid.model.ModelSpec;
      import io.nereid.tensor.Tensor;
      import io.nereid.types.DataType;
      var nereid = Nereid.create();
      Model model = nereid.load(ModelSpec.builder("m")%s
          .input("IN", DataType.FP32, 2)
          .output("OUT", DataType.FP32, 2)
          .backend(context -> batch -> batch.output("OUT", batch.input("IN")))
          .build());
      Tensor tensor = Tensor.ofFloats(new float[] {1, 2}, %s2);
      """;

  private static final String ASK =
      """
      try (var request = nereid.model("m").newRequest().input("IN", Tensor.ofFloats(new float[] {1, 2}, 1, 2));
          var response = request.infer()) {
        IO.println(response.output("OUT").floatAt(1));
      }
      nereid.close();
      """;

  private static final String TENSORS_AND_BACKEND =
      """
      .maxBatchSize(4)
      .input("IN", DataType.FP32, 2)
      .output("OUT", DataType.FP32, 2)
      .backend(context -> batch -> batch.output("OUT", batch.input("IN")))
      """;

  /** MiniLM, as a model of the runtime, with its tokenizer and an embedder. */
  private static final String TEXTS =
      """
      import io.nereid.Nereid;
      import io.nereid.text.TextEmbedder;
      import io.nereid.text.TextTokenizer;
      import java.nio.file.Path;
      var nereid = Nereid.open(Path.of("%1$s/model.onnx"));
      var tokenizer = TextTokenizer.open(Path.of("%1$s/tokenizer.json"), 512);
      var embedder = new TextEmbedder(nereid.model(), tokenizer);
      """;

  @TempDir private Path directory;

  /**
   * The blocks of Java that a test of this module runs; a document that gets another fails here.
   */
  @Test
  void everyExampleIsRun() throws IOException {
    Map<String, Integer> examples = new TreeMap<>();
    try (Stream<Path> documents = Files.list(JavaExample.ROOT.resolve("docs"))) {
      for (Path document : documents.filter(file -> file.toString().endsWith(".md")).toList()) {
        String name = "docs/" + document.getFileName();
        examples.put(name, JavaExample.allOf(name).size());
      }
    }
    examples.put("README.md", JavaExample.allOf("README.md").size());
    examples.values().removeIf(count -> count == 0);
    Map<String, Integer> run =
        new TreeMap<>(
            Map.of(
                "README.md", 1,
                "docs/backends.md", 1,
                "docs/benchmarking.md", 1,
                "docs/client.md", 4,
                "docs/embedding.md", 7,
                "docs/images.md", 2,
                "docs/objective.md", 1,
                "docs/observability.md", 2,
                "docs/sequences.md", 1,
                "docs/spring.md", 2));
    run.putAll(Map.of("docs/recording.md", 1, "docs/shadow.md", 1));
    run.putAll(Map.of("docs/tensorrt.md", 1, "docs/text.md", 4));
    assertEquals(run, examples);
  }

  @Test
  void readme() throws Exception {
    assertEquals(List.of(SUMS), JavaExample.of("README.md", 0).run(directory));
  }

  @Test
  void embeddingOfFilesAndRecords() throws Exception {
    assertEquals(
        List.of("32 images, 10 scores for each"),
        JavaExample.of("docs/embedding.md", 0).run(directory));
    assertEquals(
        List.of(SUMS, "1.5", "1 request answered"),
        JavaExample.of("docs/embedding.md", 1).run(directory));
    assertEquals(
        List.of("10 scores", "true", "true"),
        JavaExample.of("docs/embedding.md", 2).run(directory));
  }

  @Test
  void embeddingOfBatchersAndObjectives() throws Exception {
    String before =
        """
        import io.nereid.Nereid;
        import io.nereid.tensor.Tensor;
        import io.nereid.types.DataType;
        var nereid = Nereid.create();
        """;
    for (int number : new int[] {3, 4}) {
      JavaExample example =
          JavaExample.of("docs/embedding.md", number)
              .with("// tensors and backend as above", TENSORS_AND_BACKEND)
              .between(before, ASK);
      assertEquals(List.of("2.0"), example.run(directory));
    }
  }

  @Test
  void embeddingInTestsOfJUnit() throws Exception {
    JavaExample.of("docs/embedding.md", 5).compileInto(directory);
    placeDigits(Files.createDirectory(directory.resolve("models")).resolve("digits.onnx"));
    runsAll("DigitsTest", 1);
  }

  @Test
  @SuppressWarnings("try") // the recorder is opened to be closed
  void embeddingInTestsOfRecordings() throws Exception {
    Path recorded = directory.resolve("recorded");
    Path models = JavaExample.ROOT.resolve("examples/models");
    try (Nereid nereid = Nereid.open(models);
        Recorder recorder =
            Recorder.start(nereid, RecordingOptions.to(recorded).withOutputs(true));
        var request = nereid.model("identity_fp32").newRequest();
        var response = request.input("INPUT0", Tensor.ofFloats(new float[16], 1, 16)).infer()) {
      recorder.close();
      assertEquals(1, response.outputNames().size());
    }
    Path tolerances = Files.writeString(directory.resolve("tolerances.txt"), "default = 0,0\n");
    JavaExample.of("docs/embedding.md", 6)
        .with("\"recorded\"", "\"" + recorded + "\"")
        .with("\"models\"", "\"" + models + "\"")
        .with("\"released/models\"", "\"" + models + "\"")
        .with("\"tolerances.txt\"", "\"" + tolerances + "\"")
        .compileInto(directory);
    runsAll("AnswersTest", 2);
  }

  private void runsAll(String tests, int count) throws Exception {
    var listener = new SummaryGeneratingListener();
    Thread here = Thread.currentThread();
    ClassLoader mine = here.getContextClassLoader();
    try (var loader = new URLClassLoader(new URL[] {directory.toUri().toURL()})) {
      here.setContextClassLoader(loader);
      LauncherFactory.create()
          .execute(
              LauncherDiscoveryRequestBuilder.request()
                  .selectors(DiscoverySelectors.selectClass(loader.loadClass(tests)))
                  .build(),
              listener);
    } finally {
      here.setContextClassLoader(mine);
    }
    assertEquals(List.of(), listener.getSummary().getFailures());
    assertEquals(count, listener.getSummary().getTestsSucceededCount());
  }

  @Test
  void backends() throws Exception {
    JavaExample example =
        JavaExample.of("docs/backends.md", 0)
            .with("Path.of(\"models\")", "Path.of(\"examples/models\")")
            .between("", "IO.println(nereid.model(\"simple\").version());\nnereid.close();\n");
    assertEquals(List.of("1"), example.run(directory));
  }

  @Test
  void objectives() throws Exception {
    JavaExample example =
        JavaExample.of("docs/objective.md", 0)
            .with("// in time", "IO.println(response.output(\"OUT\").floatAt(1));")
            .with("Duration.ofMillis(5)", "Duration.ofMinutes(5)")
            .between(ECHO.formatted("", ""), "nereid.close();\n");
    assertEquals(List.of("2.0"), example.run(directory));
  }

  @Test
  void recordings() throws Exception {
    JavaExample example =
        JavaExample.of("docs/recording.md", 0)
            .with("Path.of(\"recorded\")", "Path.of(\"%s\")".formatted(directory.resolve("r")))
            .between("", "");
    assertEquals(List.of("[OUTPUT0]", "identity_fp32 mine OK"), example.run(directory));
  }

  @Test
  void shadows() throws Exception {
    JavaExample example = JavaExample.of("docs/shadow.md", 0).between("", "");
    assertEquals(List.of("0 answers differ", "version 3 serves"), example.run(directory));
  }

  @Test
  void sequences() throws Exception {
    String before =
        """
        import io.nereid.Nereid;
        import io.nereid.model.ModelSpec;
        import io.nereid.model.SequenceBatching;
        import io.nereid.types.DataType;
        import java.util.List;
        var nereid = Nereid.create();
        Model model = nereid.load(ModelSpec.builder("m")
            .maxBatchSize(4)
            .sequenceBatching(SequenceBatching.direct())
            .input("AUDIO", DataType.FP32, 1)
            .output("TEXT", DataType.FP32, 1)
            .backend(context -> batch -> batch.output("TEXT", batch.input("AUDIO")))
            .build());
        Tensor silence = Tensor.ofFloats(new float[1], 1, 1);
        List<Tensor> parts = List.of(Tensor.ofFloats(new float[] {3}, 1, 1));
        """;
    JavaExample example =
        JavaExample.of("docs/sequences.md", 0)
            .with("// ...", "IO.println(response.output(\"TEXT\").floatAt(0));")
            .between(before, "nereid.close();\n");
    assertEquals(List.of("3.0", "0.0"), example.run(directory));
  }

  @Test
  void metersOfMicrometer() throws Exception {
    JavaExample example =
        JavaExample.of("docs/observability.md", 0)
            .between(
                "import io.micrometer.core.instrument.simple.SimpleMeterRegistry;\n"
                    + ECHO.formatted(".maxBatchSize(4)", "1, ")
                    + "var registry = new SimpleMeterRegistry();\n",
                ASK.replace(
                    "nereid.close();",
                    """
                    IO.println(registry.get("nereid.model.requests").tag("model", "m")
                        .tag("outcome", "success").meter().measure().iterator().next().getValue());
                    metrics.close();
                    nereid.close();
                    """));
    assertEquals(List.of("2.0", "1.0"), example.run(directory));
  }

  @Test
  void spansOfOpenTelemetry() throws Exception {
    String before =
        """
        import io.opentelemetry.sdk.OpenTelemetrySdk;
        import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
        import io.opentelemetry.sdk.trace.SdkTracerProvider;
        import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
        """
            + ECHO.formatted(".maxBatchSize(4)", "1, ")
            + """
            var exported = InMemorySpanExporter.create();
            var openTelemetry = OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                    .addSpanProcessor(SimpleSpanProcessor.create(exported)).build())
                .build();
            var caller = openTelemetry.getTracer("guide").spanBuilder("caller").startSpan();
            """;
    JavaExample example =
        JavaExample.of("docs/observability.md", 1)
            .with("serve();", "try (var scope = caller.makeCurrent()) {\n" + ASK + "}\n")
            .between(
                before,
                "IO.println(exported.getFinishedSpanItems().getFirst().getName());\nopenTelemetry.close();\n");
    assertEquals(List.of("2.0", "infer m"), example.run(directory));
  }

  @Test
  void images() throws Exception {
    assertEquals(List.of("It is a 7"), JavaExample.of("docs/images.md", 0).run(directory));
  }

  /** One box of a person in the middle of the image. */
  @Test
  void boxesOfDetectors() throws Exception {
    String before =
        """
        import io.nereid.Nereid;
        import io.nereid.model.ModelSpec;
        import io.nereid.tensor.Tensor;
        import io.nereid.types.DataType;
        import java.awt.image.BufferedImage;
        var nereid = Nereid.create();
        var model = nereid.load(ModelSpec.builder("yolo")
            .maxBatchSize(1)
            .input("images", DataType.FP32, 3, 640, 640)
            .output("output0", DataType.FP32, 6, 8)
            .backend(context -> batch -> {
              float[] boxes = new float[6 * 8];
              float[] first = {320, 320, 64, 32, 0.9f, 0.1f};
              for (int i = 0; i < 6; i++) {
                boxes[i * 8] = first[i];
              }
              batch.output("output0", Tensor.ofFloats(boxes, 1, 6, 8));
            })
            .build());
        var image = new BufferedImage(640, 640, BufferedImage.TYPE_INT_RGB);
        var request = model.newRequest().input("images", Tensor.ofFloats(new float[3 * 640 * 640], 1, 3, 640, 640));
        var response = request.infer();
        """;
    JavaExample example =
        JavaExample.of("docs/images.md", 1)
            .with("new File(\"found.png\")", "new File(\"" + directory + "/found.png\")")
            .between(
                before,
                """
                IO.println(found);
                IO.println(ImageIO.read(new File("%s/found.png")).getWidth());
                response.close();
                request.close();
                nereid.close();
                """
                    .formatted(directory));
    List<String> printed = example.run(directory);
    assertTrue(printed.getFirst().contains("288.0"), printed::toString);
    assertEquals("640", printed.getLast());
  }

  @Test
  void embeddingsOfTexts() throws Exception {
    placeMiniLm();
    JavaExample first =
        JavaExample.of("docs/text.md", 0)
            .with("\"model.onnx\"", "\"" + directory + "/model.onnx\"")
            .with("\"tokenizer.json\"", "\"" + directory + "/tokenizer.json\"")
            .with(
                "\"a puppy\"));",
                "\"a puppy\"));\nIO.println(vectors.size() + \" of \" + vectors.getFirst().length);");
    assertEquals(List.of("2 of 384"), first.between("", "").run(directory));

    JavaExample alone =
        JavaExample.of("docs/text.md", 1)
            .with("ModelSpec.builder(", "ModelSpec spec = ModelSpec.builder(")
            .between(
                "import io.nereid.Nereid;\nimport java.nio.file.Path;\nvar file = Path.of(\"%s/model.onnx\");\n"
                    .formatted(directory),
                "try (var nereid = Nereid.create()) {\nIO.println(nereid.load(spec).name());\n}\n");
    assertEquals(List.of("minilm"), alone.run(directory));

    JavaExample spring =
        JavaExample.of("docs/text.md", 3)
            .between(
                TEXTS.formatted(directory),
                "IO.println(vector.length);\ntokenizer.close();\nnereid.close();\n");
    assertEquals(List.of("384"), spring.run(directory));
  }

  /** Models that answer the same logits to every text. */
  @Test
  void rerankersAndClassifiers() throws Exception {
    placeMiniLm();
    String model =
        """
        var %1$s = nereid.load(ModelSpec.builder("%1$s")
            .maxBatchSize(4)
            .input("input_ids", DataType.INT64, -1)
            .input("attention_mask", DataType.INT64, -1)
            .output("logits", DataType.FP32, %2$d)
            .backend(context -> batch -> {
              int rows = (int) batch.input("input_ids").dim(0);
              float[] all = new float[rows * %2$d];
              for (int i = 0; i < all.length; i++) {
                all[i] = i %% %2$d * 4;
              }
              batch.output("logits", Tensor.ofFloats(all, rows, %2$d));
            })
            .build());
        """;
    JavaExample example =
        JavaExample.of("docs/text.md", 2)
            .between(
                "import io.nereid.model.ModelSpec;\nimport io.nereid.tensor.Tensor;\n"
                    + "import io.nereid.types.DataType;\n"
                    + TEXTS.formatted(directory)
                    + model.formatted("reranker", 1)
                    + model.formatted("classifier", 2),
                """
                IO.println(scores.length + " " + scores[0]);
                IO.println(shares.keySet());
                tokenizer.close();
                nereid.close();
                """);
    assertEquals(List.of("2 0.5", "[negative, positive]"), example.run(directory));
  }

  private void placeMiniLm() throws IOException {
    for (String[] file :
        new String[][] {
          {"/all-minilm-l6-v2-q.onnx", "model.onnx"},
          {"/all-minilm-l6-v2-q-tokenizer.json", "tokenizer.json"}
        }) {
      try (InputStream content = JavaExamplesTest.class.getResourceAsStream(file[0])) {
        Files.copy(content, directory.resolve(file[1]));
      }
    }
  }

  private static void placeDigits(Path file) throws IOException {
    Files.copy(JavaExample.ROOT.resolve("examples/models/digits/1/model.onnx"), file);
  }

  /** JMH runs the benchmark in a JVM of its own, where its model lies beside it. */
  @Test
  void benchmarksOfOnesOwnModels() throws Exception {
    JavaExample.of("docs/benchmarking.md", 0)
        .compileInto(directory, "-processor", "org.openjdk.jmh.generators.BenchmarkProcessor");
    placeDigits(directory.resolve("digits.onnx"));
    Process jmh =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                directory + ":" + System.getProperty("java.class.path"),
                "org.openjdk.jmh.Main",
                "-f",
                "0",
                "-wi",
                "1",
                "-w",
                "20ms",
                "-i",
                "1",
                "-r",
                "50ms",
                "-foe",
                "true")
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .start();
    String printed = new String(jmh.getInputStream().readAllBytes());
    assertEquals(0, jmh.waitFor(), printed);
    assertTrue(printed.contains("DigitsBenchmark.one"), printed);
  }

  /** A GPU, or what stands in for one, runs it in TensorRtDocumentGpuTest. */
  @Test
  void plansOfTensorRtCompile() throws Exception {
    JavaExample.of("docs/tensorrt.md", 0).compileInto(directory);
  }
}

package io.nereid.text;

import com.sun.management.OperatingSystemMXBean;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.embedding.onnx.allminilml6v2q.AllMiniLmL6V2QuantizedEmbeddingModel;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Vectors of 32 texts at a time, by LangChain4j's own way, by DJL's and by ours, in turns: a
 * program to be run by hand. All run the same file with the same library. Arguments: seconds of
 * each turn (5), how many turns (4), how many texts are in a call (32); there are as many callers
 * as make 32 texts.
 */
final class EmbeddingThroughput {

  private static final int IN_FLIGHT = 32;

  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  /** Of 1 to 90 words, half of them of 10 or fewer; the same ones in each run. */
  private static final List<String> TEXTS = texts();

  private EmbeddingThroughput() {}

  private static List<String> texts() {
    String[] words = TextEmbedderTest.TEXTS.get(2).toLowerCase(Locale.ROOT).split(" ");
    Random random = new Random(20);
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < 512; i++) {
      int length = Math.clamp(Math.round(Math.exp(2.3 + random.nextGaussian())), 1, 90);
      texts.add(
          random
              .ints(length, 0, words.length)
              .mapToObj(word -> words[word])
              .collect(Collectors.joining(" ")));
    }
    return texts;
  }

  private record Case(String name, Consumer<List<String>> embed, List<Turn> turns) {}

  /** What a turn showed: processor time says more than texts a second where others compute, too. */
  private record Turn(double perSecond, double processorMs) {}

  public static void main(String[] arguments) throws Exception {
    int seconds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5;
    int turns = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 4;
    int together = arguments.length > 2 ? Integer.parseInt(arguments[2]) : IN_FLIGHT;
    int processors = Runtime.getRuntime().availableProcessors();
    ModelSpec.Builder alone =
        ModelSpec.builder("alone")
            .maxBatchSize(1)
            .instanceCount(processors)
            .parameter("intra_op_thread_count", "1");
    Path directory = Files.createTempDirectory("minilm");
    try (Nereid nereid = Nereid.create();
        Nereid repository = Nereid.open(repository(directory));
        InputStream json = TextEmbedderTest.resource("all-minilm-l6-v2-q-tokenizer.json");
        TextTokenizer tokenizer = TextTokenizer.read(json, 510);
        DjlEmbedder djl = new DjlEmbedder()) {
      EmbeddingModel theirs = new AllMiniLmL6V2QuantizedEmbeddingModel();
      ModelSpec.Builder several =
          ModelSpec.builder("batches")
              .instanceCount(processors)
              .parameter("intra_op_thread_count", "1");
      TextEmbedder batches = embedder(nereid, several, tokenizer);
      Model backend = repository.model("minilm");
      TextEmbedder exact = embedder(nereid, alone, tokenizer);
      List<Case> cases =
          List.of(
              new Case("LangChain4j in process", texts -> ask(theirs, texts), new ArrayList<>()),
              new Case("DJL in process", texts -> texts.forEach(djl::embed), new ArrayList<>()),
              new Case("Nereid, each text alone", exact::embedAll, new ArrayList<>()),
              new Case("Nereid, kept apart", batches::embedAll, new ArrayList<>()),
              new Case("Nereid, in batches", batches.approximate()::embedAll, new ArrayList<>()),
              new Case("Nereid, backend text", texts -> ask(backend, texts), new ArrayList<>()));
      cases.forEach(
          one -> measure(one, together, Duration.ofSeconds(2))); // what is compiled is not counted
      for (int turn = 0; turn < turns; turn++) {
        List<Case> order = turn % 2 == 0 ? cases : cases.reversed();
        order.forEach(one -> one.turns.add(measure(one, together, Duration.ofSeconds(seconds))));
      }
      cases.forEach(one -> print(one, cases.getFirst()));
    }
  }

  private static Path repository(Path directory) throws IOException {
    Path version = Files.createDirectories(directory.resolve("minilm/1"));
    Files.writeString(
        directory.resolve("minilm/config.pbtxt"),
        "backend: \"text\" max_batch_size: 64 dynamic_batching { }");
    try (InputStream model = TextEmbedderTest.resource("all-minilm-l6-v2-q.onnx");
        InputStream json = TextEmbedderTest.resource("all-minilm-l6-v2-q-tokenizer.json")) {
      Files.copy(model, version.resolve("model.onnx"));
      Files.copy(json, version.resolve("tokenizer.json"));
    }
    return directory;
  }

  private static void ask(EmbeddingModel model, List<String> texts) {
    model.embedAll(texts.stream().map(TextSegment::from).toList());
  }

  private static void ask(Model model, List<String> texts) {
    Tensor input = Tensor.of(texts).reshape(texts.size(), 1);
    try (var request = model.newRequest();
        var response = request.input("text", input).infer()) {
      response.output("embedding").toFloatArray();
    }
  }

  private static TextEmbedder embedder(
      Nereid nereid, ModelSpec.Builder spec, TextTokenizer tokenizer) throws IOException {
    try (InputStream model = TextEmbedderTest.resource("all-minilm-l6-v2-q.onnx")) {
      return new TextEmbedder(nereid.load(spec.backend("onnxruntime").build(), model), tokenizer);
    }
  }

  /** The ratios are of turns that followed each other: how often that was, and how far apart. */
  private static void print(Case measured, Case first) {
    List<Double> rates = new ArrayList<>();
    List<Double> costs = new ArrayList<>();
    for (int i = 0; i < measured.turns.size(); i++) {
      rates.add(measured.turns.get(i).perSecond / first.turns.get(i).perSecond);
      costs.add(first.turns.get(i).processorMs / measured.turns.get(i).processorMs);
    }
    System.out.printf(
        Locale.ROOT,
        "%-24s %6.0f texts/s (x %.2f, %.2f to %.2f), %5.2f ms a text (x %.2f, %.2f to %.2f)%n",
        measured.name,
        median(measured.turns.stream().map(Turn::perSecond).toList()),
        median(rates),
        Collections.min(rates),
        Collections.max(rates),
        median(measured.turns.stream().map(Turn::processorMs).toList()),
        median(costs),
        Collections.min(costs),
        Collections.max(costs));
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().skip((values.size() - 1) / 2).findFirst().orElseThrow();
  }

  private static Turn measure(Case measured, int together, Duration time) {
    AtomicLong done = new AtomicLong();
    long startCpuNs = SYSTEM.getProcessCpuTime();
    long startNs = System.nanoTime();
    long endNs = startNs + time.toNanos();
    List<Thread> callers = new ArrayList<>();
    for (int i = 0; i < IN_FLIGHT / together; i++) {
      int first = i;
      callers.add(
          Thread.ofPlatform()
              .start(() -> {
                for (int n = 0; System.nanoTime() < endNs; n++) {
                  int from = (n * 31 + first * 16) % (TEXTS.size() - together);
                  measured.embed.accept(TEXTS.subList(from, from + together));
                  done.addAndGet(together);
                }
              }));
    }
    try {
      for (Thread caller : callers) {
        caller.join();
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return new Turn(
        done.get() * 1e9 / (System.nanoTime() - startNs),
        (SYSTEM.getProcessCpuTime() - startCpuNs) / 1e6 / done.get());
  }
}

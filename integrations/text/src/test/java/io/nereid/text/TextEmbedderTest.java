package io.nereid.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.embedding.onnx.allminilml6v2q.AllMiniLmL6V2QuantizedEmbeddingModel;
import dev.langchain4j.model.output.Response;
import dev.langchain4j.store.embedding.CosineSimilarity;
import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** MiniLM, beside LangChain4j's own way to run the same file. */
class TextEmbedderTest {

  static final List<String> TEXTS =
      List.of(
          "a dog",
          "A puppy plays in the garden.",
          "Quarterly revenue rose by twelve percent, analysts had expected nine.",
          "Überall in Köln: naïve façades, 日本語, and emoji 🙂.",
          "The quick brown fox jumps over the lazy dog. ".repeat(12),
          "42");

  private static Nereid nereid;
  private static TextTokenizer tokenizer;
  private static TextEmbedder embedder;
  private static EmbeddingModel reference;

  static InputStream resource(String name) {
    return AllMiniLmL6V2QuantizedEmbeddingModel.class.getResourceAsStream("/" + name);
  }

  @BeforeAll
  static void open() throws IOException {
    nereid = Nereid.create();
    try (InputStream model = resource("all-minilm-l6-v2-q.onnx");
        InputStream json = resource("all-minilm-l6-v2-q-tokenizer.json")) {
      tokenizer = TextTokenizer.read(json, 510);
      ModelSpec spec = ModelSpec.builder("minilm").backend("onnxruntime").maxBatchSize(1).build();
      embedder = new TextEmbedder(nereid.load(spec, model), tokenizer);
    }
    reference = new AllMiniLmL6V2QuantizedEmbeddingModel();
  }

  @AfterAll
  static void close() {
    tokenizer.close();
    nereid.close();
  }

  private static float[] expected(String text) {
    return reference.embed(text).content().vector();
  }

  /** Its quantization is dynamic, so that only a text that is alone has a vector to compare. */
  @Test
  void eachVectorIsTheReferences() {
    List<float[]> all = embedder.embedAll(TEXTS);
    for (int i = 0; i < TEXTS.size(); i++) {
      assertArrayEquals(expected(TEXTS.get(i)), all.get(i), 1e-3f, TEXTS.get(i));
      assertArrayEquals(all.get(i), embedder.embed(TEXTS.get(i)), 1e-6f, TEXTS.get(i));
    }
    assertEquals(List.of(), embedder.embedAll(List.of()));
  }

  /** The backend {@code text} waits on a virtual thread that cannot leave its carrier. */
  @Test
  void noVirtualThreadIsNeededForAnAnswer() throws Exception {
    int carriers = Runtime.getRuntime().availableProcessors();
    CountDownLatch busy = new CountDownLatch(carriers);
    AtomicBoolean enough = new AtomicBoolean();
    for (int i = 0; i < carriers; i++) {
      Thread.ofVirtual()
          .start(() -> {
            busy.countDown();
            while (!enough.get()) {
              Thread.onSpinWait();
            }
          });
    }
    busy.await();
    try (ExecutorService caller = Executors.newSingleThreadExecutor()) {
      Future<float[]> vector = caller.submit(() -> embedder.embed("a dog"));
      try {
        assertTrue(vector.get(60, TimeUnit.SECONDS).length > 0);
      } finally {
        enough.set(true);
      }
    }
  }

  @Test
  void langChainHasItAsItsOwn() {
    EmbeddingModel model = new NereidEmbeddingModel(embedder);
    assertEquals(384, model.dimension());
    List<TextSegment> segments = TEXTS.stream().map(TextSegment::from).toList();
    Response<List<Embedding>> response = model.embedAll(segments);
    assertEquals(reference.embedAll(segments).tokenUsage(), response.tokenUsage());
    List<Embedding> embeddings = response.content();
    for (int i = 0; i < TEXTS.size(); i++) {
      assertArrayEquals(expected(TEXTS.get(i)), embeddings.get(i).vector(), 1e-3f, TEXTS.get(i));
    }
  }

  /** As the guide begins: a model with batches, whose scales would be those of the batch. */
  @Test
  void textsOfSeveralCallersHaveTheVectorsThatTheyHaveAlone() throws Exception {
    Model batching;
    try (InputStream model = resource("all-minilm-l6-v2-q.onnx")) {
      batching = nereid.load("batching", model);
    }
    TextEmbedder shared = new TextEmbedder(batching, tokenizer);
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      texts.add(TEXTS.get(i % TEXTS.size()));
    }
    List<float[]> together = shared.embedAll(texts);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<float[]>> alone =
          texts.stream().map(text -> threads.submit(() -> shared.embed(text))).toList();
      for (int i = 0; i < texts.size(); i++) {
        float[] expected = embedder.embed(texts.get(i));
        assertEquals(1, similarity(expected, together.get(i)), 1e-5, texts.get(i));
        assertEquals(1, similarity(expected, alone.get(i).get()), 1e-5, texts.get(i));
      }
    }
    long before = batching.statistics().executionCount();
    List<float[]> near = shared.approximate().embedAll(texts);
    assertTrue(batching.statistics().executionCount() - before < texts.size());
    for (int i = 0; i < texts.size(); i++) {
      assertEquals(1, similarity(expected(texts.get(i)), near.get(i)), 0.03, texts.get(i));
    }
  }

  /** Somebody else asks the same model, without the embedder, and always has requests waiting. */
  @Test
  void aTextKeepsItsVectorWhereStrangersShareTheModel() throws Exception {
    Model batching;
    try (InputStream model = resource("all-minilm-l6-v2-q.onnx")) {
      ModelSpec spec =
          ModelSpec.builder("strangers")
              .backend("onnxruntime")
              .maxBatchSize(4)
              .dynamicBatching(
                  DynamicBatching.builder().maxQueueDelay(Duration.ofMillis(500)).build())
              .build();
      batching = nereid.load(spec, model);
    }
    TextEmbedder shared = new TextEmbedder(batching, tokenizer);
    float[] expected = embedder.embed("a dog");
    assertEquals(1, similarity(expected, shared.embed("a dog")), 1e-5);
    AtomicBoolean done = new AtomicBoolean();
    AtomicInteger met = new AtomicInteger();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 3; i++) {
        threads.submit(() -> {
          while (!done.get()) {
            met.accumulateAndGet(askAsStranger(batching), Math::max);
          }
        });
      }
      try {
        long startNs = System.nanoTime();
        for (int i = 0; i < 3 || met.get() < 4; i++) {
          assertEquals(1, similarity(expected, shared.embed("a dog")), 1e-5);
          assertTrue(
              System.nanoTime() - startNs < 120e9, "ours never waited beside three of theirs");
        }
      } finally {
        done.set(true);
      }
    }
  }

  /** Asks about other tokens, as many as "a dog" has; gives how many texts the batch had. */
  private static int askAsStranger(Model model) {
    long[] shape = {1, 4};
    try (InferRequest request = model.newRequest()) {
      request.input("input_ids", Tensor.ofLongs(new long[] {101, 5000, 9999, 102}, shape));
      request.input("attention_mask", Tensor.ofLongs(new long[] {1, 1, 1, 1}, shape));
      request.input("token_type_ids", Tensor.ofLongs(new long[4], shape));
      try (InferResponse response = request.infer()) {
        return response.executedBatchSize();
      }
    }
  }

  private static double similarity(float[] a, float[] b) {
    return CosineSimilarity.between(Embedding.from(a), Embedding.from(b));
  }

  /** A model whose tokens and answers are known: each vector is a token's number, and its half. */
  @Test
  void poolingTakesTheMeanOrTheFirst() {
    Model numbers =
        nereid.load(
            ModelSpec.builder("numbers")
                .maxBatchSize(16)
                .input("input_ids", DataType.INT64, -1)
                .input("attention_mask", DataType.INT64, -1)
                .output("hidden", DataType.FP32, -1, 2)
                .backend(context ->
                    batch -> {
                      Tensor ids = batch.input("input_ids");
                      float[] hidden = new float[2 * (int) ids.elementCount()];
                      for (int i = 0; i < ids.elementCount(); i++) {
                        hidden[2 * i] = ids.longAt(i);
                        hidden[2 * i + 1] = ids.longAt(i) / 2f;
                      }
                      long[] shape = ids.shape();
                      batch.output("hidden", Tensor.ofFloats(hidden, shape[0], shape[1], 2));
                    })
                .build());
    long[] ids = tokenizer.encode(List.of("a dog")).getFirst();
    float mean = (float) LongStream.of(ids).average().orElseThrow();
    TextEmbedder means = new TextEmbedder(numbers, tokenizer, Pooling.MEAN, false);
    assertArrayEquals(new float[] {mean, mean / 2}, means.embed("a dog"), 1e-2f);
    TextEmbedder firsts = new TextEmbedder(numbers, tokenizer, Pooling.FIRST, false);
    assertArrayEquals(new float[] {ids[0], ids[0] / 2f}, firsts.embed("a dog"), 1e-2f);
    float length = (float) Math.sqrt(1.25);
    TextEmbedder normal = new TextEmbedder(numbers, tokenizer);
    assertArrayEquals(new float[] {1 / length, 0.5f / length}, normal.embed("a dog"), 1e-6f);
  }

  @Test
  void aModelWithOtherTensorsIsRefused() {
    Model other =
        nereid.load(
            ModelSpec.builder("other")
                .backend("identity")
                .input("pixels", DataType.FP32, 4)
                .output("out", DataType.FP32, 4)
                .build());
    NereidException e =
        assertThrows(NereidException.class, () -> new TextEmbedder(other, tokenizer));
    assertTrue(e.getMessage().contains("pixels"), e.getMessage());
  }

  @Test
  void tooLongTextsAreCutOff() throws IOException {
    try (InputStream json = resource("all-minilm-l6-v2-q-tokenizer.json");
        TextTokenizer eight = TextTokenizer.read(json, 8)) {
      assertEquals(8, eight.encode(List.of("one two three ".repeat(100))).getFirst().length);
    }
  }
}

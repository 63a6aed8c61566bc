package io.nereid.text;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;

/**
 * Makes vectors of texts: tokenizes them, sends those of like length together, padded to the same
 * one, and pools what the model answers. Texts of threads that call at the same time share batches,
 * too, by the model's own dynamic batching. Any thread may call, and virtual ones may wait cheaply.
 *
 * <p>A model with dynamic quantization computes its scales over the whole batch, so that a text's
 * vector depends a little on its company. Load such a model with a {@code maxBatchSize} of 1: then
 * each text is alone, without padding, and its vector is always the same.
 */
public final class TextEmbedder {

  /** The length of a text alone is a multiple of this, so that texts of other callers fit. */
  private static final int STEP = 8;

  /** A request costs as much as so many tokens: MiniLM's 0.4 ms a run and 0.065 ms a token. */
  private static final int REQUEST_TOKENS = 6;

  /** The most tokens in a request, padding included: memory of attention grows with it. */
  private static final int MAX_TOKENS = 4096;

  private final Model model;
  private final TextTokenizer tokenizer;
  private final Pooling pooling;
  private final boolean normalized;
  private final String output;

  /** An embedder with the mean of the tokens, and vectors of length 1. */
  public TextEmbedder(Model model, TextTokenizer tokenizer) {
    this(model, tokenizer, Pooling.MEAN, true);
  }

  /**
   * An embedder.
   *
   * @param model takes {@code input_ids}, {@code attention_mask} and, if it wants, {@code
   *     token_type_ids}; its first output in FP32 has a vector for each token, or for each text
   * @param tokenizer the model's, which stays the caller's
   * @param normalized whether vectors are brought to length 1
   */
  public TextEmbedder(Model model, TextTokenizer tokenizer, Pooling pooling, boolean normalized) {
    this.model = Objects.requireNonNull(model, "model");
    this.tokenizer = Objects.requireNonNull(tokenizer, "tokenizer");
    this.pooling = Objects.requireNonNull(pooling, "pooling");
    this.normalized = normalized;
    output =
        model.spec().outputs().stream()
            .filter(tensor -> tensor.dataType() == DataType.FP32)
            .map(TensorSpec::name)
            .findFirst()
            .orElseThrow(() -> wrong("an output in FP32", model.spec().outputs()));
    inputs().stream()
        .filter(input -> !List.of("input_ids", "attention_mask", "token_type_ids").contains(input))
        .findFirst()
        .ifPresent(other -> {
          throw wrong("inputs input_ids, attention_mask and token_type_ids", other);
        });
  }

  private NereidException wrong(String expected, Object got) {
    return new NereidException(
        StatusCode.INVALID_ARGUMENT,
        "expected model '" + model.name() + "' to have " + expected + ", got " + got);
  }

  private List<String> inputs() {
    return model.spec().inputs().stream().map(TensorSpec::name).toList();
  }

  /** The vector of a text. */
  public float[] embed(String text) {
    return embedAll(List.of(text)).getFirst();
  }

  /** The vectors of texts, in their order. */
  public List<float[]> embedAll(List<String> texts) {
    return texts.isEmpty() ? List.of() : embedTokens(tokens(texts));
  }

  /** What texts are tokenized to. */
  List<long[]> tokens(List<String> texts) {
    return tokenizer.encode(texts);
  }

  /** What the model is called. */
  String modelName() {
    return model.name();
  }

  /** The vectors of texts that are tokenized: the numbers of each one's tokens, as they are. */
  public List<float[]> embedTokens(List<long[]> tokens) {
    List<Chunk> chunks = chunks(tokens);
    List<CompletableFuture<Void>> answers = new ArrayList<>();
    float[][] vectors = new float[tokens.size()][];
    for (Chunk chunk : chunks) {
      answers.add(send(chunk, tokens, vectors));
    }
    try {
      CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw e;
    }
    return Arrays.asList(vectors);
  }

  // ---- Batches ---------------------------------------------------------------------------------

  /** Texts that go together: their positions, and the length to which they are padded. */
  private record Chunk(int length, int[] texts) {}

  private List<Chunk> chunks(List<long[]> tokens) {
    int rows = Math.clamp(model.spec().maxBatchSize(), 1, Integer.MAX_VALUE);
    int[] order =
        IntStream.range(0, tokens.size())
            .boxed()
            .sorted(Comparator.comparingInt(text -> tokens.get(text).length))
            .mapToInt(Integer::intValue)
            .toArray();
    int[] lengths = Arrays.stream(order).map(text -> tokens.get(text).length).toArray();
    List<Chunk> chunks = new ArrayList<>();
    int[] begins = begins(lengths, rows);
    for (int end = order.length; end > 0; end = begins[end]) {
      int length = Math.max(1, lengths[end - 1]);
      boolean shared = order.length == 1 && rows > 1;
      chunks.add(
          new Chunk(
              shared ? Math.ceilDiv(length, STEP) * STEP : length,
              Arrays.copyOfRange(order, begins[end], end)));
    }
    return chunks; // the longest first, so that none of them is begun last
  }

  /**
   * Splits texts, in the order of their lengths, where that costs least: padding and requests both
   * cost. Gives for each end the begin of the chunk that ends there.
   */
  private static int[] begins(int[] lengths, int rows) {
    int[] begins = new int[lengths.length + 1];
    long[] costs = new long[lengths.length + 1];
    for (int end = 1; end <= lengths.length; end++) {
      long length = lengths[end - 1];
      costs[end] = Long.MAX_VALUE;
      for (int begin = end - 1; begin >= 0 && end - begin <= rows; begin--) {
        if (end - begin > 1 && (end - begin) * length > MAX_TOKENS) {
          break;
        }
        long cost = costs[begin] + REQUEST_TOKENS + (end - begin) * length;
        if (cost < costs[end]) {
          costs[end] = cost;
          begins[end] = begin;
        }
      }
    }
    return begins;
  }

  private CompletableFuture<Void> send(Chunk chunk, List<long[]> tokens, float[][] vectors) {
    int rows = chunk.texts.length;
    long[] ids = new long[rows * chunk.length];
    long[] mask = new long[ids.length];
    for (int row = 0; row < rows; row++) {
      long[] own = tokens.get(chunk.texts[row]);
      System.arraycopy(own, 0, ids, row * chunk.length, own.length);
      Arrays.fill(mask, row * chunk.length, row * chunk.length + own.length, 1);
    }
    InferRequest request = model.newRequest();
    try {
      for (String input : inputs()) {
        long[] values =
            switch (input) {
              case "input_ids" -> ids;
              case "attention_mask" -> mask;
              default -> new long[ids.length];
            };
        request.input(input, Tensor.ofLongs(values, rows, chunk.length));
      }
      request.output(output);
      return request
          .inferAsync()
          .whenComplete((response, failure) -> request.close())
          .thenAccept(response -> {
            try (InferResponse all = response) {
              read(all.output(output), chunk, tokens, vectors);
            }
          });
    } catch (RuntimeException e) {
      request.close();
      throw e;
    }
  }

  // ---- Vectors ---------------------------------------------------------------------------------

  private void read(Tensor hidden, Chunk chunk, List<long[]> tokens, float[][] vectors) {
    long[] shape = hidden.shape();
    int size = (int) shape[shape.length - 1];
    int perText = shape.length < 3 ? 1 : (int) shape[shape.length - 2]; // pooled by the model: one
    MemorySegment values = hidden.segment();
    IntStream.range(0, chunk.texts.length)
        .forEach(row -> {
          int text = chunk.texts[row];
          boolean first = pooling == Pooling.FIRST || perText == 1;
          int used = first ? 1 : Math.min(perText, tokens.get(text).length);
          float[] vector = new float[size];
          long start = (long) row * perText * size;
          for (int token = 0; token < used; token++) {
            add(values, start + (long) token * size, vector);
          }
          scale(vector, 1f / used);
          if (normalized) {
            normalize(vector);
          }
          vectors[text] = vector;
        });
  }

  private static void add(MemorySegment values, long start, float[] sums) {
    for (int i = 0; i < sums.length; i++) {
      sums[i] += values.getAtIndex(JAVA_FLOAT, start + i);
    }
  }

  private static void normalize(float[] vector) {
    double squares = 0;
    for (float value : vector) {
      squares += (double) value * value;
    }
    if (squares > 0) {
      scale(vector, (float) (1 / Math.sqrt(squares)));
    }
  }

  private static void scale(float[] vector, float factor) {
    for (int i = 0; i < vector.length; i++) {
      vector[i] *= factor;
    }
  }
}

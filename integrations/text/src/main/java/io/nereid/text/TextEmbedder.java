package io.nereid.text;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.Model;
import io.nereid.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Makes vectors from texts: tokenizes them, runs the model in few batches with little padding, and
 * pools the results. Any thread may call; virtual threads wait cheaply.
 *
 * <p>A text's vector does not depend on other texts under way. With dynamic quantization it would:
 * such a model is detected at the first use, and its texts are alone in their batches, which costs
 * least with a {@code maxBatchSize} of 1 and several instances.
 */
public final class TextEmbedder {

  private final TokenBatches batches;
  private final Pooling pooling;
  private final boolean normalized;

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
    this(new TokenBatches(model, tokenizer, false), pooling, normalized);
  }

  private TextEmbedder(TokenBatches batches, Pooling pooling, boolean normalized) {
    this.batches = batches;
    this.pooling = Objects.requireNonNull(pooling, "pooling");
    this.normalized = normalized;
  }

  /**
   * Returns a copy whose texts share batches even if that changes their vectors: with dynamic
   * quantization by up to 0.02 an element. It is faster for lists of texts.
   */
  public TextEmbedder approximate() {
    TokenBatches together = new TokenBatches(batches.model(), batches.tokenizer(), true);
    return new TextEmbedder(together, pooling, normalized);
  }

  /** The vector of a text. */
  public float[] embed(String text) {
    return embedAll(List.of(text)).getFirst();
  }

  /** The vectors of texts, in their order. */
  public List<float[]> embedAll(List<String> texts) {
    return texts.isEmpty() ? List.of() : embedTokens(tokens(texts));
  }

  /** The tokens of each text. */
  List<long[]> tokens(List<String> texts) {
    return batches.tokenizer().encode(texts);
  }

  /** The number of tokens of all texts, without the special tokens around each. */
  int count(List<long[]> tokens) {
    int around = tokens(List.of("")).getFirst().length;
    return tokens.stream().mapToInt(text -> Math.max(0, text.length - around)).sum();
  }

  /** The model's name. */
  String modelName() {
    return batches.model().name();
  }

  /** The vectors of tokenized texts: the numbers of each one's tokens, unchanged. */
  public List<float[]> embedTokens(List<long[]> tokens) {
    float[][] vectors = new float[tokens.size()][];
    batches.run(
        tokens.stream().map(ids -> new TokenBatches.Tokens(ids, new long[ids.length])).toList(),
        (hidden, row, text) -> vectors[text] = vector(hidden, row, tokens.get(text).length));
    return Arrays.asList(vectors);
  }

  // ---- Vectors ---------------------------------------------------------------------------------

  private float[] vector(Tensor hidden, int row, int tokens) {
    int rank = hidden.rank();
    int size = (int) hidden.dim(rank - 1);
    int perText = rank < 3 ? 1 : (int) hidden.dim(rank - 2); // 1: pooled by the model
    MemorySegment values = hidden.segment();
    boolean first = pooling == Pooling.FIRST || perText == 1;
    int used = first ? 1 : Math.min(perText, tokens);
    float[] vector = new float[size];
    long start = (long) row * perText * size;
    for (int token = 0; token < used; token++) {
      add(values, start + (long) token * size, vector);
    }
    scale(vector, 1f / used);
    if (normalized) {
      normalize(vector);
    }
    return vector;
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

package io.nereid.text;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.ResponseListener;
import io.nereid.model.InstanceGroup;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

/**
 * Sends tokens of texts to a model: texts of similar length together, padded to the same length.
 * Texts of threads that call at the same time share batches, too, by the model's own dynamic
 * batching. Any thread may call.
 *
 * <p>A model with dynamic quantization computes its scales over a batch, so that its answer to a
 * text depends on the other texts. To detect that, the model is asked for a text alone and together
 * with another; then each text is alone in its batch, without padding.
 */
final class TokenBatches {

  private static final Logger LOGGER = System.getLogger(TokenBatches.class.getName());

  /** Lengths are padded to multiples of this, so that texts of other callers fit into the batch. */
  private static final int STEP = 8;

  /** The cost of a request, in tokens: MiniLM's 0.4 ms a run and 0.065 ms a token. */
  private static final int REQUEST_TOKENS = 6;

  /** The most tokens in a request, padding included: memory of attention grows with it. */
  private static final int MAX_TOKENS = 4096;

  /** The least cosine between two answers that differ only by rounding. */
  private static final double SAME = 0.99999;

  /** The tokens of a text; {@code types} has 1 for those of a second text. */
  record Tokens(long[] ids, long[] types) {
    int length() {
      return ids.length;
    }
  }

  /** Reads the row of an output that answers a text. */
  interface Reader {
    void read(Tensor output, int row, int text);
  }

  /** Whether other texts in a batch change the answers of one load of the model. */
  private record Company(ModelSpec spec, boolean matters) {}

  private final Model model;
  private final TextTokenizer tokenizer;
  private final boolean approximate;
  private final String output;
  private final int places;
  private final Semaphore free; // permits for as many requests as keep the instances busy
  // whether it was logged that other code uses the model
  private final AtomicBoolean told = new AtomicBoolean();
  private volatile Company company;

  /**
   * Makes batches for a model with BERT's inputs.
   *
   * @param approximate whether texts share batches even if that changes the answers
   */
  TokenBatches(Model model, TextTokenizer tokenizer, boolean approximate) {
    this.model = Objects.requireNonNull(model, "model");
    this.tokenizer = Objects.requireNonNull(tokenizer, "tokenizer");
    this.approximate = approximate;
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
    places = 1 + model.spec().instanceGroups().stream().mapToInt(InstanceGroup::count).sum();
    free = new Semaphore(places);
  }

  NereidException wrong(String expected, Object got) {
    return new NereidException(
        StatusCode.INVALID_ARGUMENT,
        "expected model '" + model.name() + "' to have " + expected + ", got " + got);
  }

  Model model() {
    return model;
  }

  TextTokenizer tokenizer() {
    return tokenizer;
  }

  /** The output that is read. */
  TensorSpec output() {
    return model.spec().outputs().stream()
        .filter(tensor -> tensor.name().equals(output))
        .findFirst()
        .orElseThrow();
  }

  private List<String> inputs() {
    return model.spec().inputs().stream().map(TensorSpec::name).toList();
  }

  /** Runs all texts. The reader is called once for each, on any threads. */
  void run(List<Tokens> texts, Reader reader) {
    int rows = Math.clamp(model.spec().maxBatchSize(), 1, Integer.MAX_VALUE);
    if (rows > 1 && !approximate && companyMatters()) {
      runEachAlone(texts, reader);
      return;
    }
    List<CompletableFuture<Integer>> answers = new ArrayList<>();
    for (Chunk chunk : chunks(texts, rows)) {
      answers.add(send(chunk, texts, reader));
    }
    join(answers);
  }

  private static void join(List<CompletableFuture<Integer>> answers) {
    try {
      CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw e;
    }
  }

  // ---- Models whose answers depend on other texts -----------------------------------------------

  private boolean companyMatters() {
    Company known = company;
    ModelSpec spec = model.spec();
    if (known == null || known.spec != spec) {
      List<Tokens> two =
          tokenizer.tokens(
              List.of("a dog", "In 1905 (or 1906?), 42 grey whales — very old ones — swam north."));
      float[][] answers = new float[2][];
      Reader first = (tensor, row, text) -> answers[text] = row(tensor, row);
      join(List.of(send(new Chunk(two.get(0).length(), new int[] {0}), two, first)));
      float[] alone = answers[0];
      join(List.of(send(new Chunk(two.get(1).length(), new int[] {0, 1}), two, first)));
      known = new Company(spec, cosine(alone, answers[0]) < SAME);
      company = known;
    }
    return known.matters;
  }

  private static float[] row(Tensor tensor, int row) {
    return tensor.row(row).toFloatArray();
  }

  /** The cosine of the common elements: one answer may have elements of padding behind. */
  private static double cosine(float[] one, float[] other) {
    double product = 0;
    double squares = 0;
    double otherSquares = 0;
    for (int i = 0; i < Math.min(one.length, other.length); i++) {
      product += (double) one[i] * other[i];
      squares += (double) one[i] * one[i];
      otherSquares += (double) other[i] * other[i];
    }
    double lengths = Math.sqrt(squares * otherSquares);
    return lengths == 0 ? 1 : product / lengths;
  }

  /**
   * Runs each text alone in its batch: at most one request waits while the instances execute one
   * each. If two texts still meet in a batch, both are run again while nothing else is under way.
   * If another program's request shares a batch even then, the text fills a batch with copies of
   * itself, which do not change the scale.
   */
  private void runEachAlone(List<Tokens> texts, Reader reader) {
    List<CompletableFuture<Integer>> answers = new ArrayList<>();
    Queue<Chunk> shared = new ConcurrentLinkedQueue<>();
    for (Chunk chunk : chunks(texts, 1)) {
      free.acquireUninterruptibly();
      CompletableFuture<Integer> answer;
      try {
        answer = send(chunk, texts, reader);
      } catch (RuntimeException e) {
        answer = CompletableFuture.failedFuture(e);
      }
      answers.add(
          answer.whenComplete((batch, failure) -> {
            free.release();
            if (failure == null && batch > 1) {
              shared.add(chunk);
            }
          }));
    }
    join(answers);
    for (Chunk chunk : shared) {
      free.acquireUninterruptibly(places);
      try {
        CompletableFuture<Integer> again = send(chunk, texts, reader);
        join(List.of(again));
        if (again.join() > 1) {
          tellOfStrangers();
          join(List.of(send(chunk.filled((int) model.spec().maxBatchSize()), texts, reader)));
        }
      } finally {
        free.release(places);
      }
    }
  }

  private void tellOfStrangers() {
    if (!told.getAndSet(true)) {
      LOGGER.log(
          Level.WARNING,
          ("answers of model '%s' depend on what shares their batch, and somebody else "
                  + "asks it: texts that met others are computed %s-fold, to have a batch for "
                  + "themselves. Load it with maxBatchSize(1)")
              .formatted(model.name(), model.spec().maxBatchSize()));
    }
  }

  // ---- Batches ----------------------------------------------------------------------------------

  /** Texts of one request: their positions, and the length to which they are padded. */
  private record Chunk(int length, int[] texts) {

    /** A chunk of copies of the first text that fills a batch. */
    Chunk filled(int rows) {
      int[] copies = new int[rows];
      Arrays.fill(copies, texts[0]);
      return new Chunk(length, copies);
    }
  }

  private static List<Chunk> chunks(List<Tokens> tokens, int rows) {
    int[] order =
        IntStream.range(0, tokens.size())
            .boxed()
            .sorted(Comparator.comparingInt(text -> tokens.get(text).length()))
            .mapToInt(Integer::intValue)
            .toArray();
    int[] lengths = Arrays.stream(order).map(text -> tokens.get(text).length()).toArray();
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
    return chunks; // the longest first, so that a long one is not begun last
  }

  /**
   * Splits texts, ordered by length, at the least total cost of padding and requests. Returns for
   * each end the begin of the chunk that ends there.
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

  /** Sends the texts; the future has the number of rows of their batch. */
  private CompletableFuture<Integer> send(Chunk chunk, List<Tokens> tokens, Reader reader) {
    int rows = chunk.texts.length;
    InferRequest request = model.newRequest();
    try {
      for (String input : inputs()) {
        MemorySegment to =
            request.allocateInput(input, rows, chunk.length).segment().fill((byte) 0);
        for (int row = 0; row < rows; row++) {
          Tokens own = tokens.get(chunk.texts[row]);
          long[] values =
              switch (input) {
                case "input_ids" -> own.ids;
                case "attention_mask" -> ones(own.length());
                default -> own.types;
              };
          MemorySegment.copy(
              values, 0, to, JAVA_LONG, (long) row * chunk.length * Long.BYTES, values.length);
        }
      }
      request.output(output);
      CompletableFuture<Integer> answered = new CompletableFuture<>();
      request.submit(new Answer(request, chunk, reader, answered), false);
      return answered;
    } catch (RuntimeException e) {
      request.close();
      throw e;
    }
  }

  /**
   * Reads the answer to a chunk on the thread of the core that brings it. The backend {@code text}
   * waits for the future on a virtual thread that native frames pin to its carrier, so no virtual
   * thread may be needed to complete it.
   */
  private final class Answer implements ResponseListener {

    private final InferRequest request;
    private final Chunk chunk;
    private final Reader reader;
    private final CompletableFuture<Integer> answered;

    Answer(InferRequest request, Chunk chunk, Reader reader, CompletableFuture<Integer> answered) {
      this.request = request;
      this.chunk = chunk;
      this.reader = reader;
      this.answered = answered;
    }

    @Override
    public void onResponse(InferResponse response) {
      int batch;
      try (request;
          response) {
        Tensor answer = response.output(output);
        for (int row = 0; row < chunk.texts.length; row++) {
          reader.read(answer, row, chunk.texts[row]);
        }
        batch = response.executedBatchSize();
      } catch (Throwable e) { // the waiting caller must be told of any failure
        answered.completeExceptionally(e);
        return;
      }
      answered.complete(batch);
    }

    @Override
    public void onFailure(NereidException failure) {
      request.close();
      answered.completeExceptionally(failure);
    }
  }

  private static long[] ones(int count) {
    long[] ones = new long[count];
    Arrays.fill(ones, 1);
    return ones;
  }
}

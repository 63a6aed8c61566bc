package io.nereid.text;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.statistics.MemoryUsage;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The backend {@code text}: a {@link TextEmbedder} as a model of a repository, whose version has
 * the files {@code model.onnx} and {@code tokenizer.json}. Its input {@code text} has one text a
 * row, or its input {@code tokens} the numbers of a text's tokens; its outputs are {@code
 * embedding} and {@code prompt_tokens}. With the parameter {@code task} at {@code rerank} it is a
 * {@link TextReranker}: its inputs {@code query} and {@code text} have one of each a row, and its
 * output {@code score} tells how well they match.
 *
 * <p>Each instance has a runtime of its own for the ONNX model, with as many instances as there are
 * processors, so that the texts of one batch are computed side by side. It is not the runtime that
 * loads this backend: there the ONNX model would be one more of the operator's models, with a name
 * that may be taken, and could be asked or unloaded by itself.
 *
 * <p>A backend sees only its model, so the inner runtime has the default options. The native
 * library is shared by the process; ONNX Runtime's is named by {@code -Dnereid.onnxruntime.path} or
 * is that of the class path; the pool of each instance has the default limit, and its use depends
 * on {@code batch_texts} and {@code max_tokens}. Requests wait in the queue of the outer model, and
 * hold its resources.
 */
public final class TextBackend implements Backend {

  /** The largest batch; it may be large, since it is sorted by length and split. */
  private static final int MAX_TEXTS = 64;

  private static final TensorSpec TEXT = TensorSpec.of("text", DataType.BYTES, -1, 1).asOptional();
  private static final TensorSpec TOKENS =
      TensorSpec.of("tokens", DataType.INT64, -1, -1).asOptional();
  private static final TensorSpec EMBEDDING = TensorSpec.of("embedding", DataType.FP32, -1, -1);
  private static final TensorSpec QUERY = TensorSpec.of("query", DataType.BYTES, -1, 1);
  private static final TensorSpec RANKED = TensorSpec.of("text", DataType.BYTES, -1, 1);
  private static final TensorSpec SCORE = TensorSpec.of("score", DataType.FP32, -1, 1);
  private static final TensorSpec COUNT = TensorSpec.of("prompt_tokens", DataType.INT64, -1, 1);

  /** Called by the service loader. */
  public TextBackend() {}

  @Override
  public String name() {
    return "text";
  }

  @Override
  public Optional<ModelSignature> describe(ModelSpec spec) {
    return Optional.of(
        Instance.ranks(spec)
            ? new ModelSignature(List.of(QUERY, RANKED), List.of(SCORE, COUNT), MAX_TEXTS)
            : new ModelSignature(List.of(TEXT, TOKENS), List.of(EMBEDDING, COUNT), MAX_TEXTS));
  }

  @Override
  public BackendInstance open(ModelContext context) throws Exception {
    return new Instance(context.spec());
  }

  /** One pipeline with its own tokenizer and runtime. */
  private static final class Instance implements BackendInstance {

    private final int maxTokens;
    private final TextTokenizer tokenizer;
    private final Nereid nereid;
    private final Model model;
    private final TextEmbedder embedder; // null: the model ranks
    private final TextReranker reranker; // null: the model embeds

    Instance(ModelSpec spec) throws Exception {
      Path directory = Path.of(spec.parameters().get("model_path"));
      maxTokens = number(spec, "max_tokens", 512);
      boolean ranks = ranks(spec);
      int together = number(spec, "batch_texts", MAX_TEXTS);
      Pooling pooling =
          choice(spec, "pooling", "mean", "first") == 0 ? Pooling.MEAN : Pooling.FIRST;
      boolean normalized = choice(spec, "normalize", "true", "false") == 0;
      tokenizer = TextTokenizer.open(file(directory, "tokenizer.json"), maxTokens);
      Path onnx = file(directory, "model.onnx");
      nereid = Nereid.create();
      try {
        model =
            nereid.load(
                ModelSpec.builder(spec.name())
                    .onnx(onnx)
                    .maxBatchSize(together)
                    .instanceCount(Runtime.getRuntime().availableProcessors())
                    .parameter("intra_op_thread_count", "1")
                    .build());
        boolean approximate = spec.parameters().containsKey("batch_texts");
        TextEmbedder exact = ranks ? null : new TextEmbedder(model, tokenizer, pooling, normalized);
        embedder = approximate && !ranks ? exact.approximate() : exact;
        reranker = ranks ? new TextReranker(model, tokenizer, approximate) : null;
      } catch (RuntimeException e) {
        close();
        throw e;
      }
    }

    /** True if the model ranks texts by queries, instead of making vectors. */
    static boolean ranks(ModelSpec spec) {
      return choice(spec, "task", "embed", "rerank") == 1;
    }

    private static Path file(Path directory, String name) {
      Path file = directory.resolve(name);
      if (!Files.isRegularFile(file)) {
        throw new NereidException(
            StatusCode.NOT_FOUND,
            "expected a file '" + name + "' in the directory of the model's version");
      }
      return file;
    }

    private static int number(ModelSpec spec, String key, int otherwise) {
      String given = spec.parameters().get(key);
      if (given == null) {
        return otherwise;
      }
      try {
        int value = Integer.parseInt(given);
        if (value > 0) {
          return value;
        }
      } catch (NumberFormatException e) {
        // Reported below, as for other values that are no positive number.
      }
      throw wrong(key, "a positive number", given);
    }

    /** Returns the index of a parameter's value among two; the first is the default. */
    private static int choice(ModelSpec spec, String key, String first, String second) {
      String given = spec.parameters().getOrDefault(key, first);
      int index = List.of(first, second).indexOf(given);
      if (index < 0) {
        throw wrong(key, "'" + first + "' or '" + second + "'", given);
      }
      return index;
    }

    private static NereidException wrong(String key, String expected, String got) {
      return new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "expected parameter '" + key + "' to be " + expected + ", got '" + got + "'");
    }

    @Override
    public void execute(Batch batch) {
      if (reranker != null) {
        rank(batch);
        return;
      }
      if (batch.hasInput("text") == batch.hasInput("tokens")) {
        throw new NereidException(
            StatusCode.INVALID_ARGUMENT, "expected one of the inputs 'text' and 'tokens'");
      }
      if (batch.hasInput("text")) {
        List<String> texts = Arrays.asList(batch.input("text").toStringArray());
        List<long[]> tokens = tokenizer.encode(texts);
        write(batch, tokens, embedder.embedTokens(tokens));
        return;
      }
      List<long[]> tokens = rows(batch.input("tokens"));
      checkLength(tokens);
      try {
        write(batch, tokens, embedder.embedTokens(tokens));
      } catch (NereidException e) {
        failThose(batch, tokens, e);
      }
    }

    private void rank(Batch batch) {
      List<TokenBatches.Tokens> pairs =
          tokenizer.pairs(
              Arrays.asList(batch.input("query").toStringArray()),
              Arrays.asList(batch.input("text").toStringArray()));
      batch.output("score", Tensor.ofFloats(reranker.scores(pairs), pairs.size(), 1));
      long[] counts = pairs.stream().mapToLong(TokenBatches.Tokens::length).toArray();
      batch.output("prompt_tokens", Tensor.ofLongs(counts, pairs.size(), 1));
    }

    private void checkLength(List<long[]> tokens) {
      int length = tokens.getFirst().length;
      if (length == 0 || length > maxTokens) {
        throw new NereidException(
            StatusCode.INVALID_ARGUMENT,
            "expected 1 to " + maxTokens + " tokens in a text, got " + length);
      }
    }

    private static List<long[]> rows(Tensor tokens) {
      MemorySegment numbers = tokens.segment();
      int length = (int) tokens.dim(1);
      return IntStream.range(0, (int) tokens.dim(0))
          .mapToObj(row -> {
            long[] one = new long[length];
            MemorySegment.copy(numbers, JAVA_LONG, (long) row * length * 8, one, 0, length);
            return one;
          })
          .toList();
    }

    /** Fails only the requests with unknown tokens, not their neighbours. */
    private void failThose(Batch batch, List<long[]> tokens, NereidException all) {
      if (batch.requestCount() == 1) {
        throw new NereidException(StatusCode.INVALID_ARGUMENT, all.getMessage());
      }
      float[] nothing = new float[0];
      float[][] vectors = new float[tokens.size()][];
      for (int i = 0; i < batch.requestCount(); i++) {
        int first = (int) batch.request(i).firstRow();
        int end = first + (int) batch.request(i).rows();
        try {
          List<float[]> own = embedder.embedTokens(tokens.subList(first, end));
          IntStream.range(first, end).forEach(row -> vectors[row] = own.get(row - first));
        } catch (NereidException e) {
          batch.fail(i, StatusCode.INVALID_ARGUMENT, e.getMessage());
          Arrays.fill(vectors, first, end, nothing);
        }
      }
      if (Arrays.stream(vectors).anyMatch(vector -> vector.length > 0)) {
        write(batch, tokens, Arrays.asList(vectors));
      }
    }

    private static void write(Batch batch, List<long[]> tokens, List<float[]> vectors) {
      int rows = vectors.size();
      int size = vectors.stream().mapToInt(vector -> vector.length).max().orElse(0);
      float[] all = new float[rows * size];
      long[] counts = new long[rows];
      for (int row = 0; row < rows; row++) {
        System.arraycopy(vectors.get(row), 0, all, row * size, vectors.get(row).length);
        counts[row] = tokens.get(row).length;
      }
      batch.output("embedding", Tensor.ofFloats(all, rows, size));
      batch.output("prompt_tokens", Tensor.ofLongs(counts, rows, 1));
    }

    @Override
    public MemoryUsage memoryUsage() {
      return model.memoryUsage();
    }

    @Override
    public void close() {
      nereid.close();
      tokenizer.close();
    }
  }
}

package io.nereid.text;

import ai.djl.huggingface.tokenizers.Encoding;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.util.PairList;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** A tokenizer of Hugging Face's, from its {@code tokenizer.json}. Any thread may use it. */
public final class TextTokenizer implements AutoCloseable {

  private final HuggingFaceTokenizer tokenizer;

  static {
    // DJL would tell its makers that it is used, on machines of theirs, and on those with a GPU
    // fetch
    // another library: it shall touch no network.
    setUnlessSet("OPT_OUT_TRACKING", "true");
    setUnlessSet("RUST_FLAVOR", "cpu");
  }

  private TextTokenizer(HuggingFaceTokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  private static void setUnlessSet(String name, String value) {
    if (System.getenv(name) == null && System.getProperty(name) == null) {
      System.setProperty(name, value);
    }
  }

  /**
   * The tokenizer in a file.
   *
   * @param maxTokens what is longer is cut off there
   */
  public static TextTokenizer open(Path json, int maxTokens) throws IOException {
    try (InputStream in = Files.newInputStream(Objects.requireNonNull(json, "json"))) {
      return read(in, maxTokens);
    }
  }

  /** The same out of a stream, as of {@link Class#getResourceAsStream}; it is not closed. */
  public static TextTokenizer read(InputStream json, int maxTokens) throws IOException {
    Objects.requireNonNull(json, "json");
    if (maxTokens < 1) {
      throw new IllegalArgumentException("maxTokens must be positive, got " + maxTokens);
    }
    Map<String, String> options =
        Map.of(
            "padding",
            "false",
            "truncation",
            "true",
            "modelMaxLength",
            Integer.toString(maxTokens),
            "maxLength",
            Integer.toString(maxTokens));
    return new TextTokenizer(HuggingFaceTokenizer.newInstance(json, options));
  }

  /** The numbers of each text's tokens, with those that the model wants around them. */
  public List<long[]> encode(List<String> texts) {
    return Stream.of(tokenizer.batchEncode(texts)).map(Encoding::getIds).toList();
  }

  /** The same, as a model takes them. */
  List<TokenBatches.Tokens> tokens(List<String> texts) {
    return tokens(tokenizer.batchEncode(texts));
  }

  /** Each text behind the same first one, as models that compare two take them. */
  List<TokenBatches.Tokens> pairs(String first, List<String> texts) {
    return pairs(Collections.nCopies(texts.size(), first), texts);
  }

  /** Each text behind its own first one. */
  List<TokenBatches.Tokens> pairs(List<String> firsts, List<String> texts) {
    PairList<String, String> pairs = new PairList<>(firsts, texts);
    return tokens(tokenizer.batchEncode(pairs));
  }

  private static List<TokenBatches.Tokens> tokens(Encoding[] encoded) {
    return Stream.of(encoded)
        .map(text -> new TokenBatches.Tokens(text.getIds(), text.getTypeIds()))
        .toList();
  }

  @Override
  public void close() {
    tokenizer.close();
  }
}

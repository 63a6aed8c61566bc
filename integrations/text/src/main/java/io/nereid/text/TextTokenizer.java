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
    // Keeps DJL off the network: it would report its use to its makers and, on machines with a GPU,
    // download another library.
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
   * @param maxTokens the length at which texts are cut off
   */
  public static TextTokenizer open(Path json, int maxTokens) throws IOException {
    try (InputStream in = Files.newInputStream(Objects.requireNonNull(json, "json"))) {
      return read(in, maxTokens);
    }
  }

  /**
   * Does the same for a stream, such as that of {@link Class#getResourceAsStream}, which is not
   * closed.
   */
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

  /** The numbers of each text's tokens, with the special tokens around them. */
  public List<long[]> encode(List<String> texts) {
    return Stream.of(tokenizer.batchEncode(texts)).map(Encoding::getIds).toList();
  }

  /** The tokens of texts in the model's form. */
  List<TokenBatches.Tokens> tokens(List<String> texts) {
    return tokens(tokenizer.batchEncode(texts));
  }

  /**
   * The tokens of pairs, each of the same first text and one of the others, for models that compare
   * two texts.
   */
  List<TokenBatches.Tokens> pairs(String first, List<String> texts) {
    return pairs(Collections.nCopies(texts.size(), first), texts);
  }

  /** The tokens of pairs, each of a first text and its second. */
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

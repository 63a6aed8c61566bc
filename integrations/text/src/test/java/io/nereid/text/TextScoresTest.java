package io.nereid.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.langchain4j.data.segment.TextSegment;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.Batch;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rerankers and classifiers over MiniLM's tokenizer and models whose logits can be told. */
class TextScoresTest {

  private Nereid nereid;
  private TextTokenizer tokenizer;

  @BeforeEach
  void open() throws IOException {
    nereid = Nereid.create();
    try (InputStream json = TextEmbedderTest.resource("all-minilm-l6-v2-q-tokenizer.json")) {
      tokenizer = TextTokenizer.read(json, 64);
    }
  }

  @AfterEach
  void close() {
    tokenizer.close();
    nereid.close();
  }

  private interface Logits {
    float[] of(Tensor ids, Tensor mask, Tensor types, int row);
  }

  private Model model(String name, int logits, Logits function) {
    return nereid.load(
        ModelSpec.builder(name)
            .maxBatchSize(16)
            .input("input_ids", DataType.INT64, -1)
            .input("attention_mask", DataType.INT64, -1)
            .input("token_type_ids", DataType.INT64, -1)
            .output("logits", DataType.FP32, logits)
            .backend(context -> batch -> answer(batch, logits, function))
            .build());
  }

  private static void answer(Batch batch, int logits, Logits function) {
    Tensor ids = batch.input("input_ids");
    int rows = (int) ids.dim(0);
    float[] all = new float[rows * logits];
    for (int row = 0; row < rows; row++) {
      float[] own =
          function.of(
              ids.row(row),
              batch.input("attention_mask").row(row),
              batch.input("token_type_ids").row(row),
              row);
      System.arraycopy(own, 0, all, row * logits, logits);
    }
    batch.output("logits", Tensor.ofFloats(all, rows, logits));
  }

  /** How many tokens of the second text the first has, too, without the one that ends both. */
  private static float[] common(Tensor ids, Tensor mask, Tensor types, int row) {
    Set<Long> first = new HashSet<>();
    int common = -1;
    for (int i = 0; i < ids.elementCount(); i++) {
      if (mask.longAt(i) == 1 && types.longAt(i) == 0) {
        first.add(ids.longAt(i));
      } else if (mask.longAt(i) == 1 && first.contains(ids.longAt(i))) {
        common++;
      }
    }
    return new float[] {common};
  }

  @Test
  void aRerankerReadsQueryAndTextAtOnce() {
    TextReranker reranker =
        new TextReranker(model("reranker", 1, TextScoresTest::common), tokenizer);
    List<String> texts =
        List.of("whales are mammals that live in the sea", "a dog", "the sea is blue, and whales");
    float[] scores = reranker.scores("whales live in the sea", texts);
    assertEquals(1 / (1 + Math.exp(-5)), scores[0], 1e-6);
    assertEquals(0.5, scores[1], 1e-6);
    assertEquals(1 / (1 + Math.exp(-3)), scores[2], 1e-6);
    assertEquals(0, reranker.scores("whales", List.of()).length);
    List<Double> ofLangChain =
        new NereidScoringModel(reranker)
            .scoreAll(texts.stream().map(TextSegment::from).toList(), "whales live in the sea")
            .content();
    assertEquals(scores[2], ofLangChain.get(2), 1e-6);
  }

  @Test
  void aClassifierSharesOutOneAmongItsLabels() {
    Model model =
        model(
            "classifier",
            3,
            (ids, mask, types, row) -> new float[] {0, (float) Math.log(2), (float) Math.log(5)});
    TextClassifier classifier = new TextClassifier(model, tokenizer, "good", "bad", "odd");
    Map<String, Float> shares = classifier.classify("a dog");
    assertEquals(List.of("odd", "bad", "good"), List.copyOf(shares.keySet()));
    assertEquals(5 / 8f, shares.get("odd"), 1e-6f);
    assertEquals(3, classifier.classifyAll(List.of("a", "b c d e", "f")).size());
    NereidException e =
        assertThrows(
            NereidException.class, () -> new TextClassifier(model, tokenizer, "good", "bad"));
    assertTrue(e.getMessage().contains("3 labels"), e.getMessage());
    assertThrows(NereidException.class, () -> new TextReranker(model, tokenizer));
  }
}

package io.nereid.text;

import io.nereid.Model;
import java.util.List;

/**
 * Scores how well texts answer a query, by a cross-encoder: a model that reads both at once, such
 * as BGE's rerankers or MiniLM's for MS MARCO. Any thread may call.
 */
public final class TextReranker {

  private final TokenBatches batches;

  /**
   * A reranker.
   *
   * @param model takes {@code input_ids}, {@code attention_mask} and, if it wants, {@code
   *     token_type_ids}; its first output in FP32 has a logit for each text
   * @param tokenizer the model's, which stays the caller's
   */
  public TextReranker(Model model, TextTokenizer tokenizer) {
    this(model, tokenizer, false);
  }

  /** Makes a reranker; if approximate, texts share batches even if that changes their scores. */
  TextReranker(Model model, TextTokenizer tokenizer, boolean approximate) {
    batches = new TokenBatches(model, tokenizer, approximate);
    long logits = batches.output().dims().stream().reduce(1L, (a, b) -> a * b);
    if (logits > 1) {
      throw batches.wrong("one logit a text", logits);
    }
  }

  /** Scores from 0 to 1 of how well each text answers the query, in the order of the texts. */
  public float[] scores(String query, List<String> texts) {
    return texts.isEmpty() ? new float[0] : scores(batches.tokenizer().pairs(query, texts));
  }

  /** The scores of queries and texts that are tokenized together. */
  float[] scores(List<TokenBatches.Tokens> pairs) {
    float[] scores = new float[pairs.size()];
    batches.run(
        pairs,
        (logits, row, text) -> scores[text] = (float) (1 / (1 + Math.exp(-logits.floatAt(row)))));
    return scores;
  }
}

package io.nereid.text;

import io.nereid.Model;
import io.nereid.tensor.TensorMath;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Classifies texts by labels, with a model that has a logit for each label. Any thread may call.
 */
public final class TextClassifier {

  private final TokenBatches batches;
  private final List<String> labels;

  /**
   * A classifier.
   *
   * @param model takes {@code input_ids}, {@code attention_mask} and, if it wants, {@code
   *     token_type_ids}; its first output in FP32 has the logits
   * @param tokenizer the model's, which stays the caller's
   * @param labels names of the logits, in order; if empty, those of the model's configuration
   */
  public TextClassifier(Model model, TextTokenizer tokenizer, String... labels) {
    batches = new TokenBatches(model, tokenizer, false);
    this.labels = labels.length > 0 ? List.of(labels) : batches.output().labels();
    long logits = batches.output().dims().getLast();
    if (this.labels.isEmpty() || logits >= 0 && logits != this.labels.size()) {
      throw batches.wrong(logits + " labels, as it has logits", this.labels);
    }
  }

  /** The share of each label, the best first; their sum is 1. */
  public Map<String, Float> classify(String text) {
    return classifyAll(List.of(text)).getFirst();
  }

  /** Does the same for several texts, in order. */
  public List<Map<String, Float>> classifyAll(List<String> texts) {
    List<Map<String, Float>> all = new ArrayList<>();
    if (texts.isEmpty()) {
      return all;
    }
    float[][] shares = new float[texts.size()][];
    int[][] best = new int[texts.size()][];
    batches.run(
        batches.tokenizer().tokens(texts),
        (logits, row, text) -> {
          best[text] = new int[labels.size()];
          TensorMath.topK(logits, row, best[text]);
          shares[text] = TensorMath.softmax(logits, row, new float[labels.size()]);
        });
    for (int text = 0; text < shares.length; text++) {
      Map<String, Float> one = new LinkedHashMap<>();
      for (int label : best[text]) {
        one.put(labels.get(label), shares[text][label]);
      }
      all.add(one);
    }
    return all;
  }
}

package io.nereid.server.shared;

import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The classification extension: what a request gets in place of an output of scores. For each row
 * of the batch the classes with the best scores, best first, of equal scores the lower index first.
 * Each is a string {@code SCORE:INDEX}, with {@code :LABEL} where the model has one for the index.
 */
public final class Classification {

  /** Most scores in a row, and most classes in an answer. */
  public static final int MAX_CLASSES = 1_000_000;

  private final String output;
  private final List<String> labels;
  private final boolean batches;
  private final long count;

  private Classification(String output, List<String> labels, boolean batches, long count) {
    this.output = output;
    this.labels = labels;
    this.batches = batches;
    this.count = count;
  }

  /**
   * For an output of a model.
   *
   * @param count how many classes are wanted; there are never more than scores
   */
  public static Classification of(ModelSpec model, String output, long count) {
    if (count <= 0) {
      throw new IllegalArgumentException("expected a count of 1 or more, got " + count);
    }
    List<String> labels =
        model.outputs().stream()
            .filter(spec -> spec.name().equals(output))
            .findFirst()
            .map(TensorSpec::labels)
            .orElse(List.of());
    return new Classification(output, labels, model.maxBatchSize() > 0, count);
  }

  /** The classes as a BYTES tensor of heap memory: one row of them for each row of scores. */
  public Tensor classify(Tensor scores) {
    if (!ScoreReader.isScore(scores.dataType())) {
      throw invalid(
          "class result not available for output due to unsupported type '"
              + scores.dataType()
              + "'");
    }
    boolean hasRows = batches && scores.rank() > 0;
    long rows = hasRows ? scores.dim(0) : 1;
    long rowSize = 1;
    for (int i = hasRows ? 1 : 0; i < scores.rank(); i++) {
      rowSize *= scores.dim(i);
    }
    long classes = Math.min(count, rowSize);
    if (rowSize > MAX_CLASSES || rows * classes > MAX_CLASSES) {
      throw tooLarge(rows + " times " + classes + " of " + rowSize + " classes");
    }
    byte[][] strings = new byte[(int) (rows * classes)][];
    ScoreReader reader = new ScoreReader(scores.dataType(), scores.segment());
    for (int row = 0; row < rows; row++) {
      classify(reader, row * rowSize, (int) rowSize, strings, row * (int) classes, (int) classes);
    }
    long byteSize = 0;
    for (byte[] string : strings) {
      byteSize += Integer.BYTES + (long) string.length;
    }
    if (byteSize > Integer.MAX_VALUE) {
      throw tooLarge(byteSize + " bytes");
    }
    return hasRows
        ? Tensor.ofByteStrings(strings, rows, classes)
        : Tensor.ofByteStrings(strings, classes);
  }

  /** Fills in one row. */
  private void classify(
      ScoreReader scores, long start, int size, byte[][] strings, int at, int classes) {
    BestClasses best = new BestClasses(classes);
    for (int i = 0; i < size; i++) {
      best.offer(scores.key(start + i), i);
    }
    for (int i = at + classes - 1; i >= at; i--) {
      int index = best.removeWorst();
      String text = scores.text(start + index) + ':' + index;
      if (index < labels.size() && !labels.get(index).isEmpty()) {
        text += ':' + labels.get(index);
      }
      strings[i] = text.getBytes(StandardCharsets.UTF_8);
    }
  }

  private NereidException tooLarge(String got) {
    return invalid(
        "classification output tensor too large: expected at most "
            + MAX_CLASSES
            + " classes of output '"
            + output
            + "', got "
            + got);
  }

  private static NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }
}

package io.nereid.server.shared;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The classification extension: replaces an output of scores by the best classes. Each row of the
 * batch has the classes with the best scores, best first, of equal scores the lower index first.
 * Each is a string {@code SCORE:INDEX}, with {@code :LABEL} if the model has a label for the index.
 */
public final class Classification {

  /** Most scores in a row, and most classes in an answer. */
  public static final int MAX_CLASSES = 1_000_000;

  /** The number of elements between two pauses: texts take up to 4 µs each. */
  private static final int TURN_ELEMENTS = 64;

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
   * Makes the classification of a model's output.
   *
   * @param count the number of wanted classes; at most the number of scores
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
    return classify(scores, () -> {});
  }

  /** The same, with a pause from time to time, which lets other threads run. */
  public Tensor classify(Tensor scores, Runnable pause) {
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
      long start = row * rowSize;
      classify(reader, start, (int) rowSize, strings, row * (int) classes, (int) classes, pause);
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
      ScoreReader scores,
      long start,
      int size,
      byte[][] strings,
      int at,
      int classes,
      Runnable pause) {
    BestClasses best = new BestClasses(classes);
    for (int i = 0; i < size; i++) {
      best.offer(scores.key(start + i), i);
      if ((start + i) % TURN_ELEMENTS == 0) {
        pause.run();
      }
    }
    for (int i = at + classes - 1; i >= at; i--) {
      int index = best.removeWorst();
      String text = scores.text(start + index) + ':' + index;
      if (index < labels.size() && !labels.get(index).isEmpty()) {
        text += ':' + labels.get(index);
      }
      strings[i] = text.getBytes(StandardCharsets.UTF_8);
      if (i % TURN_ELEMENTS == 0) {
        pause.run();
      }
    }
  }

  private NereidException tooLarge(String got) {
    return invalid(
        ("classification output tensor too large: expected at most %s classes of output '%s', "
                + "got %s")
            .formatted(MAX_CLASSES, output, got));
  }

  private static NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }

  /**
   * The best of many scored classes: a heap of fixed size, whose root is the worst class kept.
   * Classes are offered by ascending index.
   */
  private static final class BestClasses {

    private final long[] keys;
    private final int[] indexes;
    private int size;

    BestClasses(int capacity) {
      keys = new long[capacity];
      indexes = new int[capacity];
    }

    /** Keeps a class, unless enough others have the same or a higher key. */
    void offer(long key, int index) {
      if (size < keys.length) {
        int at = size++;
        keys[at] = key;
        indexes[at] = index;
        while (at > 0 && isWorse(at, (at - 1) / 2)) {
          swap(at, (at - 1) / 2);
          at = (at - 1) / 2;
        }
      } else if (size > 0 && key > keys[0]) {
        keys[0] = key;
        indexes[0] = index;
        siftDown();
      }
    }

    /** Removes the worst class and returns its index; the heap must not be empty. */
    int removeWorst() {
      int worst = indexes[0];
      swap(0, --size);
      siftDown();
      return worst;
    }

    private void siftDown() {
      for (int at = 0, child = 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && isWorse(child + 1, child)) {
          child++;
        }
        if (!isWorse(child, at)) {
          return;
        }
        swap(at, child);
        at = child;
      }
    }

    /** True if one class is worse than another: of equal keys, the higher index is worse. */
    private boolean isWorse(int one, int other) {
      return keys[one] < keys[other] || (keys[one] == keys[other] && indexes[one] > indexes[other]);
    }

    private void swap(int one, int other) {
      long key = keys[one];
      keys[one] = keys[other];
      keys[other] = key;
      int index = indexes[one];
      indexes[one] = indexes[other];
      indexes[other] = index;
    }
  }

  /** Reads the elements of a tensor as scores: as comparable numbers, and as text. */
  private static final class ScoreReader {

    /** Digits behind the point, as C++ prints floating-point numbers. */
    private static final int DECIMALS = 6;

    /** A little less than half of the last digit. */
    private static final double LARGEST_ZERO = 5e-7;

    private final DataType type;
    private final MemorySegment data;

    /** Makes a reader for a type for which {@link #isScore}. */
    ScoreReader(DataType type, MemorySegment data) {
      this.type = type;
      this.data = data;
    }

    /** True if elements of this type can be scores. */
    static boolean isScore(DataType type) {
      return switch (type) {
        case INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FP32, FP64 -> true;
        case BOOL, FP16, BF16, BYTES -> false;
      };
    }

    /** A number that compares as the element does. */
    long key(long index) {
      return switch (type) {
        case FP32 -> key(data.get(JAVA_FLOAT_UNALIGNED, index * Float.BYTES));
        case FP64 -> key(data.get(JAVA_DOUBLE_UNALIGNED, index * Double.BYTES));
        case UINT64 -> data.get(JAVA_LONG_UNALIGNED, index * Long.BYTES) ^ Long.MIN_VALUE;
        default -> integer(index);
      };
    }

    /** Orders NaN below everything; both zeros are equal. */
    private static long key(double value) {
      if (Double.isNaN(value)) {
        return Long.MIN_VALUE;
      }
      long bits = Double.doubleToRawLongBits(value + 0.0);
      return bits ^ (bits >> 63 & Long.MAX_VALUE);
    }

    /** The element as C++ prints it. */
    String text(long index) {
      return switch (type) {
        case FP32 -> fixed(data.get(JAVA_FLOAT_UNALIGNED, index * Float.BYTES));
        case FP64 -> fixed(data.get(JAVA_DOUBLE_UNALIGNED, index * Double.BYTES));
        case UINT64 -> Long.toUnsignedString(data.get(JAVA_LONG_UNALIGNED, index * Long.BYTES));
        default -> Long.toString(integer(index));
      };
    }

    private static String fixed(double value) {
      boolean negative = Double.doubleToRawLongBits(value) < 0;
      String text;
      if (Double.isNaN(value)) {
        text = "nan";
      } else if (Double.isInfinite(value)) {
        text = "inf";
      } else if (Math.abs(value) <= LARGEST_ZERO) {
        // shortcut: the exact value of the smallest numbers has a thousand digits
        text = "0.000000";
      } else {
        // Rounds the exact value once.
        text =
            new BigDecimal(Math.abs(value))
                .setScale(DECIMALS, RoundingMode.HALF_EVEN)
                .toPlainString();
      }
      return negative ? "-" + text : text;
    }

    private long integer(long index) {
      return switch (type) {
        case INT8 -> data.get(JAVA_BYTE, index);
        case UINT8 -> data.get(JAVA_BYTE, index) & 0xff;
        case INT16 -> data.get(JAVA_SHORT_UNALIGNED, index * Short.BYTES);
        case UINT16 -> data.get(JAVA_SHORT_UNALIGNED, index * Short.BYTES) & 0xffff;
        case INT32 -> data.get(JAVA_INT_UNALIGNED, index * Integer.BYTES);
        case UINT32 -> data.get(JAVA_INT_UNALIGNED, index * Integer.BYTES) & 0xffff_ffffL;
        case INT64 -> data.get(JAVA_LONG_UNALIGNED, index * Long.BYTES);
        default -> throw new IllegalStateException(type + " has no integers");
      };
    }
  }
}

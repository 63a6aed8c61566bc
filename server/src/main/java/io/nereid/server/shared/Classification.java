package io.nereid.server.shared;

import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * The classification extension: replaces an output of scores by the best classes. Each row of the
 * batch has the classes with the best scores, best first, of equal scores the lower index first.
 * Each is a string {@code SCORE:INDEX}, with {@code :LABEL} if the model has a label for the index.
 */
public final class Classification {

  /** Most scores in a row, and most classes in an answer. */
  public static final int MAX_CLASSES = 1_000_000;

  // Measured with 1 to 10 of 1000 scores, and 1000 of them.
  private static final long SCORE_NS = 5;
  private static final long CLASS_NS = 100;

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

  /** About the nanoseconds that classifying takes, on a thread that has done it before. */
  public long workNs(Tensor scores) {
    long all = scores.elementCount();
    long rows = rows(scores);
    long classes = rows == 0 ? 0 : Math.min(count, all / rows) * rows;
    return SCORE_NS * all + CLASS_NS * classes;
  }

  private boolean hasRows(Tensor scores) {
    return batches && scores.rank() > 0;
  }

  private long rows(Tensor scores) {
    return hasRows(scores) ? scores.dim(0) : 1;
  }

  /** The classes, made without a pause; see {@link #classify(Tensor, HeapShare, Runnable)}. */
  public Tensor classify(Tensor scores, HeapShare heap) {
    return classify(scores, heap, () -> {});
  }

  /**
   * The classes as a BYTES tensor of heap memory: one row of them for each row of scores.
   *
   * @param heap the share in which the heap memory counts; null: in none
   * @param pause called from time to time, and lets other threads run
   * @throws HeapShare.Exhausted there is too little heap memory
   */
  public Tensor classify(Tensor scores, HeapShare heap, Runnable pause) {
    if (!ScoreReader.isScore(scores.dataType())) {
      throw invalid(
          "class result not available for output due to unsupported type '"
              + scores.dataType()
              + "'");
    }
    boolean hasRows = hasRows(scores);
    long rows = rows(scores);
    long rowSize = 1;
    for (int i = hasRows ? 1 : 0; i < scores.rank(); i++) {
      rowSize *= scores.dim(i);
    }
    long classes = Math.min(count, rowSize);
    if (rowSize > MAX_CLASSES || rows * classes > MAX_CLASSES) {
      throw tooLarge(rows + " times " + classes + " of " + rowSize + " classes");
    }
    Strings strings = new Strings((int) (rows * classes), heap);
    strings.take(BestClasses.heapBytes((int) classes));
    ScoreReader reader = new ScoreReader(scores.dataType(), scores.segment());
    BestClasses best = new BestClasses((int) classes);
    for (int row = 0; row < rows; row++) {
      classify(reader, row * rowSize, (int) rowSize, best, strings, pause);
    }
    MemorySegment encoded = MemorySegment.ofArray(strings.bytes).asSlice(0, strings.end);
    return hasRows
        ? Tensor.of(DataType.BYTES, encoded, rows, classes)
        : Tensor.of(DataType.BYTES, encoded, classes);
  }

  /** Adds one row. */
  private void classify(
      ScoreReader scores, long start, int size, BestClasses best, Strings strings, Runnable pause) {
    for (int i = 0; i < size; i++) {
      best.offer(scores.key(start + i), i);
      if ((start + i) % TURN_ELEMENTS == 0) {
        pause.run();
      }
    }
    StringBuilder text = strings.text;
    for (int i = 0, count = best.sort(); i < count; i++) {
      int index = best.indexes[i];
      text.setLength(0);
      scores.write(start + index, text);
      text.append(':').append(index);
      if (index < labels.size() && !labels.get(index).isEmpty()) {
        text.append(':').append(labels.get(index));
      }
      strings.add();
      if (i % TURN_ELEMENTS == 0) {
        pause.run();
      }
    }
  }

  /** The strings of the answer as BYTES have them: each behind its length. */
  private final class Strings {

    private static final VarHandle LENGTH =
        MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /** Enough for most classes without labels. */
    private static final int FEW_BYTES = 24;

    private final HeapShare heap;

    /** The next string. */
    final StringBuilder text = new StringBuilder();

    byte[] bytes;
    int end;

    Strings(int count, HeapShare heap) {
      this.heap = heap;
      int length = FEW_BYTES * count;
      take(HeapArrays.cost(length));
      bytes = new byte[length];
    }

    void take(long more) {
      if (heap != null) {
        heap.take(more);
      }
    }

    /** Adds the text. */
    void add() {
      byte[] string = text.toString().getBytes(StandardCharsets.UTF_8);
      long needed = (long) end + Integer.BYTES + string.length;
      if (needed > HeapArrays.MOST_BYTES) {
        throw tooLarge(needed + " bytes");
      }
      if (needed > bytes.length) {
        int length = HeapArrays.grown(bytes.length, (int) needed);
        take(HeapArrays.cost(length));
        bytes = Arrays.copyOf(bytes, length);
      }
      LENGTH.set(bytes, end, string.length);
      System.arraycopy(string, 0, bytes, end + Integer.BYTES, string.length);
      end = (int) needed;
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

    /** The heap memory for so many classes. */
    static long heapBytes(int capacity) {
      return HeapArrays.cost((long) Long.BYTES * capacity)
          + HeapArrays.cost((long) Integer.BYTES * capacity);
    }

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

    /**
     * Sorts the indexes of the kept classes, the best first, and returns their number. The next
     * class that is offered begins a new row.
     */
    int sort() {
      int count = size;
      while (size > 1) {
        swap(0, --size);
        siftDown();
      }
      size = 0;
      return count;
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
}

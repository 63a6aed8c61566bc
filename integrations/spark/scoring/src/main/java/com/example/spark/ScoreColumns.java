package com.example.spark;

import io.nereid.InferRequest;
import io.nereid.Model;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.execution.vectorized.OffHeapColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.util.LongAccumulator;

/**
 * Scores the images of a partition, a batch of columns at a time: column 0 is the id of each image,
 * column 1 an array of its pixels. With {@code spark.sql.columnVector.offheap.enabled} the model
 * reads the pixels from the memory of Spark's reader; else they are copied once.
 */
final class ScoreColumns implements FlatMapFunction<Iterator<ColumnarBatch>, Row> {

  private static final long serialVersionUID = 1;

  /**
   * The numbers of rows that the model read from Spark's memory, and of rows that were copied for
   * it.
   */
  private final LongAccumulator lentRows;

  private final LongAccumulator copiedRows;

  ScoreColumns(LongAccumulator lentRows, LongAccumulator copiedRows) {
    this.lentRows = lentRows;
    this.copiedRows = copiedRows;
  }

  @Override
  public Iterator<Row> call(Iterator<ColumnarBatch> batches) {
    Model model = NereidPlugin.nereid().model(Digits.NAME);
    return new Iterator<>() {
      private Iterator<Row> rows = Collections.emptyIterator();

      @Override
      public boolean hasNext() {
        // The rows of a batch are taken before the next batch is asked for, which may overwrite it.
        while (!rows.hasNext() && batches.hasNext()) {
          rows = score(model, batches.next());
        }
        return rows.hasNext();
      }

      @Override
      public Row next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return rows.next();
      }
    };
  }

  private Iterator<Row> score(Model model, ColumnarBatch batch) {
    int rows = batch.numRows();
    long[] ids = batch.column(0).getLongs(0, rows);
    int[] digits = new int[rows];
    Optional<MemorySegment> pixels = lend(batch.column(1), rows);
    int most = Digits.maxBatch(model);
    for (int first = 0; first < rows; first += most) {
      int count = Math.min(most, rows - first);
      if (pixels.isPresent()) {
        long rowBytes = Digits.PIXELS * ValueLayout.JAVA_FLOAT.byteSize();
        MemorySegment some = pixels.get().asSlice(first * rowBytes, count * rowBytes);
        Digits.infer(model, some, digits, first, count);
      } else {
        inferCopied(model, batch.column(1), digits, first, count);
      }
    }
    (pixels.isPresent() ? lentRows : copiedRows).add(rows);
    return new Iterator<>() {
      private int at;

      @Override
      public boolean hasNext() {
        return at < rows;
      }

      @Override
      public Row next() {
        int row = at++;
        return RowFactory.create(ids[row], digits[row]);
      }
    };
  }

  /** The pixels of a batch as one piece of native memory, if Spark keeps them so. */
  @SuppressWarnings("restricted") // address and size come from Spark's vector
  private static Optional<MemorySegment> lend(ColumnVector arrays, int rows) {
    if (rows == 0
        || arrays.hasNull()
        || !(arrays instanceof OffHeapColumnVector vector)
        || !(vector.arrayData() instanceof OffHeapColumnVector values)
        || values.hasDictionary() // the memory then contains indexes into the dictionary
        || values.hasNull()) {
      return Optional.empty();
    }
    long first = vector.getArrayOffset(0);
    for (int row = 0; row < rows; row++) {
      checkLength(vector.getArrayLength(row));
      if (vector.getArrayOffset(row) != first + (long) row * Digits.PIXELS) {
        return Optional.empty();
      }
    }
    long floatBytes = ValueLayout.JAVA_FLOAT.byteSize();
    return Optional.of(
        MemorySegment.ofAddress(values.valuesNativeAddress() + first * floatBytes)
            .reinterpret(rows * (Digits.PIXELS * floatBytes)));
  }

  private static void inferCopied(
      Model model, ColumnVector arrays, int[] digits, int first, int count) {
    try (InferRequest request = model.newRequest()) {
      MemorySegment to = request.allocateInput("image", count, 8, 8).segment();
      for (int i = 0; i < count; i++) {
        if (arrays.isNullAt(first + i)) {
          throw new IllegalArgumentException("expected an array of pixels, got null");
        }
        float[] pixels = arrays.getArray(first + i).toFloatArray();
        checkLength(pixels.length);
        long at = (long) i * Digits.PIXELS * Float.BYTES;
        MemorySegment.copy(pixels, 0, to, ValueLayout.JAVA_FLOAT, at, Digits.PIXELS);
      }
      Digits.infer(request, digits, first, count);
    }
  }

  private static void checkLength(int length) {
    if (length != Digits.PIXELS) {
      throw new IllegalArgumentException(
          "expected " + Digits.PIXELS + " pixels an image, got " + length);
    }
  }
}

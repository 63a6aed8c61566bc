package com.example.spark;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.InferRequest;
import io.nereid.Model;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * Scores images that come as rows of (id, pixels), from wherever Spark has them: for {@code
 * Dataset.mapPartitions}. Each request has as many rows as the model takes; their pixels are copied
 * once, into the memory that the model reads.
 */
final class ScoreRows implements MapPartitionsFunction<Row, Row> {

  private static final long serialVersionUID = 1;

  @Override
  public Iterator<Row> call(Iterator<Row> rows) {
    Model model = NereidPlugin.nereid().model(Digits.NAME);
    return new Iterator<>() {
      private Iterator<Row> scored = Collections.emptyIterator();

      @Override
      public boolean hasNext() {
        if (!scored.hasNext() && rows.hasNext()) {
          scored = score(model, rows);
        }
        return scored.hasNext();
      }

      @Override
      public Row next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return scored.next();
      }
    };
  }

  private static Iterator<Row> score(Model model, Iterator<Row> rows) {
    List<Row> some = new ArrayList<>();
    while (rows.hasNext() && some.size() < Digits.maxBatch(model)) {
      some.add(rows.next());
    }
    int[] digits = new int[some.size()];
    try (InferRequest request = model.newRequest()) {
      MemorySegment to = request.allocateInput("image", some.size(), 8, 8).segment();
      long at = 0;
      for (Row row : some) {
        List<Float> pixels = row.getList(1);
        if (pixels.size() != Digits.PIXELS) {
          throw new IllegalArgumentException(
              "expected " + Digits.PIXELS + " pixels an image, got " + pixels.size());
        }
        for (float pixel : pixels) {
          to.setAtIndex(JAVA_FLOAT, at++, pixel);
        }
      }
      Digits.infer(request, digits, 0, digits.length);
    }
    List<Row> scored = new ArrayList<>(digits.length);
    for (int i = 0; i < digits.length; i++) {
      scored.add(RowFactory.create(some.get(i).getLong(0), digits[i]));
    }
    return scored.iterator();
  }
}

package io.nereid.gpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the references of GPU tests with ONNX Runtime, by way of the files that are written. */
final class GraphReferenceTest {

  @TempDir Path repository;

  static Stream<Graph> graphs() {
    return Stream.of(Graph.mlp(16, 32, 3, 5), Graph.smallConvolutions());
  }

  @ParameterizedTest
  @MethodSource("graphs")
  void agreesWithOnnxRuntime(Graph graph) throws Exception {
    agrees(graph, 1e-5, 2);
  }

  @Test
  @Tag("slow")
  void resNetKeepsItsNumbersInRange() throws Exception {
    double largest = 0;
    for (double score : agrees(Graph.resNet50(true, 224), 1e-4, 1)) {
      largest = Math.max(largest, Math.abs(score));
    }
    // FP16 ends at 65504, and what is nearly 0 would make a relative error mean nothing.
    assertTrue(largest > 0.01 && largest < 1000, "largest score " + largest);
  }

  /** Returns the reference for the last row. */
  private double[] agrees(Graph graph, double bar, int rowCount) throws Exception {
    Path directory = repository.resolve("graph");
    Files.createDirectories(directory.resolve("1"));
    Files.writeString(
        directory.resolve("config.pbtxt"), "backend: \"onnxruntime\"\nmax_batch_size: 4\n");
    GraphOnnx.write(graph, directory.resolve("1").resolve("model.onnx"));
    double[] reference = new double[0];
    try (Nereid nereid = Nereid.open(repository)) {
      double[][] rows = new double[rowCount][];
      Arrays.setAll(rows, i -> Rows.random(graph, i));
      float[] answer = Rows.infer(nereid.model("graph"), graph, rows);
      for (int i = 0; i < rowCount; i++) {
        reference = GraphReference.evaluate(graph, rows[i]);
        double error = Rows.error(answer, i, reference);
        assertTrue(error <= bar, "row " + i + ": error " + error);
        if (rowCount > 1) { // the rows differ, so one that is taken for another is seen
          assertTrue(Rows.error(answer, (i + 1) % rowCount, reference) > bar);
        }
      }
    }
    return reference;
  }

  @Test
  void errorsAreSeen() {
    assertEquals(0, Rows.error(new float[] {9, 9, 1, 2}, 1, new double[] {1, 2}));
    assertEquals(0.5, Rows.error(new float[] {1, 1}, 0, new double[] {1, 2}));
    assertEquals(
        Double.POSITIVE_INFINITY, Rows.error(new float[] {1, Float.NaN}, 0, new double[] {1, 2}));
  }
}

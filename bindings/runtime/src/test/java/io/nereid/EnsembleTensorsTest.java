package io.nereid;

import static io.nereid.EnsembleTest.chain;
import static io.nereid.EnsembleTest.ensemble;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.model.Ensemble;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tensors of an ensemble, beside those of its models. */
class EnsembleTensorsTest extends RuntimeTest {

  // ---- Shapes ----------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // the ensemble's batch size and dims | its model's | what is sent
        "0 | 4     | 8 | 4     | 4",
        "0 | -1, 4 | 8 | 4     | 3, 4",
        "0 | 2, 4  | 8 | 4     | 2, 4",
        "8 | 4     | 0 | 4     | 1, 4",
        "8 | 4     | 0 | -1, 4 | 3, 4",
        "8 | 4     | 0 | -1, 4 | 1, 4",
        "8 | -1    | 0 | -1    | 1, 4",
      })
  void anEnsembleMayBatchWhereItsModelsDoNot(
      int batch, String dims, int stepBatch, String stepDims, String sent) {
    nereid.load(identity("step", stepBatch, stepDims));
    for (Ensemble graph : List.of(chain("step"), chain("step", "step"))) {
      Model model = nereid.load(graph("e", batch, dims, graph));
      assertEquals(List.of(sent), List.of(shapeOfAnswer(model, sent)));
    }
  }

  @Test
  void modelsOfOneEnsembleMayDifferInWhetherTheyBatch() {
    nereid.load(identity("batching", 8, "4"));
    nereid.load(identity("plain", 0, "4"));
    for (int batch : new int[] {0, 8}) {
      Ensemble graph = chain("batching", "plain", "plain", "batching");
      Model model = nereid.load(graph("e", batch, "4", graph));
      String sent = batch > 0 ? "1, 4" : "4";
      assertEquals(sent, shapeOfAnswer(model, sent));
    }
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "in ensemble 'e', unexpected shape for input 'IN' for model 'plain'."
            + " Expected [4], got [2,4].",
        () -> shapeOfAnswer(nereid.model("e"), "2, 4"));
  }

  @Test
  void anEnsemblesTensorsReachItsModelsReshaped() {
    nereid.load(identity("step", 8, "4"));
    TensorSpec in = TensorSpec.of("IN", DataType.FP32, 2, 2).withReshape(4);
    TensorSpec out = TensorSpec.of("OUT", DataType.FP32, 4, 1).withReshape(4);
    for (int batch : new int[] {0, 8}) {
      Model model =
          nereid.load(
              ModelSpec.builder("e")
                  .maxBatchSize(batch)
                  .input(in)
                  .output(out)
                  .ensemble(chain("step"))
                  .build());
      String row = batch > 0 ? "1, " : "";
      assertEquals(row + "4, 1", shapeOfAnswer(model, row + "2, 2"));
    }
  }

  private static ModelSpec identity(String name, int batch, String dims) {
    return ModelSpec.builder(name)
        .backend("identity")
        .maxBatchSize(batch)
        .input("IN", DataType.FP32, numbers(dims))
        .output("OUT", DataType.FP32, numbers(dims))
        .build();
  }

  private static ModelSpec graph(String name, int batch, String dims, Ensemble graph) {
    return ModelSpec.builder(name)
        .maxBatchSize(batch)
        .input("IN", DataType.FP32, numbers(dims))
        .output("OUT", DataType.FP32, numbers(dims))
        .ensemble(graph)
        .build();
  }

  private static long[] numbers(String text) {
    return Arrays.stream(text.split(", ")).mapToLong(Long::parseLong).toArray();
  }

  /** The shape of OUT, after a look at its values. */
  private static String shapeOfAnswer(Model model, String shape) {
    float[] values = new float[(int) Arrays.stream(numbers(shape)).reduce(1, Math::multiplyExact)];
    for (int i = 0; i < values.length; i++) {
      values[i] = i;
    }
    try (var request = model.newRequest().input("IN", Tensor.ofFloats(values, numbers(shape)));
        var response = request.infer()) {
      Tensor out = response.output("OUT");
      assertArrayEquals(values, out.toFloatArray());
      return Arrays.stream(out.shape()).mapToObj(Long::toString).collect(Collectors.joining(", "));
    }
  }

  // ---- Labels ----------------------------------------------------------------------------------

  @Test
  void anOutputHasTheLabelsOfTheStepThatMakesIt() {
    TensorSpec out = TensorSpec.of("OUT", DataType.FP32, 4);
    ModelSpec step = identity("step").build();
    nereid.load(step.withOutputs(List.of(out.withLabels(List.of("a", "b")))));
    Model inner = nereid.load(ensemble("inner", chain("step")));
    Model outer = nereid.load(ensemble("outer", chain("inner", "step", "inner")));
    ModelSpec named = ensemble("named", chain("step"));
    Model own = nereid.load(named.withOutputs(List.of(out.withLabels(List.of("x")))));
    assertEquals(List.of("a", "b"), labels(inner));
    assertEquals(List.of("a", "b"), labels(outer));
    assertEquals(List.of("x"), labels(own));
    nereid.load(step.withOutputs(List.of(out.withLabels(List.of("c")))));
    assertEquals(List.of("c"), labels(outer));
  }

  private static List<String> labels(Model model) {
    return model.spec().outputs().getFirst().labels();
  }
}

package io.nereid.cli;

import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.io.PrintWriter;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.jr.ob.JSON;

/** Prints responses to one request for people, or as JSON in the protocol's form. */
final class ResponsePrinter {

  /** The most elements that are printed for people; JSON has all. */
  private static final int MAX_ELEMENTS = 64;

  private final PrintWriter out;
  private final ModelSpec model;
  private final String version;
  private final boolean json;
  private final List<Map<String, Object>> replies = new ArrayList<>();

  ResponsePrinter(PrintWriter out, ModelSpec model, String version, boolean json) {
    this.out = out;
    this.model = model;
    this.version = version;
    this.json = json;
  }

  /** Prints the only response to a request. */
  void printOnly(Map<String, Tensor> outputs) throws IOException {
    if (json) {
      out.println(JSON.std.asString(reply(outputs)));
    } else {
      printOutputs(outputs);
    }
  }

  /** Prints one of any number of responses, for people at once; end is called after the last. */
  void printNext(Map<String, Tensor> outputs) {
    if (json) {
      replies.add(reply(outputs));
    } else {
      printOutputs(outputs);
    }
  }

  void end() throws IOException {
    if (json) {
      out.println(JSON.std.asString(replies));
    }
  }

  private List<TensorSpec> specs(Map<String, Tensor> outputs) {
    return model.outputs().stream().filter(spec -> outputs.containsKey(spec.name())).toList();
  }

  private void printOutputs(Map<String, Tensor> outputs) {
    specs(outputs).forEach(spec -> printTensor(spec, outputs.get(spec.name())));
  }

  private Map<String, Object> reply(Map<String, Tensor> outputs) {
    Map<String, Object> reply = new LinkedHashMap<>();
    reply.put("model_name", model.name());
    reply.put("model_version", version);
    reply.put(
        "outputs",
        specs(outputs).stream().map(spec -> describe(spec, outputs.get(spec.name()))).toList());
    return reply;
  }

  private static Map<String, Object> describe(TensorSpec spec, Tensor tensor) {
    Map<String, Object> output = new LinkedHashMap<>();
    output.put("name", spec.name());
    output.put("datatype", spec.dataType().toString());
    output.put("shape", tensor.shape());
    output.put("data", elements(tensor, Long.MAX_VALUE));
    return output;
  }

  private void printTensor(TensorSpec spec, Tensor tensor) {
    StringBuilder line = new StringBuilder(spec.name()).append(' ').append(spec.dataType());
    line.append(Arrays.toString(tensor.shape()).replace(" ", "")).append(':');
    elements(tensor, MAX_ELEMENTS)
        .forEach(element -> line.append(' ').append(Texts.printable(element.toString())));
    if (tensor.elementCount() > MAX_ELEMENTS) {
      line.append(" ... (").append(tensor.elementCount() - MAX_ELEMENTS).append(" more)");
    }
    out.println(line);
    if (!spec.labels().isEmpty() && spec.dataType().isFixedSize()) {
      printLabels(spec, tensor);
    }
  }

  /** Prints the best class of each row. */
  private void printLabels(TensorSpec spec, Tensor tensor) {
    int rank = tensor.rank();
    long classes = rank == 0 ? 1 : tensor.dim(rank - 1);
    for (long start = 0; classes > 0 && start < tensor.elementCount(); start += classes) {
      int best = 0;
      for (int i = 1; i < classes; i++) {
        if (score(tensor, start + i) > score(tensor, start + best)) {
          best = i;
        }
      }
      String label = best < spec.labels().size() ? spec.labels().get(best) : "class " + best;
      out.println(
          "  top label: " + Texts.printable(label) + " (" + score(tensor, start + best) + ")");
    }
  }

  private static double score(Tensor tensor, long index) {
    return switch (tensor.dataType()) {
      case FP16, BF16, FP32, FP64 -> tensor.doubleAt(index);
      default -> tensor.longAt(index);
    };
  }

  /** The first elements, in the form for JSON and for people. */
  private static List<Object> elements(Tensor tensor, long most) {
    long count = Math.min(most, tensor.elementCount());
    if (tensor.dataType() == DataType.BYTES) {
      return List.of((Object[]) tensor.toStringArray()).subList(0, (int) count);
    }
    List<Object> elements = new ArrayList<>();
    for (long i = 0; i < count; i++) {
      elements.add(
          switch (tensor.dataType()) {
            case BOOL -> tensor.booleanAt(i);
            case FP16, BF16, FP32 -> tensor.floatAt(i);
            case FP64 -> tensor.doubleAt(i);
            case UINT64 -> new BigInteger(Long.toUnsignedString(tensor.longAt(i)));
            default -> tensor.longAt(i);
          });
    }
    return elements;
  }
}

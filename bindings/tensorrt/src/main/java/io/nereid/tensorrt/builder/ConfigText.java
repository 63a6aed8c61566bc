package io.nereid.tensorrt.builder;

import io.nereid.model.ModelSignature;
import io.nereid.model.TensorSpec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/** Writes the config.pbtxt of a plan. */
public final class ConfigText {

  private ConfigText() {}

  /**
   * A configuration that serves the plan as it is, with dynamic batching if it has a batch
   * dimension.
   *
   * @param signature with all dimensions, as in {@link BuiltEngine#signature}
   */
  public static String of(String name, ModelSignature signature) {
    StringBuilder text = new StringBuilder("name: " + quoted(name) + "\n");
    text.append("platform: \"tensorrt_plan\"\n");
    text.append("max_batch_size: " + signature.maxBatchSize() + "\n");
    boolean batched = signature.maxBatchSize() > 0;
    signature.inputs().forEach(input -> tensor(text, "input", input, batched));
    signature.outputs().forEach(output -> tensor(text, "output", output, batched));
    if (signature.maxBatchSize() > 1) {
      text.append("dynamic_batching { }\n");
    }
    return text.toString();
  }

  private static void tensor(StringBuilder text, String field, TensorSpec spec, boolean batched) {
    List<Long> all = spec.dims();
    List<Long> dims = batched ? all.subList(1, all.size()) : all;
    text.append(field).append(" {\n");
    text.append("  name: ").append(quoted(spec.name())).append('\n');
    text.append("  data_type: TYPE_").append(spec.dataType()).append('\n');
    // A batch of scalars has only the batch dimension, but the file must have another.
    boolean scalar = dims.isEmpty();
    String listed =
        scalar ? "1" : dims.stream().map(String::valueOf).collect(Collectors.joining(", "));
    text.append("  dims: [ ").append(listed).append(" ]\n");
    if (scalar) {
      text.append("  reshape { shape: [ ] }\n");
    }
    text.append("}\n");
  }

  /** A string in protobuf's text format: bytes that are not plain become octal escapes. */
  private static String quoted(String value) {
    StringBuilder text = new StringBuilder("\"");
    for (byte one : value.getBytes(StandardCharsets.UTF_8)) {
      if (one == '"' || one == '\\') {
        text.append('\\').append((char) one);
      } else if (one >= ' ' && one < 127) {
        text.append((char) one);
      } else {
        text.append(String.format("\\%03o", one & 0xff));
      }
    }
    return text.append('"').toString();
  }
}

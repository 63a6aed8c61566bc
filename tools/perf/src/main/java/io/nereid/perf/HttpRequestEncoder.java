package io.nereid.perf;

import io.nereid.perf.InputData.Step;
import io.nereid.perf.InputData.Tensor;
import io.nereid.perf.RequestPlan.TensorForm;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/** Encodes requests for HTTP/1.1, each once: head, JSON and tensors. */
final class HttpRequestEncoder {

  /** The size up to which copying into one buffer costs less than a second buffer. */
  private static final int MOST_MERGED_BYTES = 16 << 10;

  private static final String REQUEST_ID = "{\"id\":\"";
  private static final String ID = "\"sequence_id\":";
  private static final String START = "\"sequence_start\":";
  private static final String END = "\"sequence_end\":";

  private final RequestPlan plan;

  private HttpRequestEncoder(RequestPlan plan) {
    this.plan = plan;
  }

  static Encoded encode(
      RequestPlan plan,
      Step step,
      List<SharedArea.Place> inputs,
      Map<String, SharedArea.Place> outputs) {
    return new HttpRequestEncoder(plan).encode(step, inputs, outputs);
  }

  private Encoded encode(
      Step step, List<SharedArea.Place> inputs, Map<String, SharedArea.Place> outputs) {
    String begin = plan.requestIds() ? REQUEST_ID + "0".repeat(Encoded.ID_DIGITS) + "\"," : "{";
    if (!plan.id().isEmpty()) {
      begin = "{\"id\":" + quoted(plan.id()) + ",";
    }
    String json =
        begin + "\"inputs\":[" + inputs(step, inputs) + "]" + outputs(outputs) + parameters() + "}";
    ByteArrayOutputStream tensors = new ByteArrayOutputStream();
    if (plan.inputForm() == TensorForm.BINARY) {
      step.inputs().forEach(input -> tensors.writeBytes(input.bytes()));
    }
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    byte[] lines = lines(body.length, tensors.size()).getBytes(StandardCharsets.ISO_8859_1);
    Encoded.Marks marks = marks(json, lines.length);
    byte[] head = concat(lines, body);
    byte[] tail = tensors.toByteArray();
    if (tail.length <= MOST_MERGED_BYTES) {
      head = concat(head, tail);
      tail = new byte[0];
    }
    return new Encoded(head, tail, plan.rows(step), marks);
  }

  /** Writes the request line and the header fields. */
  private String lines(int jsonBytes, int tensorBytes) {
    Target target = plan.target();
    StringBuilder lines = new StringBuilder();
    lines.append("POST ").append(target.modelPath()).append("/infer HTTP/1.1\r\n");
    if (!target.headers().containsKey("host")) {
      lines.append("Host: ").append(target.authority()).append("\r\n");
    }
    target
        .headers()
        .forEach((name, value) -> lines.append(name).append(": ").append(value).append("\r\n"));
    if (plan.inputForm() == TensorForm.BINARY) {
      lines.append("Content-Type: application/octet-stream\r\n");
      lines.append("Inference-Header-Content-Length: ").append(jsonBytes).append("\r\n");
    } else {
      lines.append("Content-Type: application/json\r\n");
    }
    return lines
        .append("Content-Length: ")
        .append(jsonBytes + tensorBytes)
        .append("\r\n\r\n")
        .toString();
  }

  private String inputs(Step step, List<SharedArea.Place> places) {
    StringJoiner all = new StringJoiner(",");
    for (int i = 0; i < step.inputs().size(); i++) {
      Tensor input = step.inputs().get(i);
      StringBuilder json = new StringBuilder();
      json.append("{\"name\":").append(quoted(input.info().name()));
      json.append(",\"datatype\":\"").append(input.info().type()).append("\",\"shape\":");
      json.append(Arrays.toString(input.shape()).replace(" ", ""));
      switch (plan.inputForm()) {
        case JSON -> {
          json.append(",\"data\":[");
          ElementCodec.json(input.info(), input.bytes(), json);
          json.append("]}");
        }
        case BINARY ->
            json.append(",\"parameters\":{\"binary_data_size\":")
                .append(input.bytes().length)
                .append("}}");
        case SHM -> json.append(",\"parameters\":").append(memory(places.get(i))).append('}');
      }
      all.add(json);
    }
    return all.toString();
  }

  private static String memory(SharedArea.Place place) {
    return "{\"shared_memory_region\":%s,\"shared_memory_offset\":%s,\"shared_memory_byte_size\":%s}"
        .formatted(quoted(place.region()), place.offset(), place.byteSize());
  }

  private static String outputs(Map<String, SharedArea.Place> places) {
    if (places.isEmpty()) {
      return "";
    }
    StringJoiner all = new StringJoiner(",", ",\"outputs\":[", "]");
    places.forEach((name, place) ->
        all.add(
            "{\"name\":%s%s}"
                .formatted(
                    quoted(name),
                    place == SharedArea.NOWHERE ? "" : ",\"parameters\":" + memory(place))));
    return all.toString();
  }

  private String parameters() {
    List<String> all = new ArrayList<>();
    if (plan.outputForm() == TensorForm.BINARY) {
      all.add("\"binary_data_output\":true");
    }
    plan.parameters()
        .forEach((name, value) ->
            all.add(quoted(name) + ":" + (value instanceof String text ? quoted(text) : value)));
    if (plan.sequences()) { // last, so that these are not confused with other parameters
      all.add(ID + "0000000000");
      all.add(START + "false");
      all.add(END + "false");
    }
    return all.isEmpty() ? "" : ",\"parameters\":{" + String.join(",", all) + "}";
  }

  private Encoded.Marks marks(String json, int before) {
    if (!plan.requestIds() && !plan.sequences()) {
      return null;
    }
    int requestId = plan.requestIds() ? before + REQUEST_ID.length() : -1;
    return plan.sequences()
        ? new Encoded.Marks(
            true,
            requestId,
            before + mark(json, ID),
            before + mark(json, START),
            before + mark(json, END))
        : new Encoded.Marks(true, requestId, -1, -1, -1);
  }

  /** In bytes. */
  private static int mark(String json, String name) {
    int at = json.lastIndexOf(name) + name.length();
    return json.substring(0, at).getBytes(StandardCharsets.UTF_8).length;
  }

  private static String quoted(String text) {
    try {
      return JSON.std.asString(text);
    } catch (JacksonException e) {
      throw new PerfException("'" + text + "' cannot be written as JSON", e);
    }
  }

  static byte[] concat(byte[] a, byte[] b) {
    byte[] all = Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, all, a.length, b.length);
    return all;
  }
}

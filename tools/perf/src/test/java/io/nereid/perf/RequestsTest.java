package io.nereid.perf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.perf.InputData.Tensor;
import io.nereid.perf.ModelInfo.TensorInfo;
import io.nereid.perf.RequestPlan.TensorForm;
import io.nereid.perf.Target.Protocol;
import io.nereid.proto.ModelInferRequest;
import io.nereid.types.DataType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.jr.ob.JSON;

/** Requests, read again by parsers that are independent of the writer. */
class RequestsTest {

  private static final Requests.Sequences LENGTHS = new Requests.Sequences(5, 0.4, 1);

  private static ModelInfo model(DataType type) {
    TensorInfo in = new TensorInfo("IN \"ä\"", type, List.of(-1L, -1L));
    TensorInfo out = new TensorInfo("OUT", type, List.of(-1L, -1L));
    return new ModelInfo(
        "m", List.of(), "", List.of(in), List.of(out), OptionalInt.of(8), false, List.of());
  }

  private static RequestPlan plan(
      Protocol protocol, DataType type, TensorForm form, boolean sequences) {
    Target target =
        new Target(protocol, "h", 1, "", Optional.empty(), Map.of("x-a", "b"), "m", "3");
    return new RequestPlan(
        target, model(type), form, form, Map.of("priority", 2L), "", true, sequences, false);
  }

  private static InputData data(DataType type) {
    InputData.Generated generated = new InputData.Generated(false, 0, 1, null, 5);
    InputShapes shapes = new InputShapes(Map.of("IN \"ä\"", List.of(3L)), 2);
    return InputData.read(
        model(type), shapes, new InputData.Options("random", Map.of(), generated, 4, 3));
  }

  /** A sender that keeps what it is given. */
  private static final class Kept extends Sender {
    private byte[] head;
    private byte[] tail;

    Kept(Requests requests) {
      super(0, new Tally(), requests.position(0));
    }

    @Override
    void load(Encoded message, byte[] bytes) {
      head = bytes.clone();
      tail = message.tail();
    }

    byte[] bytes() {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      all.writeBytes(head);
      all.writeBytes(tail);
      return all.toByteArray();
    }

    @Override
    void send() {}

    @Override
    void close() {}
  }

  private record Seen(long id, boolean start, boolean end) {}

  private static void checkSequences(List<Seen> all) {
    boolean open = false;
    long id = 0;
    int length = 0;
    List<Integer> lengths = new ArrayList<>();
    for (Seen seen : all) {
      assertEquals(!open, seen.start());
      assertTrue(open ? seen.id() == id : seen.id() != id, "numbers change with sequences");
      id = seen.id();
      length = open ? length + 1 : 1;
      open = !seen.end();
      if (seen.end()) {
        lengths.add(length);
      }
    }
    assertFalse(open);
    // The last one was cut short.
    List<Integer> whole = lengths.subList(0, lengths.size() - 1);
    assertTrue(whole.stream().allMatch(one -> one >= 3 && one <= 7), lengths.toString());
    assertTrue(whole.stream().distinct().count() > 1, lengths.toString());
  }

  @Test
  void sequencesOverGrpc() throws IOException {
    InputData data = data(DataType.FP32);
    RequestPlan plan = plan(Protocol.GRPC, DataType.FP32, TensorForm.BINARY, true);
    Requests requests = Requests.of(plan, data, null, LENGTHS);
    Kept sender = new Kept(requests);
    List<Seen> seen = new ArrayList<>();
    for (int i = 0; i < 201; i++) {
      requests.next(sender, i == 200);
      ModelInferRequest message = ModelInferRequest.parseFrom(sender.bytes());
      assertEquals("m", message.getModelName());
      assertEquals("3", message.getModelVersion());
      assertEquals(2, message.getParametersOrThrow("priority").getInt64Param());
      assertEquals(List.of(2L, 3L), message.getInputs(0).getShapeList());
      assertEquals(24, message.getRawInputContents(0).size());
      seen.add(
          new Seen(
              message.getParametersOrThrow("sequence_id").getInt64Param(),
              message.getParametersOrThrow("sequence_start").getBoolParam(),
              message.getParametersOrThrow("sequence_end").getBoolParam()));
    }
    checkSequences(seen);
    assertFalse(requests.isWithinSequence(sender));
  }

  @ParameterizedTest
  @EnumSource(
      value = DataType.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"FP16", "BF16"})
  void sequencesOverHttpAsJson(DataType type) throws IOException {
    InputData data = data(type);
    Requests requests =
        Requests.of(plan(Protocol.HTTP, type, TensorForm.JSON, true), data, null, LENGTHS);
    Kept sender = new Kept(requests);
    List<Seen> seen = new ArrayList<>();
    for (int i = 0; i < 201; i++) {
      requests.next(sender, i == 200);
      Map<String, Object> json = json(sender.bytes(), false);
      Map<?, ?> input = (Map<?, ?>) ((List<?>) json.get("inputs")).get(0);
      assertEquals("IN \"ä\"", input.get("name"));
      assertEquals(List.of(2, 3), input.get("shape"));
      Tensor sent = data.steps().get(positionOf(seen) % 3).inputs().get(0);
      List<?> values = (List<?>) input.get("data");
      assertArrayEquals(sent.bytes(), ElementCodec.bytes(sent.info(), values), "request " + i);
      Map<?, ?> parameters = (Map<?, ?>) json.get("parameters");
      assertEquals(2, parameters.get("priority"));
      seen.add(
          new Seen(
              ((Number) parameters.get("sequence_id")).longValue(),
              (Boolean) parameters.get("sequence_start"),
              (Boolean) parameters.get("sequence_end")));
    }
    checkSequences(seen);
  }

  /** Each sequence begins with the first step. */
  private static int positionOf(List<Seen> seen) {
    int position = 0;
    for (int i = seen.size() - 1; i >= 0 && !seen.get(i).end(); i--) {
      position++;
    }
    return position;
  }

  private static Map<String, Object> json(byte[] request, boolean binary) throws IOException {
    String text = new String(request, StandardCharsets.ISO_8859_1);
    int end = text.indexOf("\r\n\r\n") + 4;
    List<String> lines = Arrays.asList(text.substring(0, end).split("\r\n"));
    assertEquals("POST /v2/models/m/versions/3/infer HTTP/1.1", lines.get(0));
    assertTrue(lines.contains("x-a: b"));
    assertTrue(lines.contains("Content-Length: " + (request.length - end)), lines.toString());
    int length = request.length - end;
    String jsonLength = "Inference-Header-Content-Length: ";
    for (String line : lines) {
      if (line.startsWith(jsonLength)) {
        length = Integer.parseInt(line.substring(jsonLength.length()));
      }
    }
    assertEquals(binary, length != request.length - end);
    return JSON.std.mapFrom(new String(request, end, length, StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @EnumSource(DataType.class)
  void binaryTensorsAreBehindTheJson(DataType type) throws IOException {
    InputData data = data(type);
    Requests requests =
        Requests.of(plan(Protocol.HTTP, type, TensorForm.BINARY, false), data, null, null);
    Kept sender = new Kept(requests);
    for (int i = 0; i < 4; i++) {
      requests.next(sender, false);
      byte[] tensor = data.steps().get(i % 3).inputs().get(0).bytes();
      byte[] bytes = sender.bytes();
      assertArrayEquals(
          tensor, Arrays.copyOfRange(bytes, bytes.length - tensor.length, bytes.length));
      json(bytes, true);
      assertTrue(ElementCodec.fits(type, 6, tensor));
    }
  }

  @Test
  void theSameSeedIsTheSameData() {
    Random first = new Random(1);
    Random second = new Random(1);
    InputData.Generated generated = new InputData.Generated(false, -5, 5, null, 9);
    for (DataType type : DataType.values()) {
      TensorInfo input = new TensorInfo("a", type, List.of(4L));
      assertArrayEquals(
          generated.tensor(input, new long[] {4}, first).bytes(),
          generated.tensor(input, new long[] {4}, second).bytes());
    }
  }
}

package io.nereid.benchmarks;

import com.google.protobuf.ByteString;
import io.nereid.proto.ModelInferRequest;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Makes what clients send to the models of {@link BenchmarkModels}. */
public final class BenchmarkRequests {

  private static final String ID = "\"id\":\"";
  private static final int ID_DIGITS = 16;

  private BenchmarkRequests() {}

  /** A JSON array of some numbers, truths or strings. */
  public static byte[] array(DataType type, int elements) {
    return IntStream.range(0, elements)
        .mapToObj(i -> text(type, i))
        .collect(Collectors.joining(",", "[", "]"))
        .getBytes(StandardCharsets.US_ASCII);
  }

  private static String text(DataType type, int i) {
    return switch (type) {
      case FP32 -> Float.toString(i * 0.37f);
      case FP64 -> Double.toString(i * 0.37);
      case BOOL -> i % 2 == 0 ? "true" : "false";
      case UINT8 -> Integer.toString(i % 256);
      case BYTES -> "\"string " + i + "\"";
      default -> Integer.toString(i * 7919);
    };
  }

  /** A row of the same elements. */
  public static Tensor tensor(DataType type, int elements) {
    if (type == DataType.BYTES) {
      String[] strings =
          IntStream.range(0, elements).mapToObj(i -> "string " + i).toArray(String[]::new);
      return Tensor.ofStrings(strings, 1, elements);
    }
    ByteBuffer bytes =
        ByteBuffer.allocateDirect(elements * type.byteSize()).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < elements; i++) {
      switch (type) {
        case FP32 -> bytes.putFloat(i * 0.37f);
        case FP64 -> bytes.putDouble(i * 0.37);
        case INT64 -> bytes.putLong(i * 7919L);
        case INT32 -> bytes.putInt(i * 7919);
        case BOOL -> bytes.put((byte) (i % 2));
        default -> bytes.put((byte) i);
      }
    }
    return Tensor.of(type, MemorySegment.ofBuffer(bytes.flip()), 1, elements);
  }

  /** A request over HTTP for a row of FP32, with its answer in the same form. */
  public static byte[] http(boolean json, int elements) {
    String description =
        "{\"inputs\":[{\"name\":\"INPUT0\",\"shape\":[1," + elements + "],\"datatype\":\"FP32\",";
    String head = "POST /v2/models/any/infer HTTP/1.1\r\nHost: localhost\r\n";
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    if (json) {
      body.writeBytes((description + "\"data\":").getBytes(StandardCharsets.US_ASCII));
      body.writeBytes(array(DataType.FP32, elements));
      body.writeBytes("}]}".getBytes(StandardCharsets.US_ASCII));
    } else {
      String text =
          description
              + "\"parameters\":{\"binary_data_size\":"
              + elements * Float.BYTES
              + "}}],\"parameters\":{\"binary_data_output\":true}}";
      body.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
      body.writeBytes(new byte[elements * Float.BYTES]);
      head += "Inference-Header-Content-Length: " + text.length() + "\r\n";
    }
    head += "Content-Length: " + body.size() + "\r\n\r\n";
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
    all.writeBytes(body.toByteArray());
    return all.toByteArray();
  }

  /** The same with an id, which {@link #nextId} makes another one. */
  public static byte[] httpWithId(boolean json, int elements) {
    String plain = new String(http(json, elements), StandardCharsets.ISO_8859_1);
    String id = ID + "0".repeat(ID_DIGITS) + "\",";
    return plain
        .replaceFirst("\\{\"inputs", "{" + id + "\"inputs")
        .replaceFirst("(?m)^Content-Length: .*$", longer(plain, "Content-Length", id.length()))
        .replaceFirst(
            "(?m)^Inference-Header-Content-Length: .*$",
            longer(plain, "Inference-Header-Content-Length", id.length()))
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  private static String longer(String request, String field, int bytes) {
    Matcher line = Pattern.compile("(?m)^" + field + ": ([0-9]+)").matcher(request);
    return line.find() ? field + ": " + (Integer.parseInt(line.group(1)) + bytes) : "";
  }

  /** Where the digits of a request's id begin; -1 where it has none. */
  public static int idPosition(byte[] request) {
    int length = Math.min(request.length, 1024);
    int at = new String(request, 0, length, StandardCharsets.ISO_8859_1).indexOf(ID);
    return at < 0 ? -1 : at + ID.length();
  }

  /** Counts an id up; its digits begin at {@code position}. */
  public static void nextId(ByteBuffer request, int position) {
    for (int i = position + ID_DIGITS - 1; i >= position; i--) {
      byte digit = request.get(i);
      request.put(i, digit == '9' ? (byte) '0' : (byte) (digit + 1));
      if (digit != '9') {
        return;
      }
    }
  }

  /** The message of a request over gRPC for a row of FP32, raw. */
  public static byte[] grpc(int elements) {
    return ModelInferRequest.newBuilder()
        .setModelName("any")
        .addInputs(
            ModelInferRequest.InferInputTensor.newBuilder()
                .setName(BenchmarkModels.INPUT)
                .setDatatype("FP32")
                .addShape(1)
                .addShape(elements))
        .addRawInputContents(ByteString.copyFrom(new byte[elements * Float.BYTES]))
        .build()
        .toByteArray();
  }
}

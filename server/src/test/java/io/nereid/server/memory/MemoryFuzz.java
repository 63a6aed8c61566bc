package io.nereid.server.memory;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.proto.InferParameter;
import io.nereid.proto.ModelInferRequest;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcFixture;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.grpc.InferFixture;
import io.nereid.server.http.RawClient;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A target for fuzzing: any bytes as what clients do with shared memory, over HTTP and gRPC: they
 * register, infer with parts of regions, unregister, and make their segment shorter or longer. Each
 * step succeeds exactly when all lies inside, the segment then has what the step wrote and nothing
 * else, and in the end nobody has it open.
 */
public final class MemoryFuzz {

  private static final int MOST_BYTES = 64;
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

  private static final Set<StatusCode> REFUSALS =
      Set.of(StatusCode.INVALID_ARGUMENT, StatusCode.NOT_FOUND, StatusCode.ALREADY_EXISTS);

  private static final Set<Integer> REFUSED = Set.of(400, 404, 409);

  private static MemoryFuzz instance;

  /** A place in the segment or in a region. */
  private record Part(long offset, long byteSize) {
    boolean isIn(long length) {
      return offset >= 0 && byteSize >= 0 && offset <= length && byteSize <= length - offset;
    }

    String parameters(String region) {
      return """
      "parameters":{"shared_memory_region":"%s","shared_memory_offset":%d,\
      "shared_memory_byte_size":%d}\
      """
          .formatted(region, offset, byteSize);
    }

    Map<String, InferParameter> protobuf(String region) {
      return Map.of(
          "shared_memory_region",
          InferFixture.parameter(region),
          "shared_memory_offset",
          InferFixture.parameter(offset),
          "shared_memory_byte_size",
          InferFixture.parameter(byteSize));
    }
  }

  private final Segment segment = new Segment(MOST_BYTES);
  private final NereidServer server;
  private final List<InferenceClient> clients;
  private final RawClient http;
  private final ManagedChannel grpc;
  private final Map<String, Part> regions = new HashMap<>();

  /** The bytes that the segment should have. */
  private byte[] expected;

  private MemoryFuzz() throws IOException {
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withRepository(RepositoryOptions.builder().explicit().build())
                .withGrpc(GrpcOptions.DEFAULT)
                .withAllowClientShm(true));
    ModelSpec.Builder model = ModelSpec.builder("m").backend("identity");
    model.input("IN", DataType.UINT8, -1).output("OUT", DataType.UINT8, -1);
    server.nereid().load(model.build());
    clients =
        List.of(
            InferenceClient.connect("http://localhost:" + server.httpPort()),
            InferenceClient.connect("grpc://localhost:" + server.grpcPort().orElseThrow()));
    http = new RawClient(server.httpPort());
    grpc = GrpcFixture.channel(server.grpcPort().orElseThrow());
  }

  /** Jazzer calls it. */
  public static synchronized void fuzzerTestOneInput(byte[] bytes) throws IOException {
    if (instance == null) {
      instance = new MemoryFuzz();
    }
    instance.run(ByteBuffer.wrap(bytes));
  }

  private void run(ByteBuffer script) throws IOException {
    segment.resize(0);
    segment.resize(MOST_BYTES);
    expected = new byte[MOST_BYTES];
    while (script.hasRemaining()) {
      int step = script.get();
      InferenceClient client = clients.get(step & 1);
      String name = name(step);
      switch (step >> 2 & 7) {
        case 0 -> {
          client.unregisterSharedMemory(name);
          regions.remove(name);
        }
        case 1 -> {
          expected = Arrays.copyOf(expected, next(script) & (MOST_BYTES - 1));
          segment.resize(expected.length);
        }
        case 2, 3 -> register(client, name, part(script));
        case 4 -> {
          int at = next(script) & (MOST_BYTES - 1);
          if (at < expected.length) {
            expected[at] = next(script);
            segment.write(at, new byte[] {expected[at]});
          }
        }
        default -> infer(client, name, part(script), name(next(script)), part(script));
      }
      check(Arrays.equals(expected, segment.read(0, (int) segment.byteSize())), "other bytes");
    }
    clients.getFirst().unregisterAllSharedMemory();
    regions.clear();
    check(segment.openCount() == 0, "the segment is still open");
    long startNs = System.nanoTime(); // a refusal comes before its buffers are back
    while (server.nereid().poolStatistics().liveBuffers() > 0) {
      check(System.nanoTime() - startNs < PATIENCE_NS, "buffers are still in use");
      Thread.onSpinWait();
    }
  }

  private static String name(int step) {
    return (step & 2) == 0 ? "a" : "b";
  }

  private static byte next(ByteBuffer script) {
    return script.hasRemaining() ? script.get() : 0;
  }

  /** Small ones, those just below the largest, or any. */
  private static long number(ByteBuffer script) {
    byte first = next(script);
    if (first == Byte.MAX_VALUE && script.remaining() >= Long.BYTES) {
      return script.getLong();
    }
    return first >= 0 ? first : Long.MAX_VALUE + 1 + first;
  }

  private static Part part(ByteBuffer script) {
    return new Part(number(script), number(script));
  }

  private void register(InferenceClient client, String name, Part part) {
    boolean done =
        isDone(
            () -> client.registerSharedMemory(name, segment.key(), part.offset(), part.byteSize()));
    boolean right = part.isIn(expected.length) && part.byteSize() > 0 && !regions.containsKey(name);
    check(done == right, name + part + " was registered: " + done);
    if (done) {
      regions.put(name, part);
    }
  }

  private void infer(InferenceClient client, String from, Part input, String to, Part output)
      throws IOException {
    boolean done =
        client == clients.getFirst()
            ? inferOverHttp(from, input, to, output)
            : inferOverGrpc(from, input, to, output);
    Part source = place(from, input, input.byteSize());
    Part target = place(to, output, input.byteSize());
    boolean right = source != null && target != null && input.byteSize() <= output.byteSize();
    check(done == right, from + input + " went to " + to + output + ": " + done);
    if (done && input.byteSize() > 0) {
      System.arraycopy(
          expected, (int) source.offset(), expected, (int) target.offset(), (int) input.byteSize());
    }
  }

  // The client refuses negative numbers, so that these requests are made without it.

  private boolean inferOverHttp(String from, Part input, String to, Part output)
      throws IOException {
    String tensor = "\"name\":\"IN\",\"datatype\":\"UINT8\",\"shape\":[" + count(input) + "]";
    String body =
        "{\"inputs\":[{%s,%s}],\"outputs\":[{\"name\":\"OUT\",%s}]}"
            .formatted(tensor, input.parameters(from), output.parameters(to));
    RawClient.Response response = http.post("/v2/models/m/infer", body);
    if (response.status() != 200 && !REFUSED.contains(response.status())) {
      throw new AssertionError(response.status() + " " + response.text());
    }
    return response.status() == 200;
  }

  private boolean inferOverGrpc(String from, Part input, String to, Part output) {
    ModelInferRequest.Builder request = ModelInferRequest.newBuilder().setModelName("m");
    request
        .addInputsBuilder()
        .setName("IN")
        .setDatatype("UINT8")
        .addShape(count(input))
        .putAllParameters(input.protobuf(from));
    request.addOutputsBuilder().setName("OUT").putAllParameters(output.protobuf(to));
    try {
      ClientCalls.blockingUnaryCall(grpc, InferFixture.INFER, CallOptions.DEFAULT, request.build());
      return true;
    } catch (StatusRuntimeException e) {
      if (!REFUSALS.contains(StatusCode.valueOf(e.getStatus().getCode().name()))) {
        throw e;
      }
      return false;
    }
  }

  /** The elements of an input, for a shape that is right. */
  private static long count(Part input) {
    return Math.max(0, input.byteSize());
  }

  /** So many bytes from where a part of a region lies in the segment; null: it has fewer. */
  private Part place(String name, Part part, long count) {
    Part region = regions.get(name);
    if (region == null || !part.isIn(region.byteSize())) {
      return null;
    }
    Part place = new Part(region.offset() + part.offset(), count);
    return count == 0 || place.isIn(expected.length) ? place : null; // no bytes are nowhere
  }

  /** False: the server refused it, and not because it failed itself. */
  private boolean isDone(Runnable call) {
    try {
      call.run();
      return true;
    } catch (InferenceException e) {
      if (!REFUSALS.contains(e.code())) {
        throw e;
      }
      return false;
    }
  }

  private void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise + "; regions of " + expected.length + ": " + regions);
    }
  }
}

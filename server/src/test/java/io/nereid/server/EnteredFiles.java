package io.nereid.server;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.lite.ProtoLiteUtils;
import io.grpc.stub.ClientCalls;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferRequest.InferInputTensor;
import io.nereid.proto.ModelInferResponse;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;

/**
 * The source files that are really entered while requests are served or models loaded, counted by
 * Flight Recorder's timing of methods. A file counts when at least every second request enters one
 * of its methods; the client of the test and its packages do not count. The program runs in {@code
 * server/}; nothing else may run in its process.
 */
public final class EnteredFiles {

  private static final int REQUESTS = 4000;
  private static final int LOADS = 100;
  private static final Path MODELS = Path.of("..", "examples", "models");

  /** The sources that serve: the runtime and the server, and what both say. */
  private static final List<Path> SOURCES =
      List.of(
          Path.of("src/main/java"),
          Path.of("../bindings/runtime/src/main/java"),
          Path.of("../bindings/types/src/main/java"));

  private static final byte[] ELEMENTS = new byte[64];

  private EnteredFiles() {}

  /** Prints the files of each way, one a line. */
  public static void main(String[] args) throws Exception {
    measure()
        .forEach((way, files) -> {
          System.out.println("files entered: " + way + " = " + files.size());
          files.forEach(file -> System.out.println("  " + file));
        });
  }

  /** The classes that each way enters, by its name: HTTP, gRPC, embedded and load. */
  static Map<String, Set<String>> measure() throws Exception {
    Map<String, Set<String>> entered = new LinkedHashMap<>();
    ServerOptions options =
        ServerOptions.DEFAULT
            .withRepository(
                RepositoryOptions.builder().repository(MODELS).explicit("identity_fp32").build())
            .withHttp(HttpOptions.DEFAULT)
            .withGrpc(GrpcOptions.DEFAULT);
    try (NereidServer server = NereidServer.start(options)) {
      try (HttpClient client = HttpClient.newHttpClient()) {
        HttpRequest request = httpRequest(server.httpPort());
        entered.put(
            "HTTP", recorded(REQUESTS, () -> client.send(request, BodyHandlers.discarding())));
      }
      entered.put("gRPC", grpc(server.grpcPort().orElseThrow()));
      Nereid nereid = server.nereid();
      Model model = nereid.model("identity_fp32");
      entered.put("embedded", recorded(REQUESTS, () -> infer(model)));
      entered.put(
          "load",
          recorded(
              LOADS,
              () -> {
                nereid.repository().load("simple");
                nereid.repository().unload("simple");
              }));
    }
    return entered;
  }

  private static HttpRequest httpRequest(int port) {
    String head =
        "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":[1,16],"
            + "\"parameters\":{\"binary_data_size\":64}}],"
            + "\"parameters\":{\"binary_data_output\":true}}";
    byte[] json = head.getBytes(StandardCharsets.US_ASCII);
    return HttpRequest.newBuilder(
            URI.create("http://127.0.0.1:" + port + "/v2/models/identity_fp32/infer"))
        .version(HttpClient.Version.HTTP_1_1)
        .header("Inference-Header-Content-Length", Integer.toString(json.length))
        .POST(BodyPublishers.ofByteArrays(List.of(json, ELEMENTS)))
        .build();
  }

  private static Set<String> grpc(int port) throws Exception {
    MethodDescriptor<ModelInferRequest, ModelInferResponse> method =
        MethodDescriptor.<ModelInferRequest, ModelInferResponse>newBuilder()
            .setType(MethodType.UNARY)
            .setFullMethodName("inference.GRPCInferenceService/ModelInfer")
            .setRequestMarshaller(ProtoLiteUtils.marshaller(ModelInferRequest.getDefaultInstance()))
            .setResponseMarshaller(
                ProtoLiteUtils.marshaller(ModelInferResponse.getDefaultInstance()))
            .build();
    ModelInferRequest request =
        ModelInferRequest.newBuilder()
            .setModelName("identity_fp32")
            .addInputs(
                InferInputTensor.newBuilder()
                    .setName("INPUT0")
                    .setDatatype("FP32")
                    .addShape(1)
                    .addShape(16))
            .addRawInputContents(ByteString.copyFrom(ELEMENTS))
            .build();
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    try {
      return recorded(
          REQUESTS,
          () -> ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, request));
    } finally {
      channel.shutdownNow();
    }
  }

  private static void infer(Model model) {
    try (var request = model.newRequest().input("INPUT0", Tensor.ofFloats(new float[16], 1, 16));
        InferResponse response = request.infer()) {
      response.output("OUTPUT0");
    }
  }

  /**
   * Does the action some times to warm up, and gives the files that most of the counted ones enter.
   */
  private static Set<String> recorded(int times, Action action) throws Exception {
    for (int i = 0; i < times / 4; i++) {
      action.run();
    }
    Path file = Files.createTempFile("entered", ".jfr");
    try (Recording recording = new Recording()) {
      recording.enable("jdk.MethodTiming").with("filter", filter()).with("period", "endChunk");
      recording.start();
      for (int i = 0; i < times; i++) {
        action.run();
      }
      recording.stop();
      recording.dump(file);
      return entered(file, times / 2);
    } finally {
      Files.delete(file);
    }
  }

  private static Set<String> entered(Path file, long least) throws IOException {
    Set<String> entered = new TreeSet<>();
    for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
      if (event.getEventType().getName().equals("jdk.MethodTiming")
          && event.getLong("invocations") >= least) {
        RecordedMethod method = event.getValue("method");
        entered.add(method.getType().getName().replaceAll("\\$.*", ""));
      }
    }
    return entered;
  }

  /** All classes of the sources, nested ones with them. */
  private static String filter() throws Exception {
    Set<String> classes = new TreeSet<>();
    for (Path source : SOURCES) {
      try (Stream<Path> files = Files.walk(source)) {
        for (Path file : files.filter(EnteredFiles::isClass).toList()) {
          String name = source.relativize(file).toString().replace(".java", "").replace('/', '.');
          add(Class.forName(name, false, EnteredFiles.class.getClassLoader()), classes);
        }
      }
    }
    return String.join(";", classes);
  }

  private static boolean isClass(Path file) {
    String name = file.toString();
    return name.endsWith(".java") && !name.endsWith("-info.java");
  }

  private static void add(Class<?> type, Set<String> classes) {
    classes.add(type.getName());
    for (Class<?> nested : type.getDeclaredClasses()) {
      add(nested, classes);
    }
  }

  @FunctionalInterface
  private interface Action {
    void run() throws Exception;
  }
}

package io.nereid.cli;

import static io.nereid.cli.FailureKind.grpc;
import static io.nereid.cli.FailureKind.http;
import static io.nereid.cli.FailureKind.infer;
import static io.nereid.cli.FailureKind.load;
import static io.nereid.server.http.TestServer.await;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import io.nereid.model.WarmUp;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferRequest.InferInputTensor;
import io.nereid.server.grpc.GrpcFrames;
import io.nereid.server.http.FrameClient;
import io.nereid.server.http.RawClient;
import io.nereid.server.memory.Segment;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Failures of requests, and of models that should have answered them. */
final class RequestFailures {

  private static final String ONE =
      "{'inputs':[{'name':'IN','datatype':'FP32','shape':[1,1],'data':[1]}]}";
  static final String INFER = "/v2/models/{model}/infer";

  static final List<FailureKind> ALL =
      List.of(
          infer("wrong datatype", 400, "good", ONE.replace("FP32", "INT8")),
          infer("wrong shape", 400, "good", ONE.replace("[1,1]", "[1]")),
          infer("too few values", 400, "good", ONE.replace("[1,1]", "[2,1]")),
          infer("unknown input", 400, "good", ONE.replace("'IN'", "'X'")),
          infer("missing input", 400, "good", "{'inputs':[]}"),
          infer("unknown output", 400, "good", ONE.replace("}]}", "}],'outputs':[{'name':'X'}]}")),
          infer("bad JSON", 400, "good", "{"),
          infer("unknown model", 404, "none", ONE),
          infer("unknown version", 404, "good/versions/9", ONE),
          http(
              "model unloaded",
              404,
              INFER,
              server -> {
                server.write("spare", FailingServer.GOOD);
                server.post(200, "/v2/repository/models/spare/load", "");
                server.post(200, "/v2/repository/models/spare/unload", "");
                server.infer(404, "spare", ONE);
              }),
          http("unknown path", 404, "unknown", server -> server.get(404, "/nowhere", "")),
          http("wrong method", 405, INFER, server -> server.get(405, "/v2/models/good/infer", "")),
          http("no request line", 400, "-", server -> answers(server, "HELLO\r\n\r\n", 400)),
          http(
              "head too long",
              431,
              "-",
              server -> answers(server, "GET /" + "x".repeat(20_000) + " HTTP/1.1\r\n\r\n", 431)),
          http(
              "body too large",
              413,
              INFER,
              server ->
                  answers(
                      server,
                      "POST /v2/models/good/infer HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999\r\n\r\n",
                      413)),
          http(
              "body that ends early",
              499,
              INFER,
              server -> {
                try (RawClient client = server.http()) {
                  client.send(
                      "POST /v2/models/good/infer HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n{");
                }
              }),
          http(
              "body that is not compressed as it says",
              400,
              INFER,
              server ->
                  server.post(
                      400, "/v2/models/good/infer", "Content-Encoding: gzip\r\n", "no gzip")),
          http(
              "page of another site",
              403,
              "/v2/repository/models/{model}/load",
              server ->
                  server.post(
                      403,
                      "/v2/repository/models/good/load",
                      "Origin: https://evil.example\r\n",
                      "{}")),
          infer("unknown shared memory", 404, "good", shared("none", 4)),
          http(
              "shared memory out of bounds",
              400,
              INFER,
              server -> {
                try (Segment segment = new Segment(2)) {
                  server.post(
                      200,
                      "/v2/systemsharedmemory/region/r/register",
                      "{'key':'" + segment.key() + "','offset':0,'byte_size':2}");
                  server.infer(400, "good", shared("r", 4));
                }
              }),
          new FailureKind(
              "no memory for tensors",
              RequestFailures::sendMuch,
              "nereid_pool_failures_total",
              "no memory for a tensor"),
          infer("back end that throws", 500, "throws", ONE),
          infer("step of an ensemble that fails", 500, "chain", ONE),
          infer("sequence without a start", 400, "sequences", sequence("7")),
          new FailureKind(
              "sequence that went silent",
              server -> server.infer(200, "sequences", sequence("8,'sequence_start':true")),
              "nereid_sequences_idle_ended_total{model=sequences}",
              "sequence without requests"),
          new FailureKind(
              "process of a model that is killed",
              RequestFailures::killProcess,
              "nereid_isolation_restarts_total{model=isolated}",
              "process of a model lost"),
          new FailureKind(
              "full queue",
              RequestFailures::fillQueue,
              "nv_inference_request_failure{model=gate;reason=REJECTED}",
              "HTTP 503"),
          new FailureKind(
              "client that leaves",
              RequestFailures::leave,
              "nv_inference_request_failure{model=gate;reason=CANCELED}",
              "HTTP 499"),
          new FailureKind(
              "time in the queue that is up",
              RequestFailures::waitInVain,
              "nv_inference_request_failure{model=gate;reason=REJECTED}",
              "HTTP 503"),
          new FailureKind(
              "objective that cannot be kept",
              server -> await(() -> isRefused(server, "late"), "nothing was refused"),
              "nereid_objective_refused_total{model=late}",
              "HTTP 503"),
          load(
              "broken model file",
              "corrupt",
              "INVALID_ARGUMENT",
              server -> {
                Path version = server.write("corrupt", "backend: \"onnxruntime\"");
                Files.writeString(version.resolve("model.onnx"), "no model");
                server.post(400, "/v2/repository/models/corrupt/load", "");
              }),
          load(
              "bad configuration",
              "bad",
              "INVALID_ARGUMENT",
              server -> {
                server.write("bad", "max_bach_size: 3");
                server.post(400, "/v2/repository/models/bad/load", "");
              }),
          load(
              "reload that fails",
              "good",
              "INVALID_ARGUMENT",
              server -> {
                server.write("good", "max_bach_size: 3");
                server.post(400, "/v2/repository/models/good/load", "");
                server.infer(200, "good", ONE);
              }),
          load(
              "warm-up that fails",
              "cold",
              "INTERNAL",
              server ->
                  assertThrows(
                      NereidException.class,
                      () ->
                          server
                              .server
                              .nereid()
                              .load(
                                  FailingServer.model("cold")
                                      .backend(context ->
                                          batch -> {
                                            throw new IllegalStateException("it is cold");
                                          })
                                      .warmUp(
                                          new WarmUp(
                                              "cold",
                                              1,
                                              1,
                                              Map.of(
                                                  "IN",
                                                  new WarmUp.Input(
                                                      DataType.FP32,
                                                      List.of(1L),
                                                      new WarmUp.Zero()))))
                                      .build()))),
          grpc(
              "wrong datatype by gRPC", "INVALID_ARGUMENT", server -> call(server, "good", "INT8")),
          grpc("unknown model by gRPC", "NOT_FOUND", server -> call(server, "none", "FP32")),
          grpc(
              "back end that throws by gRPC", "INTERNAL", server -> call(server, "throws", "FP32")),
          grpc(
              "unknown method",
              "UNIMPLEMENTED",
              server -> server.call(GrpcFrames.path("Nothing"), new byte[0])),
          grpc(
              "message that is no protobuf",
              "INVALID_ARGUMENT",
              server -> server.call(GrpcFrames.path("ModelInfer"), new byte[] {10, 99})),
          grpc(
              "message too large",
              "RESOURCE_EXHAUSTED",
              server -> server.call(GrpcFrames.path("ModelInfer"), new byte[200_000])),
          grpc("deadline that passes", "DEADLINE_EXCEEDED", RequestFailures::beLate),
          grpc("call that is cancelled", "CANCELLED", RequestFailures::cancel));

  private static String shared(String region, int bytes) {
    return ONE.replace(
        "'data':[1]",
        "'parameters':{'shared_memory_region':'"
            + region
            + "','shared_memory_byte_size':"
            + bytes
            + "}");
  }

  private static String sequence(String id) {
    return ONE.replace("{'inputs'", "{'parameters':{'sequence_id':" + id + "},'inputs'");
  }

  static void answers(FailingServer server, String text, int status) throws IOException {
    try (RawClient client = server.http()) {
      client.send(text).receive().expect(status);
    }
  }

  /** Sends more than the whole pool. */
  private static void sendMuch(FailingServer server) throws IOException {
    int count = 500_000;
    server.infer(
        503,
        "wide",
        ONE.replace("[1,1]", "[1," + count + "]")
            .replace("[1]", "[" + "1,".repeat(count - 1) + "1]"));
  }

  private static RawClient ask(FailingServer server, String model) throws IOException {
    byte[] body = ONE.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    return server.http().send(RawClient.request("/v2/models/" + model + "/infer", "", body));
  }

  private static void awaitPending(FailingServer server, String model, long count) {
    await(
        () -> server.server.nereid().model(model).statistics().pendingCount() == count,
        "not " + count + " wait for " + model);
  }

  private static void fillQueue(FailingServer server) throws Exception {
    try (RawClient first = ask(server, "gate")) {
      server.gate.awaitBatch();
      try (RawClient second = ask(server, "gate")) {
        awaitPending(server, "gate", 1);
        server.infer(503, "gate", ONE);
        server.gate.open(2);
        first.receive().expect(200);
        second.receive().expect(200);
      }
    }
    server.gate.close();
  }

  private static void leave(FailingServer server) throws Exception {
    try (RawClient first = ask(server, "gate")) {
      server.gate.awaitBatch();
      try (RawClient second = ask(server, "gate")) {
        awaitPending(server, "gate", 1);
        second.socket().close();
      }
      awaitPending(server, "gate", 0);
      server.gate.open(1);
      first.receive().expect(200);
    }
    server.gate.close();
  }

  private static void waitInVain(FailingServer server) throws Exception {
    try (RawClient first = ask(server, "gate")) {
      server.gate.awaitBatch();
      server.infer(503, "gate", ONE.replace("{'inputs'", "{'parameters':{'timeout':1},'inputs'"));
      server.gate.open(1);
      first.receive().expect(200);
    }
    server.gate.close();
  }

  private static boolean isRefused(FailingServer server, String model) {
    try (RawClient client = ask(server, model)) {
      return client.receive().status() == 503;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  static byte[] message(String model, String type) {
    return ModelInferRequest.newBuilder()
        .setModelName(model)
        .addInputs(
            InferInputTensor.newBuilder().setName("IN").setDatatype(type).addShape(1).addShape(1))
        .addRawInputContents(ByteString.copyFrom(new byte[4]))
        .build()
        .toByteArray();
  }

  static void call(FailingServer server, String model, String type) throws IOException {
    server.call(GrpcFrames.path("ModelInfer"), message(model, type));
  }

  private static void killProcess(FailingServer server) {
    long process =
        server.server.nereid().model("isolated").isolationStatistics().orElseThrow().process();
    ProcessHandle.of(process).orElseThrow().destroyForcibly();
  }

  private static void beLate(FailingServer server) throws Exception {
    try (RawClient first = ask(server, "gate");
        FrameClient late = server.grpc().begin()) {
      server.gate.awaitBatch();
      begin(late, "grpc-timeout", "20m");
      while (!late.reply(1).complete && late.reply(1).reset < 0) {
        late.next();
      }
      server.gate.open(1);
      first.receive().expect(200);
    }
    server.gate.close();
  }

  private static void cancel(FailingServer server) throws Exception {
    try (RawClient first = ask(server, "gate");
        FrameClient client = server.grpc().begin()) {
      server.gate.awaitBatch();
      begin(client, "x", "y");
      awaitPending(server, "gate", 1);
      client.reset(1);
      awaitPending(server, "gate", 0);
      server.gate.open(1);
      first.receive().expect(200);
    }
    server.gate.close();
  }

  /** Begins a call to the model at the gate, with one more field. */
  private static void begin(FrameClient client, String name, String value) throws IOException {
    List<String> fields = new ArrayList<>(List.of(GrpcFrames.FIELDS));
    fields.addAll(List.of(name, value));
    client.head(1, false, "POST", GrpcFrames.path("ModelInfer"), fields.toArray(String[]::new));
    client.data(1, GrpcFrames.message(message("gate", "FP32")), true);
  }

  private RequestFailures() {}
}

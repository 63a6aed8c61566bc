package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelMetadataRequest;
import io.nereid.proto.ModelMetadataResponse;
import io.nereid.proto.ModelReadyRequest;
import io.nereid.proto.ModelReadyResponse;
import io.nereid.proto.ModelStreamInferResponse;
import io.nereid.proto.ServerMetadataRequest;
import io.nereid.proto.ServerMetadataResponse;
import io.nereid.proto.TraceSettingRequest;
import io.nereid.proto.TraceSettingResponse;
import io.nereid.server.log.AccessLog;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.server.shared.ServerState;
import io.nereid.types.DataType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CallLogTest {

  private static boolean isWritten(Path file, int lines) {
    try {
      return Files.readAllLines(file).size() == lines;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void everyCallHasALine(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("access.log");
    try (LogSettings log = LogSettings.install(LogValues.DEFAULT, Optional.empty())) {
      AccessLog accessLog = AccessLog.toFile(file, log);
      Nereid nereid = Nereid.create();
      ServerState state = ServerState.builder(nereid).accessLog(Optional.of(accessLog)).build();
      try (GrpcFixture server = new GrpcFixture(nereid, state, GrpcOptions.DEFAULT)) {
        server.call(
            "ServerMetadata",
            ServerMetadataRequest.getDefaultInstance(),
            ServerMetadataResponse.getDefaultInstance());
        assertThrows(
            StatusRuntimeException.class,
            () ->
                server.call(
                    "ModelMetadata",
                    ModelMetadataRequest.newBuilder().setName("none").build(),
                    ModelMetadataResponse.getDefaultInstance()));
        InferFixture.await(() -> isWritten(file, 2), "not all calls have a line");
      }
      accessLog.close();
    }
    List<String> lines = Files.readAllLines(file);
    assertEquals(2, lines.size(), lines.toString());
    assertTrue(
        lines
            .getFirst()
            .matches(
                ".*io\\.nereid\\.access: 127\\.0\\.0\\.1:\\d+ "
                    + "\"POST /inference\\.GRPCInferenceService/ServerMetadata gRPC\" 0 "
                    + "in=0 out=[1-9]\\d* us=[1-9]\\d* .*"),
        lines.getFirst());
    assertTrue(
        lines
            .getLast()
            .contains("\"POST /inference.GRPCInferenceService/ModelMetadata gRPC\" 5 in=6 out=0 "),
        lines.getLast());
  }

  /** Each line says which model the call was for, and which version served it or was named. */
  @Test
  void linesNameTheModel(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("access.log");
    try (LogSettings log = LogSettings.install(LogValues.DEFAULT, Optional.empty())) {
      AccessLog accessLog = AccessLog.toFile(file, log);
      Nereid nereid = Nereid.create();
      for (String model : List.of("m", "other")) {
        nereid.load(
            ModelSpec.builder(model)
                .backend("identity")
                .input("IN", DataType.FP32, -1, -1)
                .output("OUT", DataType.FP32, -1, -1)
                .build());
      }
      ServerState state = ServerState.builder(nereid).accessLog(Optional.of(accessLog)).build();
      try (GrpcFixture server = new GrpcFixture(nereid, state, GrpcOptions.DEFAULT)) {
        ClientCalls.blockingUnaryCall(
            server.channel(),
            InferFixture.INFER,
            InferFixture.patient(),
            InferFixture.floats("m", 1).build());
        assertThrows(
            StatusRuntimeException.class,
            () ->
                ClientCalls.blockingUnaryCall(
                    server.channel(),
                    InferFixture.INFER,
                    InferFixture.patient(),
                    InferFixture.floats("m", 1).setModelVersion("7").build()));
        stream(server, "m", "m");
        stream(server, "m", "other");
        server.call(
            "ModelReady",
            ModelReadyRequest.newBuilder().setName("m").setVersion("1").build(),
            ModelReadyResponse.getDefaultInstance());
        server.call(
            "TraceSetting",
            TraceSettingRequest.newBuilder().setModelName("other").build(),
            TraceSettingResponse.getDefaultInstance());
        InferFixture.await(() -> isWritten(file, 6), "not all calls have a line");
      }
      accessLog.close();
    }
    assertEquals(
        List.of(
            " model=\"m\" version=1",
            " model=\"m\" version=7",
            " model=\"m\" version=1",
            "",
            " model=\"m\" version=1",
            " model=\"other\""),
        Files.readAllLines(file).stream()
            .map(line -> line.substring(line.indexOf("id=\"\"") + "id=\"\"".length()))
            .toList());
  }

  /** A stream with a request to each of these models. */
  private static void stream(GrpcFixture server, String... models) throws Exception {
    CompletableFuture<Status> end = new CompletableFuture<>();
    ClientCall<ModelInferRequest, ModelStreamInferResponse> call =
        server.channel().newCall(InferFixture.STREAM, InferFixture.patient());
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onClose(Status status, Metadata trailers) {
            end.complete(status);
          }
        },
        new Metadata());
    call.request(models.length);
    for (String model : models) {
      call.sendMessage(InferFixture.floats(model, 1).build());
    }
    call.halfClose();
    assertEquals(Status.Code.OK, end.get().getCode());
  }
}

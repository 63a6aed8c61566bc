package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.StatusRuntimeException;
import io.nereid.Nereid;
import io.nereid.proto.ModelMetadataRequest;
import io.nereid.proto.ModelMetadataResponse;
import io.nereid.proto.ServerMetadataRequest;
import io.nereid.proto.ServerMetadataResponse;
import io.nereid.server.log.AccessLog;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.server.shared.ServerState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CallLogTest {

  @Test
  void everyCallHasALine(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("access.log");
    try (LogSettings log = LogSettings.install(LogValues.DEFAULT, Optional.empty())) {
      AccessLog accessLog = AccessLog.toFile(file, log);
      Nereid nereid = Nereid.create();
      ServerState state = ServerState.builder(nereid).accessLog(Optional.of(accessLog)).build();
      try (GrpcFixture server = new GrpcFixture(nereid, state, GrpcOptions.builder().build())) {
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
}

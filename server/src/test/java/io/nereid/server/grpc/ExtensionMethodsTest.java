package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.proto.LogSettingsRequest;
import io.nereid.proto.LogSettingsResponse;
import io.nereid.proto.SystemSharedMemoryRegisterRequest;
import io.nereid.proto.SystemSharedMemoryRegisterResponse;
import io.nereid.proto.SystemSharedMemoryStatusRequest;
import io.nereid.proto.SystemSharedMemoryStatusResponse;
import io.nereid.proto.SystemSharedMemoryUnregisterRequest;
import io.nereid.proto.SystemSharedMemoryUnregisterResponse;
import io.nereid.proto.TraceSettingRequest;
import io.nereid.proto.TraceSettingResponse;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.server.memory.Segment;
import io.nereid.server.shared.ServerState;
import io.nereid.types.DataType;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Shared memory, tracing and logging. */
class ExtensionMethodsTest {

  private static GrpcFixture server(UnaryOperator<ServerState.Builder> settings) {
    Nereid nereid = Nereid.create();
    nereid.load(
        ModelSpec.builder("m")
            .backend("identity")
            .input("IN", DataType.FP32, -1)
            .output("OUT", DataType.FP32, -1)
            .build());
    return new GrpcFixture(
        nereid, settings.apply(ServerState.builder(nereid)).build(), GrpcOptions.DEFAULT);
  }

  private static void assertFails(Status.Code code, String message, Executable call) {
    StatusRuntimeException failure = assertThrows(StatusRuntimeException.class, call);
    assertEquals(code, failure.getStatus().getCode(), failure.getMessage());
    assertTrue(failure.getMessage().contains(message), failure.getMessage());
  }

  // ---- Shared memory ---------------------------------------------------------------------------

  private static SystemSharedMemoryStatusResponse regions(GrpcFixture server, String name) {
    return server.call(
        "SystemSharedMemoryStatus",
        SystemSharedMemoryStatusRequest.newBuilder().setName(name).build(),
        SystemSharedMemoryStatusResponse.getDefaultInstance());
  }

  private static void register(
      GrpcFixture server, String name, String key, long offset, long byteSize) {
    server.call(
        "SystemSharedMemoryRegister",
        SystemSharedMemoryRegisterRequest.newBuilder()
            .setName(name)
            .setKey(key)
            .setOffset(offset)
            .setByteSize(byteSize)
            .build(),
        SystemSharedMemoryRegisterResponse.getDefaultInstance());
  }

  private static void unregister(GrpcFixture server, String name) {
    server.call(
        "SystemSharedMemoryUnregister",
        SystemSharedMemoryUnregisterRequest.newBuilder().setName(name).build(),
        SystemSharedMemoryUnregisterResponse.getDefaultInstance());
  }

  @Test
  void sharedMemoryIsOffUnlessTurnedOn() {
    try (GrpcFixture server = server(state -> state)) {
      assertEquals(0, regions(server, "").getRegionsCount());
      assertEquals(0, regions(server, "r").getRegionsCount());
      assertFails(
          Status.Code.UNIMPLEMENTED,
          "Client shared memory is disabled. Start the server with '--allow-client-shm=true'",
          () -> register(server, "r", "/x", 0, 8));
      assertFails(
          Status.Code.UNIMPLEMENTED,
          "Client shared memory is disabled",
          () -> unregister(server, ""));
    }
  }

  @Test
  void regionsOfSharedMemory() throws Exception {
    try (Segment segment = new Segment(64);
        GrpcFixture server = server(state -> state.allowClientShm(true))) {
      register(server, "a", segment.key(), 0, 64);
      register(server, "b", segment.key(), 32, 16);
      assertEquals(Set.of("a", "b"), regions(server, "").getRegionsMap().keySet());
      var region = regions(server, "b").getRegionsOrThrow("b");
      assertEquals("b", region.getName());
      assertEquals(segment.key(), region.getKey());
      assertEquals(32, region.getOffset());
      assertEquals(16, region.getByteSize());
      assertFails(
          Status.Code.ALREADY_EXISTS,
          "shared memory region 'a' already in manager",
          () -> register(server, "a", segment.key(), 0, 64));
      assertFails(
          Status.Code.INVALID_ARGUMENT,
          "Invalid offset + byte size",
          () -> register(server, "c", segment.key(), 60, 8));
      assertFails(
          Status.Code.INVALID_ARGUMENT,
          "offset of 0 or more",
          () -> register(server, "c", segment.key(), -1, 8));
      assertFails(
          Status.Code.NOT_FOUND,
          "Unable to find shared memory region: 'c'",
          () -> regions(server, "c"));
      unregister(server, "a");
      unregister(server, "none");
      assertEquals(Set.of("b"), regions(server, "").getRegionsMap().keySet());
      unregister(server, "");
      assertEquals(0, regions(server, "").getRegionsCount());
    }
  }

  // ---- Tracing ---------------------------------------------------------------------------------

  private static TraceSettingResponse trace(
      GrpcFixture server, TraceSettingRequest.Builder request) {
    return server.call("TraceSetting", request.build(), TraceSettingResponse.getDefaultInstance());
  }

  private static TraceSettingRequest.SettingValue values(String... values) {
    return TraceSettingRequest.SettingValue.newBuilder().addAllValue(List.of(values)).build();
  }

  private static List<String> value(TraceSettingResponse response, String name) {
    return response.getSettingsOrThrow(name).getValueList();
  }

  @Test
  void traceSettings() {
    try (GrpcFixture server = server(state -> state)) {
      TraceSettingResponse before = trace(server, TraceSettingRequest.newBuilder());
      assertEquals(List.of("OFF"), value(before, "trace_level"));
      assertEquals(List.of("1000"), value(before, "trace_rate"));
      TraceSettingRequest.Builder change =
          TraceSettingRequest.newBuilder().setModelName("m").putSettings("trace_rate", values("7"));
      assertEquals(List.of("7"), value(trace(server, change), "trace_rate"));
      assertEquals(
          List.of("1000"), value(trace(server, TraceSettingRequest.newBuilder()), "trace_rate"));
      change.putSettings("trace_rate", values());
      assertEquals(List.of("1000"), value(trace(server, change), "trace_rate"));
      assertFails(
          Status.Code.INVALID_ARGUMENT,
          "expected one of the settings",
          () -> trace(server, TraceSettingRequest.newBuilder().putSettings("x", values("1"))));
      assertFails(
          Status.Code.UNIMPLEMENTED,
          "trace file location can not be updated",
          () ->
              trace(
                  server, TraceSettingRequest.newBuilder().putSettings("trace_file", values("f"))));
      assertFails(
          Status.Code.INVALID_ARGUMENT,
          "Request for unknown model : none",
          () -> trace(server, TraceSettingRequest.newBuilder().setModelName("none")));
    }
  }

  // ---- Logging ---------------------------------------------------------------------------------

  private static LogSettingsResponse log(GrpcFixture server, LogSettingsRequest.Builder request) {
    return server.call("LogSettings", request.build(), LogSettingsResponse.getDefaultInstance());
  }

  @Test
  void logSettings() {
    try (LogSettings log = LogSettings.install(LogValues.DEFAULT, Optional.empty());
        GrpcFixture server = server(state -> state.log(Optional.of(log)))) {
      LogSettingsResponse before = log(server, LogSettingsRequest.newBuilder());
      assertEquals(
          Set.of(
              "log_file",
              "log_info",
              "log_warning",
              "log_error",
              "log_verbose_level",
              "log_format"),
          before.getSettingsMap().keySet());
      assertTrue(before.getSettingsOrThrow("log_info").getBoolParam());
      assertEquals("default", before.getSettingsOrThrow("log_format").getStringParam());
      LogSettingsRequest.Builder change =
          LogSettingsRequest.newBuilder()
              .putSettings(
                  "log_verbose_level",
                  LogSettingsRequest.SettingValue.newBuilder().setUint32Param(1).build())
              .putSettings(
                  "log_info",
                  LogSettingsRequest.SettingValue.newBuilder().setBoolParam(false).build());
      LogSettingsResponse after = log(server, change);
      assertEquals(1, after.getSettingsOrThrow("log_verbose_level").getUint32Param());
      assertEquals(false, after.getSettingsOrThrow("log_info").getBoolParam());
      assertFails(
          Status.Code.INVALID_ARGUMENT,
          "expected a boolean as 'log_info'",
          () ->
              log(
                  server,
                  LogSettingsRequest.newBuilder()
                      .putSettings(
                          "log_info",
                          LogSettingsRequest.SettingValue.newBuilder()
                              .setStringParam("yes")
                              .build())));
      assertFails(
          Status.Code.UNIMPLEMENTED,
          "log file location can not be updated",
          () ->
              log(
                  server,
                  LogSettingsRequest.newBuilder()
                      .putSettings(
                          "log_file",
                          LogSettingsRequest.SettingValue.newBuilder()
                              .setStringParam("f")
                              .build())));
      assertFails(
          Status.Code.INVALID_ARGUMENT,
          "expected a value for 'log_error'",
          () ->
              log(
                  server,
                  LogSettingsRequest.newBuilder()
                      .putSettings(
                          "log_error", LogSettingsRequest.SettingValue.getDefaultInstance())));
    }
  }

  @Test
  void theLogMayBeSomebodyElses() {
    try (GrpcFixture server = server(state -> state)) {
      assertFails(
          Status.Code.UNIMPLEMENTED,
          "the log of this process is not the server's",
          () -> log(server, LogSettingsRequest.newBuilder()));
    }
  }
}

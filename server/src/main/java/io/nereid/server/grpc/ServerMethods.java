package io.nereid.server.grpc;

import io.nereid.proto.LogSettingsRequest;
import io.nereid.proto.LogSettingsResponse;
import io.nereid.proto.LogSettingsResponse.SettingValue;
import io.nereid.proto.ModelReadyRequest;
import io.nereid.proto.ModelReadyResponse;
import io.nereid.proto.ServerLiveRequest;
import io.nereid.proto.ServerLiveResponse;
import io.nereid.proto.ServerMetadataRequest;
import io.nereid.proto.ServerMetadataResponse;
import io.nereid.proto.ServerReadyRequest;
import io.nereid.proto.ServerReadyResponse;
import io.nereid.proto.TraceSettingRequest;
import io.nereid.proto.TraceSettingResponse;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.server.shared.ServerFacts;
import io.nereid.server.shared.ServerHealth;
import io.nereid.server.shared.ServerState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Methods for the server's name and health, and its settings for traces and the log. */
final class ServerMethods {

  private final ServerState state;
  private final ServerHealth health;

  ServerMethods(ServerState state) {
    this.state = state;
    health = state.health();
  }

  // ---- Health and metadata ---------------------------------------------------------------------

  ServerLiveResponse live(ServerLiveRequest request) {
    return ServerLiveResponse.newBuilder().setLive(health.isLive()).build();
  }

  ServerReadyResponse ready(ServerReadyRequest request) {
    return ServerReadyResponse.newBuilder().setReady(health.isReady()).build();
  }

  /** Answers whether a model is ready; a missing one is not, without an error. */
  ModelReadyResponse modelReady(ModelReadyRequest request) {
    boolean ready = health.isReady(request.getName(), ModelVersions.parse(request.getVersion()));
    return ModelReadyResponse.newBuilder().setReady(ready).build();
  }

  ServerMetadataResponse metadata(ServerMetadataRequest request) {
    return ServerMetadataResponse.newBuilder()
        .setName(state.name())
        .setVersion(ServerFacts.version())
        .addAllExtensions(ServerFacts.extensions(state))
        .build();
  }

  // ---- Settings --------------------------------------------------------------------------------

  /** Tells which requests are traced, after changing the settings that the request names. */
  TraceSettingResponse traceSetting(TraceSettingRequest request) {
    String model = request.getModelName();
    if (!model.isEmpty() && !health.isReady(model, 0)) {
      throw GrpcStatus.invalidArgument("Request for unknown model : " + model);
    }
    Map<String, List<String>> given = new LinkedHashMap<>();
    request.getSettingsMap().forEach((name, value) -> given.put(name, value.getValueList()));
    if (!given.isEmpty()) {
      state.tracing().update(model, given);
    }
    TraceSettingResponse.Builder reply = TraceSettingResponse.newBuilder();
    state
        .tracing()
        .settings(model)
        .forEach((name, values) ->
            reply.putSettings(
                name, TraceSettingResponse.SettingValue.newBuilder().addAllValue(values).build()));
    return reply.build();
  }

  /** Tells what is logged, after changing the settings that the request names. */
  LogSettingsResponse logSettings(LogSettingsRequest request) {
    LogSettings settings =
        state
            .log()
            .orElseThrow(() ->
                new NereidException(
                    StatusCode.UNIMPLEMENTED, "the log of this process is not the server's"));
    Map<String, Object> given = new LinkedHashMap<>();
    request.getSettingsMap().forEach((name, value) -> given.put(name, value(name, value)));
    if (!given.isEmpty()) {
      settings.change(given);
    }
    LogValues values = settings.values();
    return LogSettingsResponse.newBuilder()
        .putSettings("log_file", text(settings.file().map(Path::toString).orElse("")))
        .putSettings("log_info", bool(values.info()))
        .putSettings("log_warning", bool(values.warning()))
        .putSettings("log_error", bool(values.error()))
        .putSettings(
            "log_verbose_level",
            SettingValue.newBuilder().setUint32Param(values.verboseLevel()).build())
        .putSettings("log_format", text(values.format().wireName()))
        .build();
  }

  private static Object value(String name, LogSettingsRequest.SettingValue value) {
    return switch (value.getParameterChoiceCase()) {
      case BOOL_PARAM -> value.getBoolParam();
      case UINT32_PARAM -> Integer.toUnsignedLong(value.getUint32Param());
      case STRING_PARAM -> value.getStringParam();
      case PARAMETERCHOICE_NOT_SET ->
          throw GrpcStatus.invalidArgument("expected a value for '" + name + "', got none");
    };
  }

  private static SettingValue bool(boolean value) {
    return SettingValue.newBuilder().setBoolParam(value).build();
  }

  private static SettingValue text(String value) {
    return SettingValue.newBuilder().setStringParam(value).build();
  }
}

package io.nereid.server.grpc;

import io.nereid.proto.TraceSettingRequest;
import io.nereid.proto.TraceSettingResponse;
import io.nereid.proto.TraceSettingResponse.SettingValue;
import io.nereid.server.shared.ServerHealth;
import io.nereid.server.shared.ServerState;
import io.nereid.server.trace.Tracing;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The trace extension: which requests are traced. */
final class TraceMethods {

  private final ServerHealth health;
  private final Tracing tracing;

  TraceMethods(ServerState state) {
    health = state.health();
    tracing = state.tracing();
  }

  TraceSettingResponse setting(TraceSettingRequest request) {
    String model = request.getModelName();
    if (!model.isEmpty() && !health.isReady(model, 0)) {
      throw GrpcStatus.invalidArgument("Request for unknown model : " + model);
    }
    Map<String, List<String>> given = new LinkedHashMap<>();
    request.getSettingsMap().forEach((name, value) -> given.put(name, value.getValueList()));
    if (!given.isEmpty()) {
      tracing.update(model, given);
    }
    TraceSettingResponse.Builder reply = TraceSettingResponse.newBuilder();
    tracing
        .settings(model)
        .forEach((name, values) ->
            reply.putSettings(name, SettingValue.newBuilder().addAllValue(values).build()));
    return reply.build();
  }
}

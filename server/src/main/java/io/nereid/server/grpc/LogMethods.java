package io.nereid.server.grpc;

import io.nereid.proto.LogSettingsRequest;
import io.nereid.proto.LogSettingsResponse;
import io.nereid.proto.LogSettingsResponse.SettingValue;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The logging extension. */
final class LogMethods {

  private final Optional<LogSettings> log;

  LogMethods(Optional<LogSettings> log) {
    this.log = log;
  }

  /** Tells the settings, after changing those that the request names. */
  LogSettingsResponse settings(LogSettingsRequest request) {
    LogSettings settings =
        log.orElseThrow(() ->
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

package io.nereid.client;

import io.nereid.proto.LogSettingsRequest;
import io.nereid.proto.LogSettingsResponse;
import io.nereid.proto.TraceSettingRequest;
import io.nereid.proto.TraceSettingResponse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Settings of tracing and of the log as they travel. */
final class ServerSettings {

  /** The one setting that is an array in JSON, whatever it holds. */
  private static final String LEVEL = "trace_level";

  private ServerSettings() {}

  // ---- JSON ------------------------------------------------------------------------------------

  static JsonWriter traceJson(Map<String, List<String>> changes) {
    Map<String, Object> members = new LinkedHashMap<>();
    changes.forEach((name, values) ->
        members.put(
            name,
            values.isEmpty() ? null : name.equals(LEVEL) ? values : String.join(",", values)));
    return new JsonWriter().value(members);
  }

  static Map<String, List<String>> trace(HttpReply reply) {
    Map<String, List<String>> settings = new LinkedHashMap<>();
    JsonReading.members(reply)
        .forEach((name, value) -> {
          List<String> values = new ArrayList<>();
          if (value instanceof List<?> several) {
            several.forEach(one -> values.add(String.valueOf(one)));
          } else if (value != null) {
            values.add(value.toString());
          }
          settings.put(name, List.copyOf(values));
        });
    return settings;
  }

  // ---- Messages --------------------------------------------------------------------------------

  static TraceSettingRequest traceMessage(String model, Map<String, List<String>> changes) {
    TraceSettingRequest.Builder message = TraceSettingRequest.newBuilder().setModelName(model);
    changes.forEach((name, values) ->
        message.putSettings(
            name, TraceSettingRequest.SettingValue.newBuilder().addAllValue(values).build()));
    return message.build();
  }

  static Map<String, List<String>> trace(TraceSettingResponse reply) {
    Map<String, List<String>> settings = new LinkedHashMap<>();
    reply
        .getSettingsMap()
        .forEach((name, value) -> settings.put(name, List.copyOf(value.getValueList())));
    return settings;
  }

  static LogSettingsRequest logMessage(Map<String, Object> changes) {
    LogSettingsRequest.Builder message = LogSettingsRequest.newBuilder();
    changes.forEach((name, value) -> {
      LogSettingsRequest.SettingValue.Builder setting =
          LogSettingsRequest.SettingValue.newBuilder();
      switch (value) {
        case Boolean on -> setting.setBoolParam(on);
        case Integer number when number >= 0 -> setting.setUint32Param(number);
        case Long number when number >= 0 && number <= Integer.MAX_VALUE ->
            setting.setUint32Param(number.intValue());
        case String text -> setting.setStringParam(text);
        default ->
            throw new IllegalArgumentException(
                "expected a boolean, a number from 0 to 2147483647 or a string as '"
                    + name
                    + "', got "
                    + value);
      }
      message.putSettings(name, setting.build());
    });
    return message.build();
  }

  /** Numbers are Long, as they are over HTTP. */
  static Map<String, Object> log(LogSettingsResponse reply) {
    Map<String, Object> settings = new LinkedHashMap<>();
    reply
        .getSettingsMap()
        .forEach((name, value) -> {
          switch (value.getParameterChoiceCase()) {
            case BOOL_PARAM -> settings.put(name, value.getBoolParam());
            case UINT32_PARAM -> settings.put(name, Integer.toUnsignedLong(value.getUint32Param()));
            case STRING_PARAM -> settings.put(name, value.getStringParam());
            case PARAMETERCHOICE_NOT_SET -> {}
          }
        });
    return settings;
  }
}

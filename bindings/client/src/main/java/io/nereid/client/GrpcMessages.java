package io.nereid.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.MapEntry;
import com.google.protobuf.Message;
import io.nereid.proto.LogSettingsRequest;
import io.nereid.proto.LogSettingsResponse;
import io.nereid.proto.ModelConfigResponse;
import io.nereid.proto.ModelRepositoryParameter;
import io.nereid.proto.RepositoryIndexResponse;
import io.nereid.proto.RepositoryModelLoadRequest;
import io.nereid.proto.RepositoryModelUnloadRequest;
import io.nereid.proto.SystemSharedMemoryRegisterRequest;
import io.nereid.proto.SystemSharedMemoryStatusResponse;
import io.nereid.proto.TraceSettingRequest;
import io.nereid.proto.TraceSettingResponse;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Translates between protobuf messages and the client's types, for everything but inference. */
final class GrpcMessages {

  private GrpcMessages() {}

  // ---- Messages as trees ------------------------------------------------------------------------

  static List<IndexedModel> index(RepositoryIndexResponse reply) {
    return ServerReplies.index(members(reply).getOrDefault("models", List.of()));
  }

  static List<SharedMemory.Registration> sharedMemory(SystemSharedMemoryStatusResponse reply) {
    return ServerReplies.sharedMemory(
        reply.getRegionsMap().values().stream().map(GrpcMessages::members).toList());
  }

  /** The configuration in JSON, in the form of HTTP. */
  static String config(ModelConfigResponse reply) {
    JsonWriter json = new JsonWriter().value(members(reply.getConfig()));
    return new String(json.array(), 0, json.size(), StandardCharsets.UTF_8);
  }

  /** A message as a map, by the names of its fields. */
  static Map<String, Object> members(Message message) {
    Map<String, Object> members = new LinkedHashMap<>();
    message
        .getAllFields()
        .forEach((field, value) -> {
          if (field.isMapField()) {
            members.put(field.getName(), entries((List<?>) value, field));
          } else if (value instanceof List<?> elements) {
            members.put(
                field.getName(), elements.stream().map(element -> value(element, field)).toList());
          } else {
            members.put(field.getName(), value(value, field));
          }
        });
    return members;
  }

  private static Map<String, Object> entries(List<?> entries, FieldDescriptor map) {
    FieldDescriptor values = map.getMessageType().findFieldByName("value");
    Map<String, Object> members = new LinkedHashMap<>();
    for (Object entry : entries) {
      MapEntry<?, ?> member = (MapEntry<?, ?>) entry;
      members.put(member.getKey().toString(), value(member.getValue(), values));
    }
    return members;
  }

  /** Converts a value; 64-bit integers become numbers, not strings. */
  private static Object value(Object value, FieldDescriptor field) {
    if (value instanceof Message message) {
      return members(message);
    }
    if (value instanceof EnumValueDescriptor constant) {
      return constant.getName();
    }
    if (value instanceof Long number && field.getType() == FieldDescriptor.Type.UINT64) {
      return new BigInteger(Long.toUnsignedString(number));
    }
    return value instanceof ByteString bytes
        ? Base64.getEncoder().encodeToString(bytes.toByteArray())
        : value;
  }

  // ---- Requests that change something -----------------------------------------------------------

  static RepositoryModelLoadRequest load(
      String model, Optional<String> config, Map<String, byte[]> files) {
    RepositoryModelLoadRequest.Builder request =
        RepositoryModelLoadRequest.newBuilder().setModelName(model);
    config.ifPresent(text ->
        request.putParameters(
            "config", ModelRepositoryParameter.newBuilder().setStringParam(text).build()));
    files.forEach((path, content) ->
        request.putParameters(
            "file:" + path,
            ModelRepositoryParameter.newBuilder()
                .setBytesParam(ByteString.copyFrom(content))
                .build()));
    return request.build();
  }

  static RepositoryModelUnloadRequest unload(String model, boolean dependents) {
    RepositoryModelUnloadRequest.Builder request =
        RepositoryModelUnloadRequest.newBuilder().setModelName(model);
    if (dependents) {
      request.putParameters(
          "unload_dependents", ModelRepositoryParameter.newBuilder().setBoolParam(true).build());
    }
    return request.build();
  }

  static SystemSharedMemoryRegisterRequest register(SharedMemory.Registration region) {
    return SystemSharedMemoryRegisterRequest.newBuilder()
        .setName(region.name())
        .setKey(region.key())
        .setOffset(region.offset())
        .setByteSize(region.byteSize())
        .build();
  }

  // ---- Settings of tracing and of the log ------------------------------------------------------

  static TraceSettingRequest traceChanges(String model, Map<String, List<String>> changes) {
    TraceSettingRequest.Builder message = TraceSettingRequest.newBuilder().setModelName(model);
    changes.forEach((name, values) ->
        message.putSettings(
            name, TraceSettingRequest.SettingValue.newBuilder().addAllValue(values).build()));
    return message.build();
  }

  static Map<String, List<String>> traceSettings(TraceSettingResponse reply) {
    Map<String, List<String>> settings = new LinkedHashMap<>();
    reply
        .getSettingsMap()
        .forEach((name, value) -> settings.put(name, List.copyOf(value.getValueList())));
    return settings;
  }

  static LogSettingsRequest logChanges(Map<String, Object> changes) {
    LogSettingsRequest.Builder message = LogSettingsRequest.newBuilder();
    changes.forEach((name, value) -> {
      LogSettingsRequest.SettingValue.Builder setting =
          LogSettingsRequest.SettingValue.newBuilder();
      if (value instanceof Boolean on) {
        setting.setBoolParam(on);
      } else if (value instanceof String text) {
        setting.setStringParam(text);
      } else if ((value instanceof Integer || value instanceof Long)
          && ((Number) value).longValue() >= 0
          && ((Number) value).longValue() <= Integer.MAX_VALUE) {
        setting.setUint32Param(((Number) value).intValue());
      } else {
        throw new IllegalArgumentException(
            "expected a boolean, a number from 0 to 2147483647 or a string as '%s', got %s"
                .formatted(name, value));
      }
      message.putSettings(name, setting.build());
    });
    return message.build();
  }

  /** The settings; numbers are Long, as over HTTP. */
  static Map<String, Object> logSettings(LogSettingsResponse reply) {
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

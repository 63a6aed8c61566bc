package io.nereid.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.MapEntry;
import com.google.protobuf.Message;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * A message as JSON with the names of its definition, and 64-bit integers as numbers: the form in
 * which configurations are served over HTTP.
 */
final class ProtoJson {

  private ProtoJson() {}

  static void write(Message message, JsonWriter json) {
    json.raw('{');
    boolean first = true;
    for (Map.Entry<FieldDescriptor, Object> field : message.getAllFields().entrySet()) {
      if (!first) {
        json.raw(',');
      }
      first = false;
      FieldDescriptor descriptor = field.getKey();
      json.string(descriptor.getName()).raw(':');
      if (descriptor.isMapField()) {
        writeMap((List<?>) field.getValue(), descriptor, json);
      } else if (descriptor.isRepeated()) {
        writeList((List<?>) field.getValue(), descriptor, json);
      } else {
        writeValue(field.getValue(), descriptor, json);
      }
    }
    json.raw('}');
  }

  private static void writeMap(List<?> entries, FieldDescriptor map, JsonWriter json) {
    FieldDescriptor values = map.getMessageType().findFieldByName("value");
    json.raw('{');
    boolean first = true;
    for (Object entry : entries) {
      if (!first) {
        json.raw(',');
      }
      first = false;
      MapEntry<?, ?> member = (MapEntry<?, ?>) entry;
      json.string(member.getKey().toString()).raw(':');
      writeValue(member.getValue(), values, json);
    }
    json.raw('}');
  }

  private static void writeList(List<?> elements, FieldDescriptor list, JsonWriter json) {
    json.raw('[');
    boolean first = true;
    for (Object element : elements) {
      if (!first) {
        json.raw(',');
      }
      first = false;
      writeValue(element, list, json);
    }
    json.raw(']');
  }

  private static void writeValue(Object value, FieldDescriptor field, JsonWriter json) {
    switch (value) {
      case Message message -> write(message, json);
      case EnumValueDescriptor constant -> json.string(constant.getName());
      case Long number ->
          json.raw(
              field.getType() == FieldDescriptor.Type.UINT64
                  ? Long.toUnsignedString(number)
                  : number.toString());
      case String text -> json.string(text);
      case ByteString bytes -> json.string(Base64.getEncoder().encodeToString(bytes.toByteArray()));
      default -> json.raw(value.toString());
    }
  }
}

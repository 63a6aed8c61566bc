package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.TextFormat;
import io.nereid.model.ModelConfiguration;
import io.nereid.proto.ModelConfig;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random configurations, through JSON and through text, and random damage to their JSON. The seed
 * is fixed, so that a failure comes again.
 */
@Timeout(600)
class JsonConfigPropertyTest {

  private static final int MESSAGES = 200;
  private static final int DAMAGES = 6_000;

  private static final long[] INTEGERS = {
    0, 1, -1, 7, 255, Integer.MAX_VALUE, Integer.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE
  };

  private static final String[] TEXTS = {
    "",
    "a",
    "INPUT0",
    "\u00b5\u20ac",
    "\"'\\",
    "\0\n\t\u007f",
    "{ } : # //",
    "\ud83d\ude00",
    "a.b[0]"
  };

  private final Random random = new Random(20_260_401);

  // ---- Random messages -------------------------------------------------------------------------

  private ModelConfig config() {
    ModelConfig.Builder config = ModelConfig.newBuilder();
    fill(config, 0);
    return config.build();
  }

  private void fill(Message.Builder message, int depth) {
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      if (random.nextInt(depth == 0 ? 2 : 3) == 0) {
        continue;
      }
      if (field.isMapField()) {
        fillMap(message, field, depth);
      } else if (field.isRepeated()) {
        for (int i = random.nextInt(4); i > 0; i--) {
          message.addRepeatedField(field, value(message, field, depth));
        }
      } else if (field.getContainingOneof() == null || random.nextBoolean()) {
        message.setField(field, value(message, field, depth));
      }
    }
  }

  private void fillMap(Message.Builder message, FieldDescriptor field, int depth) {
    for (int i = random.nextInt(3); i > 0; i--) {
      Message.Builder entry = message.newBuilderForField(field);
      FieldDescriptor key = field.getMessageType().findFieldByNumber(1);
      FieldDescriptor value = field.getMessageType().findFieldByNumber(2);
      boolean text = key.getJavaType() == FieldDescriptor.JavaType.STRING;
      // Different ones: the same one twice would be one entry in the end.
      entry.setField(key, text ? TEXTS[i] + "x".repeat(i) : (Object) (INTEGERS[i + 5] + i));
      entry.setField(value, value(entry, value, depth));
      message.addRepeatedField(field, entry.build());
    }
  }

  private Object value(Message.Builder message, FieldDescriptor field, int depth) {
    long integer = INTEGERS[random.nextInt(INTEGERS.length)];
    return switch (field.getJavaType()) {
      case INT -> (int) integer;
      case LONG -> integer;
      case FLOAT -> random.nextInt(3) == 0 ? Float.POSITIVE_INFINITY : random.nextFloat() * 1e30f;
      case DOUBLE -> random.nextInt(3) == 0 ? Double.MIN_VALUE : random.nextGaussian() * 1e-200;
      case BOOLEAN -> random.nextBoolean();
      case STRING -> TEXTS[random.nextInt(TEXTS.length)];
      case ENUM -> constant(field.getEnumType());
      case MESSAGE -> {
        Message.Builder inner = message.newBuilderForField(field);
        fill(inner, depth + 1);
        yield inner.build();
      }
      case BYTE_STRING -> throw new AssertionError("no configuration has any: " + field);
    };
  }

  private Object constant(EnumDescriptor type) {
    return type.getValues().get(random.nextInt(type.getValues().size()));
  }

  // ---- What must hold --------------------------------------------------------------------------

  @Test
  void jsonAndTextGiveTheSameMessageBack() throws Exception {
    int largest = 0;
    for (int i = 0; i < MESSAGES; i++) {
      ModelConfig config = config();
      String json = JsonConfigWriter.write(config);
      largest = Math.max(largest, json.length());
      assertEquals(config, JsonConfigReader.read(json, "json").message(), json);
      ModelConfiguration all = new ProtobufConfiguration(config, ConfigValues.ofCode(config));
      for (String text : List.of(all.toText(), all.toCommentedText())) {
        assertEquals(config, TextFormat.parse(text, ModelConfig.class), text);
      }
      ConfigNode fromText = ConfigNode.parse(TextFormat.printer().printToString(config), "t");
      List<ModelConfiguration.Value> values = ConfigValues.of(fromText, Map.of());
      assertEquals(
          config, TextFormat.parse(ConfigPrinter.print(config, values, true), ModelConfig.class));
    }
    assertTrue(largest > 2_500, "some are large: " + largest);
  }

  @Test
  void damagedJsonIsReadOrRefused() {
    int readable = 0;
    int refused = 0;
    String json = "";
    for (int i = 0; i < DAMAGES; i++) {
      if (i % 200 == 0) {
        ModelConfig.Builder config = ModelConfig.newBuilder();
        fill(config, 1);
        json = JsonConfigWriter.write(config.build());
      }
      byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
      for (int k = random.nextInt(3); k >= 0; k--) {
        bytes[random.nextInt(bytes.length)] =
            (byte) (random.nextInt(4) == 0 ? 0 : 32 + random.nextInt(96));
      }
      int length = random.nextInt(10) == 0 ? random.nextInt(bytes.length) : bytes.length;
      String damaged = new String(bytes, 0, length, StandardCharsets.UTF_8);
      try {
        JsonConfigReader.read(damaged, "json");
        readable++;
      } catch (NereidException e) {
        assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
        String message = e.getMessage();
        assertTrue(message.chars().noneMatch(Character::isISOControl), message);
        assertTrue(message.length() < 2_000, message);
        refused++;
      }
    }
    assertTrue(readable > DAMAGES / 100, "some survive: " + readable);
    assertTrue(refused > DAMAGES / 4, "many do not: " + refused);
  }
}

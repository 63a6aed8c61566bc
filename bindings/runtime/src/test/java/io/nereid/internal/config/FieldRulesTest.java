package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.nereid.proto.ModelConfig;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every field of the configuration has a fate, and the documentation knows it. */
class FieldRulesTest {

  private static final Pattern ROW = Pattern.compile("\\| `(\\w+\\.\\w+)` \\| (\\w+) \\|");

  private static Map<String, String> documented() throws IOException {
    Map<String, String> fates = new TreeMap<>();
    for (String line : Files.readAllLines(Path.of("../../docs/model-repository.md"))) {
      Matcher row = ROW.matcher(line);
      if (row.lookingAt()) {
        assertEquals(null, fates.put(row.group(1), row.group(2)), "twice: " + row.group(1));
      }
    }
    return fates;
  }

  /** The field, by the names of its message and itself: no two messages here share a name. */
  private static String shortKey(FieldDescriptor field) {
    return field.getContainingType().getName() + "." + field.getName();
  }

  private static void collect(Descriptor type, Map<String, FieldDescriptor> fields) {
    for (FieldDescriptor field : type.getFields()) {
      boolean first = fields.put(shortKey(field), field) == null;
      boolean message = field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
      if (first && message && !FieldRules.RULES.containsKey(FieldRules.key(field))) {
        collect(field.getMessageType(), fields);
      }
    }
  }

  @Test
  void documentationListsEveryFieldWithItsFate() throws IOException {
    Map<String, FieldDescriptor> fields = new TreeMap<>();
    collect(ModelConfig.getDescriptor(), fields);
    Map<String, String> documented = documented();
    assertEquals(fields.keySet(), documented.keySet());
    fields.forEach((name, field) -> {
      FieldRules.Rule rule = FieldRules.RULES.get(FieldRules.key(field));
      String fate = documented.get(name);
      if (rule == null) {
        assertTrue(fate.equals("supported") || fate.equals("partly"), name + " is " + fate);
      } else {
        String effect = rule.effect().name().toLowerCase(Locale.ROOT);
        assertEquals(rule.scope() == FieldRules.Scope.ALL ? effect : "partly", fate, name);
      }
    });
  }

  @Test
  void everyRuleIsAboutAFieldThatExists() {
    Map<String, FieldDescriptor> fields = new TreeMap<>();
    collect(ModelConfig.getDescriptor(), fields);
    List<String> known = fields.values().stream().map(FieldRules::key).toList();
    FieldRules.RULES.keySet().forEach(key -> assertTrue(known.contains(key), key));
  }

  private static final BackendNames.Found ON_PROCESSOR =
      new BackendNames.Found("onnxruntime", true);

  private static List<String> warnings(String config) {
    List<String> warnings = new ArrayList<>();
    FieldRules.check(ConfigNode.parse(config, "m/config.pbtxt"), ON_PROCESSOR, warnings::add);
    return warnings;
  }

  @Test
  void anIgnoredFieldIsToldOnce() {
    assertEquals(
        List.of(
            "m/config.pbtxt:2:33: gpus is ignored: the core's backends run on the processor",
            "m/config.pbtxt:2:18: kind: KIND_GPU is ignored: "
                + "the core's backends run on the processor"),
        warnings(
            """

            instance_group { kind: KIND_GPU gpus: [ 0, 1 ] }
            instance_group { kind: KIND_GPU gpus: 2 }
            """));
  }

  @Test
  void settingsForOtherDevicesAreGivenToOtherBackends() {
    String config =
        """
        instance_group { kind: KIND_GPU gpus: 1 profile: "0" secondary_devices { } }
        cc_model_filenames { key: "8.6" value: "m.plan" }
        optimization {
          priority: PRIORITY_MAX
          cuda { graphs: true }
          execution_accelerators { }
          input_pinned_memory { enable: false }
          output_pinned_memory { enable: false }
          gather_kernel_buffer_threshold: 1
          eager_batching: true
        }
        """;
    List<String> others = new ArrayList<>();
    FieldRules.check(
        ConfigNode.parse(config, "m/config.pbtxt"),
        new BackendNames.Found("tensorrt", true),
        others::add);
    assertEquals(
        List.of("m/config.pbtxt:1:54: secondary_devices is ignored: no backend uses NVIDIA's DLA"),
        others);
    List<String> plugins = new ArrayList<>();
    FieldRules.check(
        ConfigNode.parse(config, "m/config.pbtxt"),
        new BackendNames.Found("other", true, true),
        plugins::add);
    assertEquals(List.of(), plugins);
    assertEquals(12, warnings(config).size(), warnings(config).toString());
    String asItIs = "optimization { input_pinned_memory { enable: true } }";
    assertEquals(List.of(), warnings(asItIs));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "instance_group { kind: KIND_CPU }",
        "model_transaction_policy { decoupled: true }",
        "input { dims: [ 2, 3 ] reshape { shape: 6 } }",
        "model_operations { }",
        "optimization { graph { level: 1 } }"
      })
  void settingsWithoutEffectAreNotMentioned(String config) {
    assertEquals(List.of(), warnings(config));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "input { is_shape_tensor: true }|1:9: is_shape_tensor",
        "model_operations { op_library_filename: 'x.so' }|1:20: op_library_filename"
      })
  void settingsThatWouldChangeAnswersAreRefused(String config, String expected) {
    NereidException failure = assertThrows(NereidException.class, () -> warnings(config));
    assertEquals(StatusCode.UNIMPLEMENTED, failure.code());
    assertTrue(failure.getMessage().startsWith("m/config.pbtxt:" + expected), failure.getMessage());
  }
}

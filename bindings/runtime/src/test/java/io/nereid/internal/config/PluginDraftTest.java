package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.InstanceGroup;
import io.nereid.model.ModelConfiguration.Value;
import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The configuration of a model that a plug-in runs. */
class PluginDraftTest {

  private static final String TENSORS =
      """
      input { name: "IN" data_type: TYPE_FP32 dims: 4 }
      output { name: "OUT" data_type: TYPE_FP32 dims: 4 }
      """;

  private static final PluginConfig.Defaults NOTHING =
      new PluginConfig.Defaults(List.of(), List.of(), "", Map.of());

  @TempDir Path directory;

  private PluginDraft draft(String config) throws IOException {
    ModelDraft draft = read(config, true);
    return assertInstanceOf(PluginDraft.class, draft, draft.toString());
  }

  private ModelDraft read(String config, boolean autoComplete) throws IOException {
    Path model = directory.resolve("m");
    Files.createDirectories(model.resolve("1"));
    Files.writeString(model.resolve("config.pbtxt"), config);
    ReadOptions options =
        new ReadOptions(
            autoComplete,
            4,
            "",
            ReadOptions.StepNames.COMMON,
            (name, backend, where, version, runtime) -> true,
            ReadOptions.Agents.NONE,
            Optional.empty(),
            Map.of(),
            Map.of(),
            Map.of());
    return ModelReader.read(model, options, line -> {}).getFirst();
  }

  private static List<InstanceGroup> groups(PluginDraft draft) {
    return draft.complete(Optional.empty()).spec().instanceGroups();
  }

  @Test
  void aGroupThatIsLeftOpenIsTheFirstThatTheBackendPrefers() throws IOException {
    PluginConfig.Defaults defaults =
        new PluginConfig.Defaults(
            List.of(
                new PluginConfig.Preferred(InstanceGroup.Kind.GPU, 2),
                new PluginConfig.Preferred(InstanceGroup.Kind.CPU, 3)),
            List.of(0, 1),
            "",
            Map.of());
    InstanceGroup group = groups(draft(TENSORS + "backend: \"b\"").prepared(defaults)).get(0);
    assertEquals("m", group.name());
    assertEquals(InstanceGroup.Kind.GPU, group.kind());
    assertEquals(2, group.count());
    assertEquals(List.of(0, 1), group.devices());
  }

  @Test
  void withoutPreferencesTritonsDefaultsHold() throws IOException {
    InstanceGroup one = groups(draft(TENSORS + "backend: \"b\"").prepared(NOTHING)).get(0);
    assertEquals(InstanceGroup.Kind.CPU, one.kind());
    assertEquals(1, one.count());
    String onnx =
        TENSORS + "backend: \"onnxruntime\" instance_group { } instance_group { count: 3 }";
    List<InstanceGroup> two = groups(draft(onnx).prepared(NOTHING));
    assertEquals(2, two.get(0).count());
    assertEquals("m_0", two.get(0).name());
    assertEquals(3, two.get(1).count());
  }

  @Test
  void aGpuThatIsNotThereIsRefusedWithItsPlace() throws IOException {
    PluginDraft draft = draft(TENSORS + "backend: \"b\"\ninstance_group { kind: KIND_GPU }\n");
    NereidException failure = assertThrows(NereidException.class, () -> draft.prepared(NOTHING));
    assertTrue(failure.getMessage().startsWith("m/config.pbtxt:4:1: "), failure.getMessage());
  }

  @Test
  void valuesOfTheBackendAreMarkedAndWrittenOnesStay() throws IOException {
    PluginDraft draft = draft("backend: \"python\"\n" + TENSORS.lines().findFirst().get());
    String told = draft.json().replace("\"max_batch_size\":0", "\"max_batch_size\":8");
    String output = "{\"name\":\"OUT\",\"data_type\":\"TYPE_INT8\",\"dims\":[\"2\"]}";
    PluginDraft completed =
        draft.completed(told.replace("\"output\":[]", "\"output\":[" + output + "]"));
    ModelSpec spec = completed.complete(Optional.empty()).spec();
    assertEquals(8, spec.maxBatchSize());
    assertEquals("OUT", spec.outputs().getFirst().name());
    Map<String, String> origins =
        completed.configuration().orElseThrow().values().stream()
            .collect(Collectors.toMap(Value::path, v -> v.origin().toString()));
    assertEquals("MODEL", origins.get("max_batch_size"));
    assertEquals("MODEL", origins.get("output[0].dims"));
    assertEquals("FILE", origins.get("input[0].dims"));
  }

  @Test
  void mistakesInTheBackendsConfigurationAreThrownAtOnce() throws IOException {
    PluginDraft draft = draft("backend: \"python\"\n");
    assertThrows(NereidException.class, () -> draft.completed("{"));
    assertThrows(NereidException.class, () -> draft.completed("{\"no_such_field\":1}"));
    NereidException failure =
        assertThrows(NereidException.class, () -> draft.completed(draft.json()));
    assertTrue(failure.getMessage().contains("lacks input, output"), failure.getMessage());
    String sequences = draft("backend: \"python\"\nsequence_batching { }\n" + TENSORS).json();
    PluginDraft batching = draft("backend: \"python\"\ndynamic_batching { }\n" + TENSORS);
    failure = assertThrows(NereidException.class, () -> batching.completed(sequences));
    assertTrue(failure.getMessage().contains("which it may not"), failure.getMessage());
  }

  @Test
  void withoutAutoCompletionGapsAreRefused() throws IOException {
    ModelDraft draft = read("backend: \"python\"\n", false);
    NereidException failure = assertInstanceOf(ModelDraft.Broken.class, draft).cause();
    assertTrue(failure.getMessage().contains("auto-completion is off"), failure.getMessage());
    assertInstanceOf(PluginDraft.class, read("backend: \"python\"\n" + TENSORS, false));
  }

  @Test
  void theModelsFileTellsTheBackend() throws IOException {
    Path version = Files.createDirectories(directory.resolve("m/1"));
    Files.writeString(version.resolve("model.py"), "");
    assertEquals("python", draft("").opening().backendName());
    assertEquals("pytorch", draft("platform: \"pytorch_libtorch\"").opening().backendName());
  }
}

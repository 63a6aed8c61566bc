package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.TextFormat;
import io.nereid.Model;
import io.nereid.model.DynamicBatching;
import io.nereid.model.Ensemble;
import io.nereid.model.InstanceGroup;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelConfiguration.Origin;
import io.nereid.model.ModelSpec;
import io.nereid.model.QueuePolicy;
import io.nereid.model.TensorSpec;
import io.nereid.model.WarmUp;
import io.nereid.proto.ModelConfig;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The configuration that a model is served with, as text and as JSON. */
class ModelConfigurationTest {

  private static final String CONFIG =
      """
      backend: "identity"
      max_batch_size: 8
      input { name: "IN\\"\\302\\265" data_type: TYPE_FP32 dims: [ -1, 4 ] }
      output [ { name: "OUT" data_type: TYPE_FP32 dims: 4 } ]
      instance_group { kind: KIND_GPU gpus: 1 count: 2 }
      dynamic_batching { preferred_batch_size: [ 2, 4 ] max_queue_delay_microseconds: 0 }
      parameters { key: "a.b" value { string_value: "v" } }
      parameters { key: "empty" value { } }
      """;

  @TempDir Path directory;

  private ModelConfiguration configuration() throws IOException {
    TestRepository repository = new TestRepository(directory);
    repository.model("m", CONFIG, 1);
    return repository.draft().complete(Optional.empty()).served();
  }

  private static ModelConfig message(ModelConfiguration configuration) {
    return ((ProtobufConfiguration) configuration).message();
  }

  @Test
  void aCommentSaysWhereEachValueCameFrom() throws IOException {
    assertEquals(
        """
        name: "m"                            # default
        backend: "identity"                  # config.pbtxt:1:1
        version_policy {
          latest {
            num_versions: 1                  # default
          }
        }
        max_batch_size: 8                    # config.pbtxt:2:1
        input {
          name: "IN\\"µ"                      # config.pbtxt:3:9
          data_type: TYPE_FP32               # config.pbtxt:3:30
          dims: [ -1, 4 ]                    # config.pbtxt:3:51
        }
        output {
          name: "OUT"                        # config.pbtxt:4:12
          data_type: TYPE_FP32               # config.pbtxt:4:24
          dims: [ 4 ]                        # config.pbtxt:4:45
        }
        optimization {
          input_pinned_memory {
            enable: true                     # default
          }
          output_pinned_memory {
            enable: true                     # default
          }
        }
        dynamic_batching {
          preferred_batch_size: [ 2, 4 ]     # config.pbtxt:6:20
          max_queue_delay_microseconds: 0    # config.pbtxt:6:51
          preserve_ordering: false           # default
          priority_levels: 0                 # default
          default_queue_policy {
            timeout_action: REJECT           # default
            default_timeout_microseconds: 0  # default
            allow_timeout_override: false    # default
            max_queue_size: 0                # default
          }
        }
        instance_group {
          name: "m_0"                        # default
          kind: KIND_CPU                     # default
          count: 2                           # config.pbtxt:5:41
        }
        parameters {
          key: "a.b"
          value {
            string_value: "v"                # config.pbtxt:7:33
          }
        }
        parameters {
          key: "empty"
          value { }                          # config.pbtxt:8:27
        }
        model_transaction_policy {
          decoupled: false                   # default
        }
        response_cache {
          enable: false                      # default
        }
        """,
        configuration().toCommentedText());
  }

  @Test
  void allFormsAreTheSameConfiguration() throws IOException {
    ModelConfiguration configuration = configuration();
    ModelConfig message = message(configuration);
    assertEquals(message, TextFormat.parse(configuration.toText(), ModelConfig.class));
    assertEquals(message, TextFormat.parse(configuration.toCommentedText(), ModelConfig.class));
    assertEquals(message, JsonConfigReader.read(configuration.toJson(), "json").message());
    assertEquals(message, ModelConfig.parseFrom(configuration.toProtobuf()));
    assertEquals(-1, configuration.toText().indexOf('#'));
  }

  @Test
  void jsonHasWhatClientsOfTritonReadWithoutAsking() throws IOException {
    String json = configuration().toJson();
    for (String part :
        List.of(
            "\"max_batch_size\":8,",
            "\"dims\":[-1,4]",
            "\"data_type\":\"TYPE_FP32\"",
            "\"is_shape_tensor\":false",
            "\"optional\":false",
            "\"max_queue_delay_microseconds\":0",
            "\"decoupled\":false",
            "\"response_cache\":{\"enable\":false}",
            "\"model_warmup\":[]",
            "\"parameters\":{\"a.b\":{\"string_value\":\"v\"},")) {
      assertTrue(json.contains(part), json);
    }
    assertTrue(!json.contains("sequence_batching") && !json.contains("ensemble"), json);
  }

  @Test
  void aServedConfigurationServesAgain() throws IOException {
    ModelConfiguration first = configuration();
    TestRepository again = new TestRepository(directory);
    again.model("m", first.toCommentedText(), 1);
    ModelDraft.Whole second = again.draft().complete(Optional.empty());
    assertEquals(message(first), message(second.served()));
    assertEquals(List.of(), again.warnings);
    assertEquals(
        Set.of(Origin.FILE),
        second.served().values().stream()
            .map(ModelConfiguration.Value::origin)
            .collect(Collectors.toSet()));
  }

  @Test
  void aModelThatIsNotCompletedTellsTheSame() throws IOException {
    TestRepository repository = new TestRepository(directory);
    repository.model("m", CONFIG, 1);
    ModelDraft draft = repository.draft();
    ModelConfiguration before = draft.configuration().orElseThrow();
    assertEquals(draft.complete(Optional.empty()).served(), before);
  }

  @Test
  void aModelThatCannotBeOpenedTellsWhatIsKnown() throws IOException {
    TestRepository repository = new TestRepository(directory);
    String config = "backend: \"nobody\"\ninput { name: \"A\" }\n";
    repository.model("m", config, 1);
    ModelDraft draft = repository.draft();
    assertTrue(draft instanceof ModelDraft.Partial);
    String text = draft.configuration().orElseThrow().toCommentedText();
    for (String part : List.of("\"nobody\"", "# config.pbtxt:1:1", "name: \"A\"", "# default")) {
      assertTrue(text.contains(part), text);
    }
    assertTrue(!text.contains("max_batch_size") && !text.contains("data_type"), text);
    repository.model("m", config + "max_batch_size: 0", 1);
    text = repository.draft().configuration().orElseThrow().toCommentedText();
    assertTrue(text.contains("max_batch_size: 0"), text);
  }

  @Test
  void anOverrideIsUsedInPlaceOfTheFile() throws IOException {
    TestRepository repository = new TestRepository(directory);
    Path model = repository.model("m", CONFIG + "version_policy { all { } }", 1, 2);
    String json =
        """
        {"backend":"identity","maxBatchSize":0,
         "input":[{"name":"IN","data_type":"TYPE_INT8","dims":["3"]}],
         "output":[{"name":"OUT","data_type":6,"dims":[3]}]}
        """;
    ReadOptions options = new ReadOptions(true, 4, Optional.of(json));
    List<ModelDraft> versions = ModelReader.read(model, options, line -> {});
    assertEquals(1, versions.size());
    assertEquals(2, versions.getFirst().version());
    ModelDraft.Whole completed = versions.getFirst().complete(Optional.empty());
    assertEquals(List.of(TensorSpec.of("IN", DataType.INT8, 3)), completed.spec().inputs());
    assertTrue(
        completed.served().values().stream()
            .anyMatch(value ->
                value.path().equals("max_batch_size") && value.origin() == Origin.OVERRIDE));
    assertTrue(completed.served().toCommentedText().contains("# given with the load"));
  }

  @Test
  void mistakesInAnOverrideHaveTheirPath() throws IOException {
    Path model = new TestRepository(directory).model("m", "nonsense", 1);
    String json =
        "{\"backend\":\"identity\",\"input\":[{\"name\":\"A\",\"data_type\":\"TYPE_INT8\","
            + "\"dims\":[2,0]}],\"output\":[{\"name\":\"A\",\"data_type\":6,\"dims\":[3]}]}";
    ReadOptions options = new ReadOptions(true, 4, Optional.of(json));
    ModelDraft broken = ModelReader.read(model, options, line -> {}).getFirst();
    assertEquals(
        "m: the load's config at input[0].dims[1]: expected dims of input 'A' from 1 on, or -1 for"
            + " any size, got 0",
        ((ModelDraft.Broken) broken).cause().getMessage());
  }

  @Test
  void modelsFromCodeTellTheirsToo() throws IOException {
    ModelSpec spec =
        ModelSpec.builder("coded")
            .version(7)
            .backend("identity")
            .maxBatchSize(4)
            .input(TensorSpec.of("IN", DataType.BYTES, -1, 2).withReshape(-1, 1, 2).asOptional())
            .output("OUT", DataType.BF16, 2)
            .instances(
                new InstanceGroup(
                    "",
                    InstanceGroup.Kind.GPU,
                    2,
                    List.of(1),
                    List.of("0"),
                    new InstanceGroup.RateLimiter(
                        List.of(new InstanceGroup.Resource("R1", true, 3)), 2),
                    "near"))
            .dynamicBatching(
                DynamicBatching.builder()
                    .preferredBatchSizes(2)
                    .maxQueueDelay(Duration.ofNanos(1_500))
                    .priorityLevels(2, 1)
                    .queuePolicy(2, QueuePolicy.DEFAULT.withMaxQueueSize(3))
                    .build())
            .inline(false)
            .inlineBudget(Duration.ofMillis(2))
            .decoupled(true)
            .warmUp(
                new WarmUp(
                    "w",
                    2,
                    3,
                    Map.of(
                        "IN",
                        new WarmUp.Input(DataType.BYTES, List.of(1L, 2L), new WarmUp.Zero()))))
            .parameter("k", "v")
            .build();
    ModelConfiguration configuration = Model.configurationOf(spec);
    assertEquals(
        TextFormat.parse(
            """
            name: "coded" backend: "identity" max_batch_size: 4
            version_policy { specific { versions: 7 } }
            input {
              name: "IN" data_type: TYPE_STRING dims: [ -1, 2 ] reshape { shape: [ -1, 1, 2 ] }
              optional: true
            }
            output { name: "OUT" data_type: TYPE_BF16 dims: 2 }
            instance_group {
              name: "coded_0" kind: KIND_GPU count: 2 gpus: 1 profile: "0"
              rate_limiter { resources { name: "R1" global: true count: 3 } priority: 2 }
              host_policy: "near"
            }
            dynamic_batching {
              preferred_batch_size: 2 max_queue_delay_microseconds: 2
              priority_levels: 2 default_priority_level: 1 default_queue_policy { }
              priority_queue_policy { key: 2 value { max_queue_size: 3 } }
            }
            model_transaction_policy { decoupled: true } response_cache { }
            model_warmup {
              name: "w" batch_size: 2 count: 3
              inputs { key: "IN" value { data_type: TYPE_STRING dims: [ 1, 2 ] zero_data: true } }
            }
            parameters { key: "k" value { string_value: "v" } }
            parameters { key: "nereid.inline" value { string_value: "false" } }
            parameters {
              key: "nereid.inline_budget_microseconds" value { string_value: "2000" }
            }
            """,
            ModelConfig.class),
        message(configuration));
    assertTrue(
        configuration.values().stream().allMatch(value -> value.origin() == Origin.CODE),
        configuration.values().toString());
  }

  @Test
  void ensemblesFromCodeTellTheirSteps() {
    ModelSpec spec =
        ModelSpec.builder("e")
            .input("IN", DataType.FP32, 1)
            .output("OUT", DataType.FP32, 1)
            .ensemble(
                new Ensemble(
                    List.of(
                        new Ensemble.Step(
                            "a", OptionalLong.empty(), Map.of("X", "IN"), Map.of("Y", "OUT")))))
            .build();
    ModelConfig message = message(Model.configurationOf(spec));
    assertEquals("ensemble", message.getPlatform());
    assertEquals(-1, message.getEnsembleScheduling().getStep(0).getModelVersion());
    assertEquals(Map.of("Y", "OUT"), message.getEnsembleScheduling().getStep(0).getOutputMapMap());
    assertEquals(0, message.getInstanceGroupCount());
  }
}

package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.DynamicBatching;
import io.nereid.model.InstanceGroup;
import io.nereid.model.ModelSpec;
import io.nereid.model.QueuePolicy;
import io.nereid.model.QueuePolicy.TimeoutAction;
import io.nereid.model.TensorSpec;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads configurations, and refuses impossible ones with a message. */
class SpecReaderTest {

  @TempDir Path directory;

  private TestRepository repository;

  @BeforeEach
  void makeRepository() {
    repository = new TestRepository(directory);
  }

  @Test
  void everyFieldThatIsSupportedArrives() throws IOException {
    Path model =
        repository.model(
            "m",
            """
            name: "m"
            platform: "onnxruntime_onnx"
            max_batch_size: 16
            default_model_filename: "net.onnx"
            input [
              { name: "A" data_type: TYPE_STRING dims: [ -1, 3 ] },
              { name: "B" data_type: TYPE_BF16 dims: 2 optional: true }
            ]
            output { name: "C" data_type: TYPE_UINT8 dims: 2 label_filename: "labels.txt" }
            instance_group [ { count: 2 }, { kind: KIND_CPU }, { count: 5 passive: true } ]
            dynamic_batching {
              preferred_batch_size: [ 4, 8 ]
              max_queue_delay_microseconds: 250
              priority_levels: 3
              default_priority_level: 2
              default_queue_policy { default_timeout_microseconds: 9 max_queue_size: 7 }
              priority_queue_policy {
                key: 3
                value { timeout_action: DELAY allow_timeout_override: true }
              }
            }
            response_cache { enable: true }
            optimization { graph { level: -1 } }
            parameters { key: "intra_op_thread_count" value { string_value: "1" } }
            parameters { key: "nereid.inline" value { string_value: "false" } }
            parameters { key: "nereid.media.x" value { string_value: "audio;rate=8000" } }
            parameters { key: "nereid.inline_budget_microseconds" value { string_value: "20" } }
            """,
            3);
    Files.writeString(model.resolve("labels.txt"), "cat\r\ndog\n");
    Path file = Files.writeString(model.resolve("3/net.onnx"), "not empty");

    ModelSpec spec = repository.spec();

    assertEquals("m", spec.name());
    assertEquals(3, spec.version());
    assertEquals("onnxruntime", spec.backendName());
    assertEquals(16, spec.maxBatchSize());
    assertEquals(List.of(2, 1), spec.instanceGroups().stream().map(InstanceGroup::count).toList());
    assertEquals(
        List.of(
            TensorSpec.of("A", DataType.BYTES, -1, 3),
            TensorSpec.of("B", DataType.BF16, 2).asOptional()),
        spec.inputs());
    assertEquals(
        List.of(TensorSpec.of("C", DataType.UINT8, 2).withLabels(List.of("cat", "dog"))),
        spec.outputs());
    QueuePolicy standard =
        QueuePolicy.DEFAULT.withDefaultTimeout(Duration.ofNanos(9_000)).withMaxQueueSize(7);
    assertEquals(
        DynamicBatching.builder()
            .preferredBatchSizes(4, 8)
            .maxQueueDelay(Duration.ofNanos(250_000))
            .priorityLevels(3, 2)
            .queuePolicy(standard)
            .queuePolicy(
                3,
                QueuePolicy.DEFAULT
                    .withTimeoutAction(TimeoutAction.DELAY)
                    .withAllowTimeoutOverride(true))
            .build(),
        spec.dynamicBatching().orElseThrow());
    assertTrue(spec.responseCache());
    assertFalse(spec.inline());
    assertEquals(Duration.ofNanos(20_000), spec.inlineBudget());
    assertEquals(
        Map.of(
            "intra_op_thread_count", "1",
            "nereid.media.x", "audio;rate=8000",
            "optimization.graph.level", "-1",
            "model_path", file.toAbsolutePath().toString()),
        spec.parameters());
    assertEquals(List.of(), repository.warnings);
  }

  @Test
  void omittedSettingsHaveTritonsDefaults() throws IOException {
    repository.model("m", "backend: \"identity\"\n" + TestRepository.TENSORS, 1);
    ModelSpec spec = repository.spec();
    assertEquals("m", spec.name());
    assertEquals(0, spec.maxBatchSize());
    assertEquals(1, spec.instanceGroups().getFirst().count());
    assertTrue(spec.dynamicBatching().isEmpty());
    assertTrue(spec.inline());
    assertFalse(spec.responseCache());
  }

  @Test
  void unsignedValuesBeyondJavasAreCut() throws IOException {
    repository.model(
        "m",
        """
        backend: "identity"
        dynamic_batching {
          max_queue_delay_microseconds: 18446744073709551615
          default_queue_policy { max_queue_size: 4294967295 }
        }
        """
            + TestRepository.TENSORS,
        1);
    DynamicBatching batching = repository.spec().dynamicBatching().orElseThrow();
    assertEquals(Integer.MAX_VALUE, batching.defaultQueuePolicy().maxQueueSize());
    assertTrue(batching.maxQueueDelay().toDays() > 365L * 290_000);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "onnxruntime| |onnxruntime",
        "|onnxruntime_onnx|onnxruntime",
        "|onnx_onnxv1|onnxruntime",
        "|tensorrt_plan|tensorrt",
        "tensorrt| |tensorrt",
        "com.example.Mine| |com.example.Mine",
        "onnxruntime|tensorrt_plan|onnxruntime",
        "| |onnxruntime"
      })
  void backendsAreFoundByEitherName(String backend, String platform, String expected)
      throws IOException {
    Path model =
        repository.model(
            "m",
            (backend == null ? "" : "backend: \"" + backend + "\"\n")
                + (platform == null ? "" : "platform: \"" + platform + "\"\n")
                + TestRepository.TENSORS,
            1);
    Files.writeString(model.resolve("1/model.onnx"), "x");
    Files.writeString(model.resolve("1/model.plan"), "x");
    assertEquals(expected, repository.spec().backendName());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "max_batch_size: -1|m/config.pbtxt:2:1: expected max_batch_size of 0",
        "max_batch_size: 1 max_batch_size: 2|m/config.pbtxt:2:",
        "maxbatch: 3|m/config.pbtxt:2:1: ModelConfig has no field 'maxbatch'",
        "input { data_type: TYPE_FP33 }|DataType has no value 'TYPE_FP33', it has TYPE_INVALID,"
            + " TYPE_BOOL",
        "instance_group { kind: KIND_GPUS }|ModelInstanceGroup.Kind has no value 'KIND_GPUS', it"
            + " has",
        "max_batch_size: three|m/config.pbtxt:2:17: ",
        "input { name: \"X\" dims: 1 }|lacks data_type of input 'X', and the backend 'identity'"
            + " cannot",
        "input { name: \"X\" data_type: TYPE_FP32 }|the configuration lacks dims of input 'X'",
        "input { name: \"IN\" data_type: TYPE_FP32 dims: 4 }|m/config.pbtxt:3:9: input 'IN' is"
            + " config",
        "input { data_type: TYPE_FP32 dims: 4 }|m/config.pbtxt:2:1: input has no name",
        "input { name: \"X\" data_type: 77 dims: 4 }|expected a data_type, such as TYPE_FP32",
        "response_cache { enable: true } model_transaction_policy { decoupled: true }|with"
            + " 'decoupled' transaction policy",
        "platform: \"ensemble\" backend: \"ensemble\"|m/config.pbtxt:2:",
        "input { name: \"X\" data_type: TYPE_FP32 dims: 0 }|m/config.pbtxt:2:40: expected dims",
        "output { name: \"X\" data_type: TYPE_FP32 dims: [ 4, -2 ] }|or -1 for any size, got -2",
        "name: \"other\"|expected name: \"m\", as the directory, got \"other\"",
        "instance_group { count: -2 }|m/config.pbtxt:2:18: expected a count of instances",
        "instance_group { count: 2000 }|expected from 1 to 1024 instances",
        "dynamic_batching { preferred_batch_size: 3 }|m/config.pbtxt:2:20: expected preferred",
        "dynamic_batching { priority_levels: 2 }|expected default_priority_level from 1 to",
        "version_policy { specific { versions: 0 } }|expected versions from 1 on, got 0",
        "parameters { key: \"model_path\" value { string_value: \"/x\" } }|is set by the runtime",
        "parameters { key: \"onnxruntime_path\" value { } }|is set by the runtime alone",
        "parameters { key: \"nereid.inlin\" value { } }|expected nereid.inline, nereid.",
        "parameters { key: \"nereid.batcher\" value { } }|as the name or class of a batcher",
        "parameters { key: \"nereid.media.x\" value { string_value: \"noise\" } }|\"text\","
            + " \"audio\" or",
        "parameters { key: \"nereid.inline\" value { string_value: \"no\" } }|\"true\" or"
            + " \"false\"",
        "default_model_filename: \"../../x\"|expected default_model_filename to name a file",
        "default_model_filename: \"/etc/passwd\"|expected default_model_filename to name a file",
        "default_model_filename: \"a\\000b\"|expected default_model_filename to name a file",
        "output { name: \"Y\" data_type: TYPE_FP32 dims: 4 label_filename: \"../l\""
            + " }|label_filename"
      })
  void mistakesAreNamedWithTheirPlace(String line, String expected) throws IOException {
    repository.model("m", "backend: \"identity\"\n" + line + "\n" + TestRepository.TENSORS, 1);
    NereidException failure = repository.failure();
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code(), failure.getMessage());
    assertTrue(failure.getMessage().contains(expected), failure.getMessage());
    assertFalse(failure.getMessage().contains("\n"), failure.getMessage());
  }
}

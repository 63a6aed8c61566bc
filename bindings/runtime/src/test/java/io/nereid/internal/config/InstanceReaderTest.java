package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.InstanceGroup;
import io.nereid.model.InstanceGroup.Kind;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads the places of instances, and the settings for their backends. */
class InstanceReaderTest {

  private static final String GROUPS =
      """
      instance_group [
        { count: 2 kind: KIND_GPU gpus: [ 0, 2 ] profile: [ "0", "3" ] },
        { name: "spare" passive: true },
        { name: "slow" kind: KIND_CPU },
        { }
      ]
      """;

  @TempDir Path directory;

  private TestRepository repository;

  @BeforeEach
  void makeRepository() {
    repository = new TestRepository(directory);
  }

  private TestRepository write(String backend, String config) throws IOException {
    String head = "backend: \"" + backend + "\"\n";
    Path model = repository.model("m", head + config + "\n" + TestRepository.TENSORS, 1);
    Files.writeString(model.resolve("1/model.plan"), "x");
    return repository;
  }

  @Test
  void groupsGoToJavaBackendsAsTheyAre() throws IOException {
    assertEquals(
        List.of(
            new InstanceGroup("m_0", Kind.GPU, 2, List.of(0, 2), List.of("0", "3")),
            new InstanceGroup("slow", Kind.CPU, 1, List.of(), List.of()),
            new InstanceGroup("m_3", Kind.AUTO, 1, List.of(), List.of())),
        write("tensorrt", GROUPS).spec().instanceGroups());
    assertEquals(List.of(), repository.warnings);
  }

  @Test
  void theCoresBackendsRunOnTheProcessor() throws IOException {
    assertEquals(
        List.of(
            new InstanceGroup("m_0", Kind.CPU, 2, List.of(), List.of()),
            new InstanceGroup("slow", Kind.CPU, 1, List.of(), List.of()),
            new InstanceGroup("m_3", Kind.CPU, 1, List.of(), List.of())),
        write("identity", GROUPS).spec().instanceGroups());
    assertEquals(3, repository.warnings.size(), repository.warnings.toString());
  }

  @Test
  void resourcesAndPlacesOfExecutionsAreRead() throws IOException {
    List<InstanceGroup> groups =
        write(
                "identity",
                """
                instance_group {
                  rate_limiter {
                    resources [ { name: "R1" count: 4 }, { name: "R2" global: true count: 2 } ]
                    priority: 2
                  }
                  host_policy: "near"
                }
                instance_group { rate_limiter { } }
                """)
            .spec()
            .instanceGroups();
    assertEquals(
        new InstanceGroup.RateLimiter(
            List.of(
                new InstanceGroup.Resource("R1", false, 4),
                new InstanceGroup.Resource("R2", true, 2)),
            2),
        groups.get(0).rateLimiter());
    assertEquals("near", groups.get(0).hostPolicy());
    assertEquals(InstanceGroup.RateLimiter.NONE, groups.get(1).rateLimiter());
    assertEquals("", groups.get(1).hostPolicy());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "instance_group { count: -1 }|m/config.pbtxt:2:18: expected a count of instances",
        "instance_group { kind: 9 }|m/config.pbtxt:2:18: expected kind KIND_AUTO",
        "instance_group { kind: KIND_CPU gpus: 0 }|2:33: gpus are named, but the group's kind",
        "instance_group { gpus: [ 1, 1 ] }|2:18: expected the numbers of different GPUs",
        "instance_group { gpus: -1 }|expected the numbers of different GPUs, from 0 on, got [-1]",
        "instance_group { count: 600 gpus: [ 0, 1 ] }|instances that are not passive in all",
        "instance_group { count: 3 passive: true }|in all groups together, got 0",
        "instance_group { rate_limiter { resources { count: 1 } } }|2:33: expected the names of",
        "instance_group { rate_limiter { resources [ { name: 'a' }, { name: 'a' } ] } }|2:62:"
            + " expect",
        "instance_group { rate_limiter { resources { name: 'a' count: 4294967295 } } }"
            + "|2:55: expected a number from 0 to 2147483647, got 4294967295",
        "instance_group { rate_limiter { priority: 2147483648 } }|2:33: expected a number from 0"
      })
  void mistakesAreNamedWithTheirPlace(String config, String expected) throws IOException {
    var failure = write("tensorrt", config).failure();
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
    assertTrue(failure.getMessage().contains(expected), failure.getMessage());
  }

  @Test
  void optimizationIsToldToJavaBackends() throws IOException {
    String config =
        """
        cc_model_filenames [ { key: "8.6" value: "a.plan" }, { key: "9.0" value: "b.plan" } ]
        optimization {
          graph { level: 1 }
          priority: PRIORITY_MAX
          cuda {
            graphs: true
            busy_wait_events: true
            output_copy_stream: true
            graph_spec { batch_size: 2 input { key: "IN" value { dim: [ 3, 4 ] } } }
          }
          execution_accelerators { gpu_execution_accelerator { name: "tensorrt" } }
          input_pinned_memory { enable: false }
          output_pinned_memory { enable: true }
          gather_kernel_buffer_threshold: 5
          eager_batching: true
        }
        """;
    Path version = directory.resolve("m/1").toAbsolutePath();
    Map<String, String> expected = new HashMap<>();
    expected.put("model_path", version + "/model.plan");
    expected.put("model_path.8.6", version + "/a.plan");
    expected.put("model_path.9.0", version + "/b.plan");
    expected.put("optimization.graph.level", "1");
    expected.put("optimization.priority", "PRIORITY_MAX");
    expected.put("optimization.cuda.graphs", "true");
    expected.put("optimization.cuda.busy_wait_events", "true");
    expected.put("optimization.cuda.output_copy_stream", "true");
    expected.put(
        "optimization.cuda.graph_spec", "[{\"batch_size\":2,\"input\":{\"IN\":{\"dim\":[3,4]}}}]");
    expected.put(
        "optimization.execution_accelerators",
        "{\"gpu_execution_accelerator\":[{\"name\":\"tensorrt\",\"parameters\":{}}],"
            + "\"cpu_execution_accelerator\":[]}");
    expected.put("optimization.input_pinned_memory.enable", "false");
    expected.put("optimization.output_pinned_memory.enable", "true");
    expected.put("optimization.gather_kernel_buffer_threshold", "5");
    expected.put("optimization.eager_batching", "true");
    assertEquals(expected, write("tensorrt", config).spec().parameters());

    assertEquals(
        Map.of("model_path", version.toString(), "optimization.graph.level", "1"),
        write("identity", config).spec().parameters());
    assertEquals(7, repository.warnings.size(), repository.warnings.toString());
  }

  @Test
  void filesForCapabilitiesMakeTheOtherOneOptional() throws IOException {
    String config = "cc_model_filenames { key: \"8.6\" value: \"a.plan\" }";
    write("tensorrt", config);
    Files.delete(directory.resolve("m/1/model.plan"));
    assertTrue(repository.spec().parameters().containsKey("model_path.8.6"));
    String outside = "cc_model_filenames { key: \"8.6\" value: \"../../a\" }";
    String failure = write("tensorrt", outside).failure().getMessage();
    assertTrue(failure.contains("expected cc_model_filenames to name a file inside"), failure);
  }
}

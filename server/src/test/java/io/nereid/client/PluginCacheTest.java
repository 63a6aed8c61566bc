package io.nereid.client;

import static io.nereid.client.PluginFixture.ints;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.model.PluginOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A response cache that was made for Triton, "keeper" of native/test/triton. */
class PluginCacheTest {

  private static final String CACHED =
      "backend: \"identity\" max_batch_size: 4 response_cache { enable: true }";

  private static final String UNCACHED = CACHED.replace("true", "false");

  @TempDir private Path directory;
  private PluginFixture plugins;

  @BeforeEach
  void make() {
    plugins = new PluginFixture(directory);
  }

  @AfterEach
  void stop() {
    plugins.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void aCacheKeepsResponses(String protocol) throws IOException {
    plugins.cache("keeper").model("kept", CACHED);
    plugins.start(plugins.plugins().cache("keeper", "mode", "right"), UnaryOperator.identity());
    Model kept = plugins.server().nereid().model("kept");
    try (InferenceClient client = plugins.connect(protocol)) {
      for (int i = 0; i < 3; i++) {
        try (InferResponse response = client.infer(ints("kept", 4, 2).build())) {
          assertArrayEquals(new int[] {4, 2}, response.output("OUTPUT0").toIntArray());
        }
      }
      client.infer(ints("kept", 5).build()).close();
    }
    assertEquals(2, kept.statistics().cacheHit().count());
    assertEquals(2, kept.statistics().cacheMiss().count());
    assertEquals(2, kept.statistics().executionCount());
  }

  @Test
  void aCacheThatFailsFailsNoRequest() throws IOException {
    plugins.cache("keeper").model("kept", CACHED);
    plugins.start(plugins.plugins().cache("keeper", "mode", "fails"), UnaryOperator.identity());
    Model kept = plugins.server().nereid().model("kept");
    try (InferenceClient client = plugins.connect("http")) {
      client.infer(ints("kept", 1).build()).close();
      client.infer(ints("kept", 1).build()).close();
    }
    assertEquals(0, kept.statistics().cacheHit().count());
    assertEquals(2, kept.statistics().executionCount());
  }

  /** More requests wait for the cache than there are processors for virtual threads. */
  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void aCacheThatHangsHoldsUpItsModelsAlone(String protocol) throws Exception {
    Path until = directory.resolve("until");
    Path begun = directory.resolve("until.begun");
    plugins.cache("keeper").model("kept", CACHED).model("plain", UNCACHED);
    plugins.start(
        plugins.plugins().cache("keeper", "mode", "right").cache("keeper", "until", "" + until),
        UnaryOperator.identity());
    try (InferenceClient client = plugins.connect(protocol)) {
      int count = Math.min(60, Runtime.getRuntime().availableProcessors()) + 2;
      List<CompletableFuture<InferResponse>> waiting = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        waiting.add(client.inferAsync(ints("kept", i).build()));
      }
      try {
        ServerFixture.await(() -> begun.toFile().length() == count);
        for (int i = 0; i < 20; i++) {
          client.infer(ints("plain", i).deadline(Duration.ofMinutes(1)).build()).close();
        }
        assertTrue(waiting.stream().noneMatch(CompletableFuture::isDone));
      } finally {
        Files.createFile(until);
      }
      for (int i = 0; i < count; i++) {
        try (InferResponse response = waiting.get(i).join()) {
          assertArrayEquals(new int[] {i}, response.output("OUTPUT0").toIntArray());
        }
      }
    }
  }

  @Test
  void aProgramThatEmbedsHasACache() throws IOException {
    plugins.cache("keeper").model("kept", CACHED);
    plugins.start(plugins.plugins().cache("keeper", "mode", "right"), UnaryOperator.identity());
    Model kept = plugins.server().nereid().model("kept");
    int[][] values = {{6, 7}};
    for (int i = 0; i < 2; i++) {
      try (var request =
              kept.newRequest().input("INPUT0", io.nereid.tensor.Tensor.ofArray(values));
          var response = request.infer()) {
        assertEquals(i == 1, response.cacheHit());
        assertArrayEquals(values, response.output("OUTPUT0").toArray(int[][].class));
      }
    }
  }

  @Test
  void aCacheThatIsNotThereStopsTheStart() {
    PluginOptions.Builder options = plugins.plugins().cache("keeper", "mode", "right");
    Exception failure =
        assertThrows(Exception.class, () -> plugins.start(options, UnaryOperator.identity()));
    assertTrue(
        failure.getMessage().contains("unable to find 'libtritoncache_keeper.so'"),
        failure.getMessage());
  }
}

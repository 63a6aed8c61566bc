package io.nereid.client;

import static io.nereid.client.PluginFixture.ints;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plug-ins for Triton that run in processes of their own, as clients see them. */
class PluginIsolationTest {

  private static final String ISOLATED =
      " parameters { key: \"isolation\" value { string_value: \"process\" } }";

  @TempDir private Path directory;
  private PluginFixture plugins;

  @BeforeEach
  void start() throws IOException {
    plugins = new PluginFixture(directory).backend("probe").backend("caller").backend("choosy");
    plugins.model("here", "backend: \"probe\" max_batch_size: 8");
    plugins.model("there", "backend: \"probe\" max_batch_size: 8" + ISOLATED);
    plugins.model(
        "stream",
        "backend: \"probe\" max_batch_size: 8 model_transaction_policy { decoupled: true }"
            + ISOLATED);
    plugins.model("caller", "backend: \"caller\" max_batch_size: 8" + ISOLATED);
    plugins.model(
        "choosy", "backend: \"choosy\" max_batch_size: 8 dynamic_batching { }" + ISOLATED);
    Path open = Files.createDirectories(plugins.models().resolve("open/1")).getParent();
    Files.writeString(
        open.resolve("config.pbtxt"),
        "backend: \"probe\" max_batch_size: 8 input { name: \"INPUT0\" data_type: TYPE_INT32"
            + " dims: [ -1 ] }"
            + ISOLATED);
    plugins.start(
        plugins.plugins().backend("probe", "colour", "blue"),
        options -> options.withExitOnError(false));
  }

  @AfterEach
  void stop() {
    plugins.close();
  }

  private static void assertAnswers(InferenceClient client, String model) {
    InferRequest request =
        ints(model, 4, 5).id("a request").parameter("do", "read").parameter("number", -7).build();
    try (InferResponse response = client.infer(request)) {
      assertArrayEquals(new int[] {4, 5}, response.output("OUTPUT0").toIntArray());
      Map<String, Object> parameters = response.parameters();
      assertEquals("", parameters.get("wrong"), "the backend's findings");
      assertEquals("a request", parameters.get("id"));
      assertEquals(-7L, ((Number) parameters.get("got number")).longValue());
    }
  }

  @Test
  void aPluginDiesAndComesBackAndOthersDoNotNotice() {
    Model there = plugins.server().nereid().model("there");
    try (InferenceClient client = plugins.connect("http")) {
      for (String how : new String[] {"segfault", "exit", "abort"}) {
        InferRequest deadly = ints("there", 1).parameter("do", "die").parameter("how", how).build();
        var died = assertThrows(InferenceException.class, () -> client.infer(deadly));
        assertEquals(StatusCode.UNAVAILABLE, died.code());
        assertTrue(died.getMessage().contains("isolated model 'there'"), died.getMessage());
        assertAnswers(client, "here");
        assertAnswers(client, "there");
      }
    }
    assertEquals(3, there.isolationStatistics().orElseThrow().restarts());
    assertTrue(plugins.server().nereid().model("here").isolationStatistics().isEmpty());
  }

  @Test
  void aStreamOfAnIsolatedPluginIsAsAnyOther() {
    try (InferenceClient client = plugins.connect("grpc");
        InferStream stream = client.openStream()) {
      stream.send(
          ints("stream", 8, 9).parameter("do", "stream_late").parameter("count", 3).build());
      for (long i = 0; i < 3; i++) {
        try (InferResponse response = stream.next()) {
          assertArrayEquals(new int[] {8, 9}, response.output("OUTPUT0").toIntArray());
          assertEquals(i, ((Number) response.parameters().get("index")).longValue());
        }
      }
    }
  }

  @Test
  void aPluginCompletesAConfiguration() {
    Model open = plugins.server().nereid().model("open");
    assertEquals("OUTPUT0", open.spec().outputs().getFirst().name());
    try (InferenceClient client = plugins.connect("http")) {
      assertAnswers(client, "open");
    }
  }

  @Test
  void aPluginThatAsksTheServerIsToldThatItCannot() {
    InferRequest request =
        ints("caller", 1).parameter("do", "call").parameter("target", "here").build();
    try (InferenceClient client = plugins.connect("http")) {
      var refused = assertThrows(InferenceException.class, () -> client.infer(request));
      assertTrue(refused.getMessage().contains("an isolated plug-in cannot"), refused.getMessage());
    }
  }

  @Test
  void aPluginThatBatchesByItselfIsRefused() {
    var refused =
        assertThrows(NereidException.class, () -> plugins.server().nereid().model("choosy"));
    assertTrue(
        refused.getMessage().contains("says which requests go together"), refused.getMessage());
  }
}

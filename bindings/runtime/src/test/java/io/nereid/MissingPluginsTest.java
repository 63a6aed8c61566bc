package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.model.PluginOptions;
import io.nereid.model.RepositoryOptions;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The runtime's own class path has nothing that runs plug-ins made for Triton: failures say so. */
class MissingPluginsTest {

  private static final String ADVICE = "needs nereid-triton on the class path";

  @TempDir private Path models;

  @BeforeEach
  void writeModels() throws IOException {
    write("python", "backend: \"python\"");
    write("preferred", "backend: \"identity\"");
    write(
        "guarded", "backend: \"identity\" model_repository_agents { agents { name: \"check\" } }");
  }

  private void write(String name, String config) throws IOException {
    Path version = Files.createDirectories(models.resolve(name).resolve("1"));
    Files.writeString(version.resolve("model.py"), "import numpy");
    Files.writeString(
        models.resolve(name).resolve("config.pbtxt"),
        config
            + " input { name: \"IN\" data_type: TYPE_FP32 dims: [ 1 ] }"
            + " output { name: \"OUT\" data_type: TYPE_FP32 dims: [ 1 ] }");
  }

  private NereidException failure(PluginOptions plugins, Consumer<Nereid> load) {
    RepositoryOptions repository =
        RepositoryOptions.builder().repository(models).explicit().build();
    NereidOptions options = NereidOptions.builder().plugins(plugins).build();
    try (Nereid nereid = Nereid.open(repository, options)) {
      return assertThrows(NereidException.class, () -> load.accept(nereid));
    }
  }

  @Test
  void aModelNamesTheArtifactThatRunsItsBackend() {
    NereidException failure =
        failure(PluginOptions.DEFAULT, nereid -> nereid.repository().load("python"));
    assertTrue(failure.getMessage().contains("nor a plug-in: a plug-in " + ADVICE), "" + failure);
    ModelSpec spec =
        ModelSpec.builder("program")
            .backend("probe")
            .input("IN", DataType.FP32, 1)
            .output("OUT", DataType.FP32, 1)
            .build();
    failure = failure(PluginOptions.DEFAULT, nereid -> nereid.load(spec));
    assertTrue(failure.getMessage().contains("nor a plug-in: a plug-in " + ADVICE), "" + failure);
  }

  @Test
  void aModelWhosePluginIsPreferredNamesIt() {
    PluginOptions plugins =
        PluginOptions.builder().backend("identity", PluginOptions.IMPLEMENTATION, "plugin").build();
    NereidException failure = failure(plugins, nereid -> nereid.repository().load("preferred"));
    assertTrue(
        failure
            .getMessage()
            .contains("backend 'identity' of model 'preferred' is a plug-in, which " + ADVICE),
        "" + failure);
  }

  @Test
  void aRepositoryAgentNamesIt() {
    NereidException failure =
        failure(PluginOptions.DEFAULT, nereid -> nereid.repository().load("guarded"));
    assertTrue(
        failure
            .getMessage()
            .contains("repository agent 'check' of model 'guarded' is a plug-in, which " + ADVICE),
        "" + failure);
  }

  @Test
  void aResponseCacheNamesIt() {
    PluginOptions plugins = PluginOptions.builder().cache("redis", "host", "localhost").build();
    NereidOptions options = NereidOptions.builder().plugins(plugins).build();
    NereidException failure =
        assertThrows(NereidException.class, () -> Nereid.create(options).close());
    assertEquals(StatusCode.UNAVAILABLE, failure.code());
    assertEquals("response cache 'redis' is a plug-in, which " + ADVICE, failure.getMessage());
  }

  @Test
  void theCheckOfARepositoryNamesIt() {
    String checked =
        ""
            + Repository.check(
                RepositoryOptions.builder().repository(models).build(), PluginOptions.DEFAULT);
    assertTrue(checked.contains("backend 'python': a plug-in " + ADVICE), checked);
    assertTrue(
        checked.contains("repository agent 'check': it is a plug-in, which " + ADVICE), checked);
  }
}

package io.nereid.client;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.NereidOptions;
import io.nereid.model.PluginOptions;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;

/** A server with the plug-ins of native/test/triton. */
final class PluginFixture implements AutoCloseable {

  /** Where the native tests of the build leave them. */
  private static final Path BUILT = Path.of("..", "build", "release", "test", "triton");

  private final Path directory;
  private NereidServer server;

  PluginFixture(Path directory) {
    assumeTrue(
        Files.exists(BUILT.resolve("libtriton_probe.so")),
        "the native tests were not built, and with them the plug-ins");
    this.directory = directory;
  }

  /** What the build calls {@code libtriton_NAME.so}. */
  static Path built(String name) {
    return BUILT.resolve("libtriton_" + name + ".so");
  }

  /** Where the models are. */
  Path models() {
    return directory.resolve("models");
  }

  PluginFixture backend(String name) throws IOException {
    return plugin("backends", "libtriton_", name);
  }

  PluginFixture cache(String name) throws IOException {
    return plugin("caches", "libtritoncache_", name);
  }

  PluginFixture agent(String name) throws IOException {
    return plugin("repoagents", "libtritonrepoagent_", name);
  }

  private PluginFixture plugin(String kind, String prefix, String name) throws IOException {
    Path to = Files.createDirectories(directory.resolve(kind).resolve(name));
    Files.copy(built(name), to.resolve(prefix + name + ".so"));
    return this;
  }

  /** A model with an input and an output of INT32. */
  PluginFixture model(String name, String settings) throws IOException {
    Path to = Files.createDirectories(models().resolve(name));
    Files.createDirectories(to.resolve("1"));
    Files.writeString(
        to.resolve("config.pbtxt"),
        settings
            + """

            input { name: "INPUT0" data_type: TYPE_INT32 dims: [ -1 ] }
            output { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ -1 ] }
            """);
    return this;
  }

  /** The options of plug-ins, with the directories. */
  PluginOptions.Builder plugins() {
    return PluginOptions.builder()
        .backendDirectory(directory.resolve("backends"))
        .cacheDirectory(directory.resolve("caches"))
        .agentDirectory(directory.resolve("repoagents"));
  }

  PluginFixture start(PluginOptions.Builder plugins, UnaryOperator<ServerOptions> more)
      throws IOException {
    server =
        NereidServer.start(
            more.apply(
                ServerOptions.DEFAULT
                    .withGrpc(GrpcOptions.DEFAULT)
                    .withRepository(
                        RepositoryOptions.builder().repository(models()).explicit("*").build())
                    .withRuntime(NereidOptions.builder().plugins(plugins.build()).build())));
    return this;
  }

  NereidServer server() {
    return server;
  }

  InferenceClient connect(String protocol) {
    return InferenceClient.connect(
        protocol.equals("http")
            ? "http://127.0.0.1:" + server.httpPort()
            : "grpc://127.0.0.1:" + server.grpcPort().orElseThrow());
  }

  static InferRequest.Builder ints(String model, int... values) {
    return InferRequest.builder(model).input("INPUT0", Tensor.ofInts(values, 1, values.length));
  }

  @Override
  public void close() {
    if (server != null) {
      ServerFixture.await(() -> server.nereid().poolStatistics().liveBuffers() == 0);
      server.close();
    }
  }
}

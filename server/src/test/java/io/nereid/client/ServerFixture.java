package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.types.DataType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A server of its own for each test, and a client of it over one of the protocols. */
abstract class ServerFixture {

  private static final String CONFIG =
      """
      backend: "identity"
      max_batch_size: 4
      input { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] }
      output { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] }
      """;

  @TempDir Path repository;
  NereidServer server;
  InferenceClient client;

  /** Where the server is for the protocol. */
  abstract String address(NereidServer server);

  /** What it needs to serve the protocol. */
  abstract ServerOptions options(ServerOptions standard);

  @BeforeEach
  void start() throws Exception {
    Files.createDirectories(repository.resolve("m/1"));
    Files.writeString(repository.resolve("m/config.pbtxt"), CONFIG);
    Files.createDirectories(repository.resolve("broken/1"));
    Files.writeString(repository.resolve("broken/config.pbtxt"), "backend: \"none\"");
    server =
        NereidServer.start(
            options(ServerOptions.DEFAULT)
                .withAllowClientShm(true)
                .withRepository(
                    RepositoryOptions.builder().repository(repository).explicit("m").build()));
    client = InferenceClient.connect(address(server));
  }

  @AfterEach
  void stop() {
    client.close();
    await(() -> server.nereid().poolStatistics().liveBuffers() == 0);
    server.close();
  }

  static void await(BooleanSupplier condition) {
    long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadlineNs, "it did not come true");
      LockSupport.parkNanos(2_000_000);
    }
  }

  void loadIdentity(DataType type) {
    server
        .nereid()
        .load(
            ModelSpec.builder(type.name())
                .backend("identity")
                .input("IN", type, -1, -1)
                .output("OUT", type, -1, -1)
                .build());
  }
}

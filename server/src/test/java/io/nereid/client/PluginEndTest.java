package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Repository;
import io.nereid.model.RepositoryOptions;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The end of a backend whose last model is unloaded while another is loaded: "lingering" of
 * native/test/triton.
 */
class PluginEndTest {

  private static final Logger LOGGER = Logger.getLogger("io.nereid.plugin");

  @TempDir private Path directory;

  /** Opens a latch when the backend says that it ends. */
  private static final class Listener extends Handler {
    private final CountDownLatch ends = new CountDownLatch(1);

    @Override
    public void publish(LogRecord line) {
      if (line.getMessage().contains("lingers")) {
        ends.countDown();
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @Test
  void aLoadWaitsForTheEndOfItsBackend() throws Exception {
    Listener listener = new Listener();
    LOGGER.addHandler(listener);
    try (PluginFixture plugins = new PluginFixture(directory).backend("lingering")) {
      plugins
          .model("first", "backend: \"lingering\"")
          .model("second", "backend: \"lingering\"")
          .start(
              plugins.plugins(),
              options ->
                  options.withRepository(
                      RepositoryOptions.builder()
                          .repository(plugins.models())
                          .explicit("first")
                          .build()));
      Repository repository = plugins.server().nereid().repository();
      Thread unload = Thread.ofVirtual().start(() -> repository.unload("first"));
      listener.ends.await();
      repository.load("second");
      unload.join();
      assertTrue(plugins.server().nereid().model("second").isReady());
    } finally {
      LOGGER.removeHandler(listener);
    }
  }
}

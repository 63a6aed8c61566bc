package io.nereid;

import static io.nereid.RepositoryFixture.IDENTITY;
import static io.nereid.RepositoryFixture.index;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Log messages for operators about models that come and go. */
class LoadLogTest {

  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Logger logger = Logger.getLogger("io.nereid.load");
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord line) {
          if (line.getMessage().contains("'logged'")) {
            lines.add(line.getLevel() + " " + line.getMessage());
          }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @TempDir Path directory;

  private Level level;

  @BeforeEach
  void listen() {
    level = logger.getLevel();
    logger.setLevel(Level.INFO);
    logger.addHandler(handler);
  }

  @AfterEach
  void listenNoMore() {
    logger.removeHandler(handler);
    logger.setLevel(level);
  }

  @Test
  void unloadingIsLogged() throws IOException {
    RepositoryFixture repository = new RepositoryFixture(directory);
    repository.model("logged", IDENTITY, 1);
    try (Nereid nereid = Nereid.open(repository.options().explicit("logged").build())) {
      lines.clear();
      nereid.repository().unload("logged");
      assertEquals(List.of(Level.INFO + " model 'logged' version 1 is unloaded"), lines);
    }
  }

  @Test
  void aVersionThatIsAskedForAndNotThereIsAnError() throws IOException {
    RepositoryFixture repository = new RepositoryFixture(directory);
    String policy = "version_policy { specific { versions: [ 1, 4 ] } }";
    repository.model("logged", IDENTITY + policy, 1);
    try (Nereid nereid = Nereid.open(directory)) {
      assertEquals(List.of("logged/1 READY"), index(nereid));
      assertEquals(
          Level.SEVERE
              + " version 4 is specified for model 'logged', but the version directory is not present",
          lines.getFirst());
    }
  }
}

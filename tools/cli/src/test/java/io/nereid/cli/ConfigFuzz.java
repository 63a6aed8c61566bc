package io.nereid.cli;

import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.Repository;
import io.nereid.model.CheckedModel;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.PluginOptions;
import io.nereid.model.RepositoryOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A target for fuzzing: any bytes as the config.pbtxt of a model. It is refused for a reason that
 * was foreseen, or it is taken; what it is served with is then, written again, the same.
 */
public final class ConfigFuzz {

  private static final String UNFORESEEN = "the model cannot be read";

  private static ConfigFuzz instance;

  private final Path config;
  private final RepositoryOptions options;
  private final Nereid nereid;

  private ConfigFuzz() throws IOException {
    Path repository = Files.createTempDirectory("nereid-configs");
    config = repository.resolve("m/config.pbtxt");
    Files.createDirectories(repository.resolve("m/1"));
    options = RepositoryOptions.builder().repository(repository).explicit().build();
    nereid = Nereid.open(options, NereidOptions.DEFAULT);
  }

  /** Jazzer calls it. */
  public static synchronized void fuzzerTestOneInput(byte[] bytes) throws IOException {
    if (instance == null) {
      instance = new ConfigFuzz();
    }
    instance.read(bytes);
  }

  private void read(byte[] bytes) throws IOException {
    Files.write(config, bytes);
    // A reason may quote these words from the file.
    boolean quotes = new String(bytes, StandardCharsets.ISO_8859_1).contains(UNFORESEEN);
    for (CheckedModel model : Repository.check(options, PluginOptions.DEFAULT)) {
      for (CheckedModel.Finding finding : model.findings()) {
        expect(quotes || !finding.text().contains(UNFORESEEN), "a reason, got " + finding);
      }
    }
    Optional<String> first = served();
    if (first.isPresent()) {
      Files.writeString(config, first.get());
      Optional<String> second = served();
      expect(second.equals(first), "the same twice, got " + first + " and " + second);
    }
  }

  /** The text of the configuration that the model would be served with; empty: it is refused. */
  private Optional<String> served() {
    return nereid.repository().preview("m").versions().values().stream()
        .map(ModelConfiguration::toText)
        .findFirst();
  }

  private void expect(boolean holds, String what) throws IOException {
    if (!holds) {
      throw new AssertionError(
          "expected " + what + " of " + Files.readString(config, StandardCharsets.ISO_8859_1));
    }
  }
}

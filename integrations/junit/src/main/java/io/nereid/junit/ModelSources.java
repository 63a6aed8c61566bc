package io.nereid.junit;

import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.ModelFile;
import io.nereid.model.RepositoryOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** Opens the models that {@link WithModel} names. */
final class ModelSources {

  /** Short, because a long wait would not close requests that a test left open. */
  private static final Duration DRAIN_TIME = Duration.ofSeconds(1);

  private ModelSources() {}

  static Nereid open(WithModel said) {
    RepositoryOptions.Builder repositories = RepositoryOptions.builder();
    Map<String, URL> packed = new LinkedHashMap<>();
    boolean named = false;
    for (String source : said.value()) {
      Path path =
          source.startsWith(WithModel.CLASS_PATH)
              ? unpacked(source.substring(WithModel.CLASS_PATH.length()), packed)
              : existing(source);
      if (path != null) {
        repositories.repository(path);
        named = true;
      }
    }
    if (said.models().length > 0) {
      repositories.explicit(said.models());
    }
    NereidOptions options = NereidOptions.builder().drainTimeout(DRAIN_TIME).build();
    Nereid nereid = named ? Nereid.open(repositories.build(), options) : Nereid.create(options);
    try {
      packed.forEach((name, url) -> load(nereid, name, url));
      return nereid;
    } catch (RuntimeException e) {
      nereid.close();
      throw e;
    }
  }

  private static Path existing(String source) {
    Path path = Path.of(source);
    if (!Files.exists(path)) {
      throw new IllegalArgumentException(
          "expected a model repository or a file NAME.onnx, got '%s', which is not in %s"
              .formatted(source, Path.of("").toAbsolutePath()));
    }
    return path;
  }

  /**
   * Returns the path of a resource in a directory; null: it is in a jar, and was added to {@code
   * packed}.
   */
  private static Path unpacked(String resource, Map<String, URL> packed) {
    String name = resource.startsWith("/") ? resource.substring(1) : resource;
    URL url = Thread.currentThread().getContextClassLoader().getResource(name);
    if (url == null) {
      throw new IllegalArgumentException(
          "expected a resource on the class path, got '" + resource + "'");
    }
    if (url.getProtocol().equals("file")) {
      return Path.of(URI.create(url.toString()));
    }
    if (!ModelFile.isNamed(name)) {
      throw new IllegalArgumentException(
          "expected a file NAME.onnx in a jar, got '%s': repositories have to be directories"
              .formatted(resource));
    }
    String last = name.substring(name.lastIndexOf('/') + 1);
    packed.put(last.substring(0, last.lastIndexOf('.')), url);
    return null;
  }

  private static void load(Nereid nereid, String name, URL url) {
    try (InputStream file = url.openStream()) {
      nereid.load(name, file);
    } catch (IOException e) {
      throw new UncheckedIOException(url + " cannot be read", e);
    }
  }
}

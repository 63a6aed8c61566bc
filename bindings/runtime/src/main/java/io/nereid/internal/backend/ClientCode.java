package io.nereid.internal.backend;

import io.nereid.internal.config.PluginDraft;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Recognizes files, among those sent along with a load, that a plug-in would run as code. Other
 * uses of a file are the plug-in's business.
 */
public final class ClientCode {

  private static final String PYTHON = "python";

  /**
   * Endings of shared libraries, of Python's files, and of PyTorch's files that contain libraries.
   */
  private static final List<String> ENDINGS = List.of(".so", ".py", ".pyc", ".pyz", ".pt2");

  private static final byte[] LIBRARY = {0x7f, 'E', 'L', 'F'};

  private ClientCode() {}

  /**
   * Throws when there is code.
   *
   * @param directory has the files that came with the load, after the repository agents have run
   */
  public static void check(PluginDraft draft, Path directory) {
    String reason = "";
    if (draft.opening().backendName().equals(PYTHON)) {
      reason = "its backend 'python' runs the model's files as code";
    } else if (draft.operators()) {
      reason = "it names a library of custom operators (model_operations)";
    } else {
      reason = first(directory).map(file -> "'" + file + "' would run as code").orElse("");
    }
    if (!reason.isEmpty()) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          ("model '%s' is to be loaded from files that came with the request, and %s: expected "
                  + "files that are data, or a server that was started with --allow-client-code")
              .formatted(draft.name(), reason));
    }
  }

  private static Optional<String> first(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(Files::isRegularFile)
          .filter(ClientCode::isCode)
          .map(file -> directory.relativize(file).toString())
          .sorted()
          .findFirst();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isCode(Path file) {
    String name = file.getFileName().toString();
    if (ENDINGS.stream().anyMatch(name::endsWith) || name.contains(".so.")) {
      return true;
    }
    try (InputStream content = Files.newInputStream(file)) {
      return Arrays.equals(content.readNBytes(LIBRARY.length), LIBRARY);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

package io.nereid.internal.repository;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Removes this machine's paths from messages to clients; the log keeps them. Libraries name files
 * in free text, so the text is searched.
 */
public final class ServerPaths {

  /** An absolute path that does not continue another word. */
  private static final Pattern PATH = Pattern.compile("(?<![\\w.:/~-])(?:/[\\w.+@=,~-]+)+");

  private ServerPaths() {}

  /**
   * The message without paths.
   *
   * @param models directories of a model: their files are shown relative to them, behind the
   *     model's name and, if there are several, the repository's; other files keep only their own
   *     name
   */
  public static String hide(String message, List<Path> models) {
    String text = message;
    for (Path model : models) {
      int names = model.getNameCount();
      int shown = Math.min(names, models.size() > 1 ? 2 : 1);
      String name = model.subpath(names - shown, names).toString();
      text = text.replace(model.toString(), name);
      try {
        text = text.replace(model.toRealPath().toString(), name);
      } catch (IOException e) {
        // The directory is gone, so no file can have its name.
      }
    }
    return PATH.matcher(text).replaceAll(ServerPaths::shown);
  }

  /** Names of ONNX nodes look like paths but exist in no directory, so they are kept. */
  private static String shown(MatchResult found) {
    String text = found.group();
    try {
      Path path = Path.of(text);
      boolean there =
          Files.exists(path) || (path.getNameCount() > 1 && Files.isDirectory(path.getParent()));
      return Matcher.quoteReplacement(there ? path.getFileName().toString() : text);
    } catch (InvalidPathException e) {
      return Matcher.quoteReplacement(text);
    }
  }
}

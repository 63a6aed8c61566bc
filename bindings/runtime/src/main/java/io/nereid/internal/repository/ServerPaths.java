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
 * Paths in messages: where things lie on this machine is for its log, and no business of clients.
 * Libraries name files in texts of their own, so it is the text that is gone through.
 */
public final class ServerPaths {

  /** An absolute path, unless it goes on something that is none. */
  private static final Pattern PATH = Pattern.compile("(?<![\\w.:/~-])(?:/[\\w.+@=,~-]+)+");

  private ServerPaths() {}

  /**
   * The message without paths.
   *
   * @param models directories of a model: their files are named from there, beginning with the
   *     model's name, in front of which is the repository's where there are several; of other files
   *     nothing but their own name stays
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
        // It is gone: nothing is called by that name.
      }
    }
    return PATH.matcher(text).replaceAll(ServerPaths::shown);
  }

  /** Nodes of ONNX graphs have names like paths: those lead nowhere here. */
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

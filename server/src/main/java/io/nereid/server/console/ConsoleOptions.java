package io.nereid.server.console;

import io.nereid.server.options.RecordCopy;
import java.util.regex.Pattern;

/**
 * Says where the console is served. Make others from {@link #DEFAULT}.
 *
 * @param path where its first page is; begins and ends with a slash
 */
public record ConsoleOptions(String path) {

  private static final Pattern PATH = Pattern.compile("/([A-Za-z0-9._~-]+/)*");

  /** At the root. */
  public static final ConsoleOptions DEFAULT = new ConsoleOptions("/");

  /** Checks the path. */
  public ConsoleOptions {
    if (!isPath(path)) {
      throw new IllegalArgumentException(
          "expected a path such as /admin/, outside of /v2/, got '" + path + "'");
    }
  }

  /** True if the console can be there: the protocol's own paths are taken. */
  public static boolean isPath(String text) {
    return PATH.matcher(text).matches() && !text.startsWith("/v2/") && !text.contains("/../");
  }

  /** Returns a copy at another path. */
  public ConsoleOptions withPath(String another) {
    return RecordCopy.with(this, "path", another);
  }
}

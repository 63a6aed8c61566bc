package io.nereid.server.console;

import io.nereid.server.http.ConsoleProvider;
import io.nereid.server.options.RecordCopy;
import io.nereid.server.shared.ServerState;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * The options of the console. Make others from {@link #DEFAULT}.
 *
 * @param path the path of its first page; begins and ends with a slash
 * @param history how long figures are kept, from a minute to a week; they are sampled every ten
 *     seconds, or more often for less than an hour
 */
public record ConsoleOptions(String path, Duration history) implements ConsoleProvider {

  private static final Pattern PATH = Pattern.compile("/([A-Za-z0-9._~-]+/)*");

  /** The console at the root, with a history of an hour. */
  public static final ConsoleOptions DEFAULT = new ConsoleOptions("/", Duration.ofHours(1));

  /** Checks the path. */
  public ConsoleOptions {
    if (!isPath(path)) {
      throw new IllegalArgumentException(
          "expected a path such as /admin/, outside of /v2/, got '" + path + "'");
    }
    if (history.compareTo(Duration.ofMinutes(1)) < 0 || history.compareTo(Duration.ofDays(7)) > 0) {
      throw new IllegalArgumentException(
          "expected a history of a minute to 7 days, got " + history);
    }
  }

  @Override
  public Pages open(ServerState state) {
    return new Console(state, this);
  }

  /** True if the console can have this path, which is not one of the protocol's. */
  public static boolean isPath(String text) {
    return PATH.matcher(text).matches() && !text.startsWith("/v2/") && !text.contains("/../");
  }

  /** Returns a copy at another path. */
  public ConsoleOptions withPath(String another) {
    return RecordCopy.with(this, "path", another);
  }

  /** Returns a copy with another length of history. */
  public ConsoleOptions withHistory(Duration kept) {
    return RecordCopy.with(this, "history", kept);
  }
}

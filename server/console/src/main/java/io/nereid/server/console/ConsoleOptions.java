package io.nereid.server.console;

import io.nereid.server.http.ConsoleProvider;
import io.nereid.server.options.RecordCopy;
import io.nereid.server.shared.ServerState;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * Says where the console is served, and how much it keeps. Make others from {@link #DEFAULT}.
 *
 * @param path where its first page is; begins and ends with a slash
 * @param history how long it keeps what the models did, from a minute to a week; it looks at them
 *     every ten seconds, more often where this is less than an hour
 */
public record ConsoleOptions(String path, Duration history) implements ConsoleProvider {

  private static final Pattern PATH = Pattern.compile("/([A-Za-z0-9._~-]+/)*");

  /** At the root, with the last hour. */
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

  /** True if the console can be there: the protocol's own paths are taken. */
  public static boolean isPath(String text) {
    return PATH.matcher(text).matches() && !text.startsWith("/v2/") && !text.contains("/../");
  }

  /** Returns a copy at another path. */
  public ConsoleOptions withPath(String another) {
    return RecordCopy.with(this, "path", another);
  }

  /** Returns a copy that keeps what the models did for so long. */
  public ConsoleOptions withHistory(Duration kept) {
    return RecordCopy.with(this, "history", kept);
  }
}

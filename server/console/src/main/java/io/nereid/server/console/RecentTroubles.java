package io.nereid.server.console;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.server.metrics.Troubles;
import io.nereid.server.shared.ServerState;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The troubles of a server in the last minute. The thread of {@link ConsoleHistory} samples them,
 * even when the console is not open; any thread reads.
 */
final class RecentTroubles {

  private static final long MINUTE_NS = TimeUnit.MINUTES.toNanos(1);

  private record Look(long ns, Troubles troubles) {}

  private final ServerState state;

  /** The samples of the last minute, at least the last one. */
  @GuardedBy("this")
  private final Deque<Look> looks = new ArrayDeque<>();

  RecentTroubles(ServerState state) {
    this.state = state;
  }

  synchronized void look() {
    long nowNs = System.nanoTime();
    looks.add(new Look(nowNs, Troubles.of(state)));
    while (looks.size() > 1 && nowNs - looks.peek().ns > MINUTE_NS) {
      looks.remove();
    }
  }

  /** The troubles a minute ago; none if there is no sample yet, as the server has just started. */
  private synchronized Troubles aMinuteAgo() {
    return looks.isEmpty() ? new Troubles(Map.of()) : looks.element().troubles;
  }

  /** Each trouble, with its counts in the last minute and since the server's start. */
  List<ConsoleJson> json() {
    Troubles now = Troubles.of(state);
    Map<String, Long> minute = now.since(aMinuteAgo()).counts();
    return now.counts().entrySet().stream()
        .map(each ->
            new ConsoleJson()
                .with("what", each.getKey())
                .with("answer", Troubles.isAnswer(each.getKey()))
                .with("minute", minute.getOrDefault(each.getKey(), 0L))
                .with("total", each.getValue()))
        .toList();
  }
}

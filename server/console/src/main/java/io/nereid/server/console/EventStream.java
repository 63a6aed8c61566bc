package io.nereid.server.console;

import io.nereid.server.http.ConsoleProvider;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Events for one page. One thread takes them, one after the other, as fast as its client does; any
 * thread may wake it. Nothing is kept for a client that is slow.
 */
final class EventStream implements ConsoleProvider.Events {

  /** Shows that somebody is there, and notices when nobody is. */
  private static final byte[] NOTHING = ":\n\n".getBytes(StandardCharsets.US_ASCII);

  private static final int QUIET_LOOKS = 15;

  /** Makes the event of a snapshot for a page that has seen another one; null: it is over. */
  interface Source {
    byte[] event(Snapshot snapshot, long seen);
  }

  /**
   * Events that are made when something else than a snapshot has changed.
   *
   * @param changes grows with each change
   */
  record WhenChanged(String name, LongSupplier changes, Supplier<ConsoleJson> data) {}

  private final ConsoleFeed.View view;
  private final Source source;
  private long seen;
  private int quiet;

  private EventStream(ConsoleFeed.View view, Source source) {
    this.view = view;
    this.source = source;
  }

  static EventStream of(ConsoleFeed feed, Source source) {
    return new EventStream(feed.open(), source);
  }

  static EventStream of(ConsoleFeed feed, WhenChanged what) {
    long[] told = {-1};
    return of(
        feed,
        (snapshot, seen) -> {
          long now = what.changes.getAsLong();
          if (now == told[0]) {
            return NOTHING;
          }
          told[0] = now;
          return Snapshot.event(what.name, what.data.get());
        });
  }

  @Override
  public byte[] next() throws InterruptedException {
    Snapshot snapshot = view.next(seen);
    if (snapshot == null) {
      return null;
    }
    byte[] event = snapshot.seq() == seen ? NOTHING : source.event(snapshot, seen);
    seen = snapshot.seq();
    if (event != NOTHING) {
      quiet = 0;
    } else if (++quiet < QUIET_LOOKS) {
      return new byte[0];
    } else {
      quiet = 0;
    }
    return event;
  }

  @Override
  public void wake() {
    view.wake();
  }

  @Override
  public void close() {
    view.close();
  }
}

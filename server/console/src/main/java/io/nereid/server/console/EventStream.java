package io.nereid.server.console;

import io.nereid.server.http.ConsoleProvider;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Events for one page. One thread takes them, one after the other, as fast as its client does; any
 * thread may wake it. Nothing is buffered for a slow client.
 */
final class EventStream implements ConsoleProvider.Events {

  /** An empty event, which keeps the connection alive and detects that the client has gone. */
  private static final byte[] NOTHING = ":\n\n".getBytes(StandardCharsets.US_ASCII);

  private static final int QUIET_LOOKS = 15;

  /**
   * Makes the event of a snapshot for a page that has seen an earlier one; null: the stream has
   * ended.
   */
  interface Source {
    byte[] event(Snapshot snapshot, long seen);
  }

  /**
   * Events that are made when a counter other than the snapshot's changes.
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

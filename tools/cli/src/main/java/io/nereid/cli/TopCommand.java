package io.nereid.cli;

import io.nereid.perf.PerfException;
import io.nereid.perf.ServerConnection;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.jr.ob.JSON;

/** {@code nereid top}: shows the activity of a running server's models, refreshed periodically. */
@Command(
    name = "top",
    description = "Show what the models of a running server do, until it is ended.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Counts are those of a second. Keys in a terminal: q ends it, r sorts by requests,",
      "f by failures, t by time, p by p99, w by requests that wait, b by busy instances,",
      "m by model. Without a terminal the lines follow each other, and without colour.",
      "P99, waiting requests, instances and what was refused come from the metrics.",
      "",
      "Examples:",
      "  nereid top",
      "  nereid top -u grpc://host:8001 --delay 5 --sort time",
      "  nereid top --count 1 --json"
    })
final class TopCommand extends RemoteCommand {

  /** The columns by which lines are sorted. */
  enum Order {
    MODEL('m', Comparator.comparing(row -> row.activity().model())),
    REQUESTS('r', most(row -> row.activity().requests())),
    FAILURES('f', most(row -> row.activity().failures())),
    TIME('t', most(row -> row.activity().totalMs())),
    P99('p', most(TopRow::p99Ms)),
    WAITING('w', most(TopRow::waiting)),
    BUSY('b', most(TopRow::busy));

    private final char key;
    private final Comparator<TopRow> comparator;

    Order(char key, Comparator<TopRow> comparator) {
      this.key = key;
      this.comparator =
          comparator
              .thenComparing(row -> row.activity().model())
              .thenComparing(row -> row.activity().version());
    }

    /** Orders by a figure, the highest first and unknown ones last. */
    private static Comparator<TopRow> most(ToDoubleFunction<TopRow> figure) {
      return Comparator.comparingDouble(row -> {
        double value = figure.applyAsDouble(row);
        return Double.isNaN(value) ? Double.POSITIVE_INFINITY : -value;
      });
    }
  }

  @Option(
      names = {"-d", "--delay"},
      paramLabel = "SECONDS",
      description = "Time between two looks; ${DEFAULT-VALUE} by default.")
  private double delay = 2;

  @Option(
      names = {"-n", "--count"},
      paramLabel = "N",
      description = "End after so many looks; 0, the default: never.")
  private long count;

  @Option(
      names = "--sort",
      paramLabel = "model|requests|failures|time|p99|waiting|busy",
      description = "The order of the lines; requests by default.")
  private Order order = Order.REQUESTS;

  @Option(
      names = "--metrics-url",
      paramLabel = "URL",
      description =
          "Where the server's metrics are; by default at port 8002 of its host, if the server is at"
              + " port 8000 or 8001.")
  private String metricsUrl;

  @Override
  int run(ServerConnection server, PrintWriter out) throws IOException, InterruptedException {
    if (!(delay >= 0.1 && delay <= 3600)) {
      throw Arguments.wrong(command, "--delay from 0.1 to 3600 seconds", Double.toString(delay));
    }
    if (count < 0) {
      throw Arguments.wrong(command, "--count of 0 or more", Long.toString(count));
    }
    try (MetricsSource metrics = new MetricsSource(server, metricsPlace())) {
      TopLook first = TopLook.at(server, metrics); // a failure at the first look ends the command
      try (LiveScreen screen = json ? LiveScreen.none(out) : LiveScreen.open(out)) {
        boolean colour = screen.isLive() && command.commandLine().getColorScheme().ansi().enabled();
        TopView view = new TopView(server.toString(), first, metrics.absence(), colour);
        long beforeNs = first.ns();
        for (long i = 0; count == 0 || i < count; i++) {
          if (isEnded(screen)) {
            return 0;
          }
          beforeNs = show(server, metrics, view, beforeNs, screen);
        }
        return 0;
      }
    }
  }

  /** The address of the metrics on the command line; null: none. */
  private URI metricsPlace() {
    if (metricsUrl == null) {
      return null;
    }
    try {
      URI place = URI.create(metricsUrl);
      if (place.getHost() != null && Set.of("http", "https").contains(place.getScheme())) {
        return place;
      }
    } catch (IllegalArgumentException e) {
      // The text is no address.
    }
    throw Arguments.wrong(command, "--metrics-url as http://HOST:PORT/metrics", metricsUrl);
  }

  /** Waits for the next look or a key; true: the user ends the command. */
  private boolean isEnded(LiveScreen screen) throws IOException, InterruptedException {
    long untilNs = System.nanoTime() + (long) (delay * 1e9);
    for (long leftNs; (leftNs = untilNs - System.nanoTime()) > 0; ) {
      int key = screen.readKey(leftNs);
      if (key == 'q') {
        return true;
      }
      for (Order each : Order.values()) {
        order = each.key == key ? each : order;
      }
    }
    return false;
  }

  /** Shows one look; if the server does not answer, waits for it, since it may be restarting. */
  private long show(
      ServerConnection server,
      MetricsSource metrics,
      TopView view,
      long beforeNs,
      LiveScreen screen)
      throws IOException, InterruptedException {
    TopLook now;
    try {
      now = TopLook.at(server, metrics);
    } catch (PerfException e) {
      screen.show(List.of(view.title(e.getMessage())));
      return beforeNs;
    }
    List<TopRow> models = view.take(now, order.comparator);
    screen.show(
        json
            ? List.of(JSON.std.asString(view.inJson(models, (now.ns() - beforeNs) / 1e9)))
            : view.lines(models));
    return now.ns();
  }
}

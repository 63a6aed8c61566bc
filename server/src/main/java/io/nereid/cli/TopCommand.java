package io.nereid.cli;

import io.nereid.client.InferenceClient;
import io.nereid.client.ModelUsage;
import io.nereid.perf.PerfException;
import io.nereid.perf.ServerConnection;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.jr.ob.JSON;

/** {@code nereid top}: shows what the models of a running server do, again and again. */
@Command(
    name = "top",
    description = "Show what the models of a running server do, until it is ended.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Counts are those of a second. Keys in a terminal: q ends it, r sorts by requests,",
      "f by failures, t by time, m by model. Without a terminal the lines follow each other.",
      "",
      "Examples:",
      "  nereid top",
      "  nereid top -u grpc://host:8001 --delay 5 --sort time",
      "  nereid top --count 1 --json"
    })
final class TopCommand extends RemoteCommand {

  /** The columns by which lines are sorted. */
  enum Order {
    MODEL('m', Comparator.comparing(Activity::model)),
    REQUESTS('r', Comparator.comparing(Activity::requests).reversed()),
    FAILURES('f', Comparator.comparing(Activity::failures).reversed()),
    TIME('t', Comparator.comparing(Activity::totalMs).reversed());

    private final char key;
    private final Comparator<Activity> comparator;

    Order(char key, Comparator<Activity> comparator) {
      this.key = key;
      this.comparator = comparator.thenComparing(Activity::model).thenComparing(Activity::version);
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
      paramLabel = "model|requests|failures|time",
      description = "The order of the lines; requests by default.")
  private Order order = Order.REQUESTS;

  @Override
  int run(ServerConnection server, PrintWriter out) throws IOException, InterruptedException {
    if (!(delay >= 0.1 && delay <= 3600)) {
      throw Arguments.wrong(command, "--delay from 0.1 to 3600 seconds", Double.toString(delay));
    }
    if (count < 0) {
      throw Arguments.wrong(command, "--count of 0 or more", Long.toString(count));
    }
    Look look = Look.at(server); // one that fails now ends the command
    try (LiveScreen screen = json ? LiveScreen.none(out) : LiveScreen.open(out)) {
      for (long i = 0; count == 0 || i < count; i++) {
        if (isEnded(screen)) {
          return 0;
        }
        look = show(server, look, screen);
      }
      return 0;
    }
  }

  /** Waits for the next look; a key is heard at once. */
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

  /** A server that is away for a while is waited for: it may be restarting. */
  private Look show(ServerConnection server, Look before, LiveScreen screen) throws IOException {
    Look now;
    try {
      now = Look.at(server);
    } catch (PerfException e) {
      screen.show(List.of(title(server, e.getMessage())));
      return before;
    }
    List<Activity> models =
        now.models.values().stream()
            .map(model -> Activity.between(before.models.getOrDefault(key(model), model), model))
            .sorted(order.comparator)
            .toList();
    double seconds = (now.ns - before.ns) / 1e9;
    if (json) {
      screen.show(List.of(inJson(models, now.failed, seconds)));
    } else {
      screen.show(lines(server, models, now.failed, seconds));
    }
    return now;
  }

  private static List<String> lines(
      ServerConnection server, List<Activity> models, List<String> failed, double seconds) {
    long requests = models.stream().mapToLong(Activity::requests).sum();
    long failures = models.stream().mapToLong(Activity::failures).sum();
    Texts.Table table = Activity.table();
    models.forEach(each -> each.addRates(table, seconds));
    List<String> lines = table.lines();
    failed.forEach(each -> lines.addFirst(Texts.printable("failed: " + Texts.cut(each, 120))));
    lines.addFirst("");
    lines.addFirst(
        title(
            server,
            String.format(
                Locale.ROOT,
                "%d models, %s%.1f requests/s, %.1f failed/s",
                models.size(),
                failed.isEmpty() ? "" : failed.size() + " not loaded, ",
                requests / seconds,
                failures / seconds)));
    return lines;
  }

  private static String title(ServerConnection server, String text) {
    LocalTime now = LocalTime.now().truncatedTo(ChronoUnit.SECONDS);
    return Texts.printable("nereid top, " + server + ", " + now + ": " + text);
  }

  private static String inJson(List<Activity> models, List<String> failed, double seconds)
      throws IOException {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("seconds", seconds);
    object.put("failed", failed);
    object.put("models", models.stream().map(Activity::inJson).toList());
    return JSON.std.asString(object);
  }

  private static String key(ModelUsage model) {
    return model.name() + '\n' + model.version();
  }

  /** The versions that could not be loaded, with the reasons, where the server has an index. */
  private static List<String> notLoaded(ServerConnection server) {
    return server
        .askIfServed("expected the models of " + server, InferenceClient::repositoryIndex)
        .orElse(List.of())
        .stream()
        .filter(model -> model.state().equals("UNAVAILABLE") && !model.reason().equals("unloaded"))
        .map(model -> model.name() + " " + model.version() + ": " + model.reason())
        .sorted()
        .toList();
  }

  /**
   * What a server said at a moment.
   *
   * @param models the statistics of the models that serve
   * @param failed the versions that do not, with the reasons
   */
  private record Look(long ns, Map<String, ModelUsage> models, List<String> failed) {

    static Look at(ServerConnection server) {
      Map<String, ModelUsage> models = new HashMap<>();
      StatsCommand.usage(server, null).forEach(model -> models.put(key(model), model));
      return new Look(System.nanoTime(), models, notLoaded(server));
    }
  }
}

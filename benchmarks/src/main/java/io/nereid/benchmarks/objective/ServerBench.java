package io.nereid.benchmarks.objective;

import io.nereid.perf.report.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * Measures models with an objective beside static settings on a server. All are served by one
 * process and take turns under each load.
 */
@Command(
    name = "objective --server",
    mixinStandardHelpOptions = true,
    description = {
      "Measures models with an objective beside a grid of static settings on a real server, in an",
      "open loop; all take turns in one run. MiniLM and the detector of text are measured where",
      "'./dev bench peers' has run."
    },
    sortOptions = false)
public final class ServerBench implements Callable<Integer> {

  private static final List<Double> LOADS =
      List.of(0.25, 0.5, ServerFigures.FEASIBLE, ServerFigures.TWICE);

  @Option(names = "--project", required = true, hidden = true)
  private Path project;

  @Option(
      names = "--model",
      split = ",",
      paramLabel = "NAME",
      description =
          "of flat, mlp, digits, minilm and detector; all that there are unless said otherwise")
  private List<String> names = List.of();

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "for each setting, load and round; 6 unless said otherwise")
  private double seconds = 6;

  @Option(names = "--rounds", paramLabel = "N", description = "of turns; 2 unless said otherwise")
  private int rounds = 2;

  @Option(
      names = "--settings",
      paramLabel = "N",
      description = "of the grid, the first so many from 2 on; all 12 unless said otherwise")
  private int settings = 12;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "where reports go; build/objective unless said otherwise")
  private Path out = Path.of("build", "objective");

  /** Started by {@code ./dev}. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new ServerBench()).execute(args));
  }

  /** Made by the command line. */
  public ServerBench() {}

  @Override
  public Integer call() throws IOException {
    List<ServedModel> all = ServedModel.all(project);
    for (String name : names) {
      if (all.stream().noneMatch(model -> model.name().equals(name))) {
        throw new ParameterException(
            new CommandLine(this),
            "expected --model of "
                + all.stream().map(ServedModel::name).toList()
                + ", which are here, got '"
                + name
                + "'");
      }
    }
    if (settings < 2 || settings > 12) {
      throw new ParameterException(
          new CommandLine(this), "expected --settings from 2 to 12, got " + settings);
    }
    Files.createDirectories(out);
    List<ServerFigures> figures = new ArrayList<>();
    for (ServedModel model : all) {
      if (names.isEmpty() || names.contains(model.name())) {
        figures.add(measure(model));
      }
    }
    Files.writeString(
        out.resolve("server.json"), Json.text(figures.stream().map(ServerFigures::json).toList()));
    Path page = Files.writeString(out.resolve("server.html"), ServerPage.of(figures));
    System.out.println("The report is " + page);
    return 0;
  }

  private ServerFigures measure(ServedModel model) throws IOException {
    Path repository = out.resolve("models").resolve(model.name());
    delete(repository);
    model.write(repository);
    List<Setting> taken = Setting.all(model).subList(0, 1 + settings);
    try (ServerRun server = new ServerRun(repository, out)) {
      double capacity = capacity(server, model);
      say("%s: %.0f requests/s when nobody minds how late", model.name(), capacity);
      Map<Setting, Map<Double, List<ServerFigures.Cell>>> rounds = new LinkedHashMap<>();
      for (Setting setting : taken) {
        Map<Double, List<ServerFigures.Cell>> loads = new LinkedHashMap<>();
        for (double load : LOADS) {
          loads.put(load, new ArrayList<>());
        }
        rounds.put(setting, loads);
      }
      Random random = new Random(1);
      for (int round = 0; round < this.rounds; round++) {
        for (double load : LOADS) {
          List<Setting> turns = new ArrayList<>(taken);
          Collections.shuffle(turns, random);
          for (Setting setting : turns) {
            rounds.get(setting).get(load).add(cell(server, model, setting, load * capacity));
          }
        }
      }
      Map<Setting, Map<Double, ServerFigures.Cell>> cells = new LinkedHashMap<>();
      rounds.forEach((setting, loads) -> {
        Map<Double, ServerFigures.Cell> means = new LinkedHashMap<>();
        loads.forEach((load, all) -> means.put(load, ServerFigures.Cell.mean(all)));
        cells.put(setting, means);
      });
      return step(server, new ServerFigures(model, capacity, LOADS, cells, Map.of(), Map.of()));
    }
  }

  /** Doubles the load for a while, for ours and the best static settings, and watches. */
  private ServerFigures step(ServerRun server, ServerFigures figures) throws IOException {
    Map<Setting, List<OverTime.Sample>> steps = new LinkedHashMap<>();
    for (Setting setting :
        List.of(
            figures.ours(),
            figures.bestSingle(Setting::timeout),
            figures.bestSingle(any -> !any.timeout()))) {
      OverTime watch = new OverTime(server, setting.name());
      try (watch) {
        for (double load :
            List.of(ServerFigures.FEASIBLE, ServerFigures.TWICE, ServerFigures.FEASIBLE)) {
          cell(server, figures.model(), setting, load * figures.capacity());
        }
      }
      steps.put(setting, watch.samples());
    }
    return new ServerFigures(
        figures.model(),
        figures.capacity(),
        figures.loads(),
        figures.cells(),
        steps,
        learned(server, figures.ours()));
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> learned(ServerRun server, Setting ours) throws IOException {
    Object objective = server.statistics(ours.name()).get("objective");
    return objective == null ? Map.of() : (Map<String, Object>) objective;
  }

  /** With batches as large as they get, and always something that waits. */
  private double capacity(ServerRun server, ServedModel model) throws IOException {
    Setting largest =
        Setting.all(model).stream()
            .filter(setting -> setting.name().endsWith("_d0_p" + model.maxBatchSize()))
            .findFirst()
            .orElseThrow();
    List<String> arguments = new ArrayList<>(model.requests());
    arguments.add("--concurrency=" + 4 * model.maxBatchSize());
    arguments.addAll(windows());
    return number(server.load(largest.name(), arguments), "requests_per_s");
  }

  private List<String> windows() {
    long windowMs = Math.max(1, Math.round(seconds * 1000 / 3));
    return List.of("-p", "" + windowMs, "-r", "3", "-s", "1000000", "--warm-up", "1000");
  }

  private ServerFigures.Cell cell(ServerRun server, ServedModel model, Setting setting, double rate)
      throws IOException {
    List<String> arguments = new ArrayList<>(model.requests());
    arguments.add(String.format(Locale.ROOT, "--rate=%.1f", rate));
    arguments.addAll(List.of("--poisson", "--max-outstanding=2000"));
    arguments.add("--within=" + model.objectiveMs());
    arguments.addAll(windows());
    Map<String, Object> result = server.load(setting.name(), arguments);
    if (result.isEmpty()) {
      return new ServerFigures.Cell(0, 0, 0, rate);
    }
    ServerFigures.Cell cell =
        new ServerFigures.Cell(
            number(result, "within_per_s"),
            number(result, "requests_per_s"),
            number(result, "latency_p99_us") / 1e3,
            number(result, "errors") / number(result, "measured_s"));
    say(
        "%-44s %8.0f/s due: %8.0f in time, %8.0f answered, p99 %8.1f ms",
        setting.text(), rate, cell.goodput(), cell.answered(), cell.p99Ms());
    return cell;
  }

  private static double number(Map<String, Object> fields, String name) {
    return fields.get(name) instanceof Number number ? number.doubleValue() : 0;
  }

  private static void say(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }

  private static void delete(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Collections.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}

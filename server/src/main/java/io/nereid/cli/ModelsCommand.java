package io.nereid.cli;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelEvent;
import io.nereid.model.ModelIndexEntry;
import io.nereid.model.ModelIndexEntry.State;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.TensorSpec;
import io.nereid.statistics.MemoryUsage;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.jr.ob.JSON;

/** {@code nereid models}: loads what model repositories hold, and lists it. */
@Command(
    name = "models",
    description = "Load a model repository and list its models.",
    mixinStandardHelpOptions = true)
final class ModelsCommand implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Parameters(
      arity = "0..1",
      paramLabel = "DIR",
      description = "A model repository; the bundled examples by default.")
  private Path repository;

  @Mixin private ControlArguments control;

  @Mixin private PluginArguments plugins;

  @Option(names = "--json", description = "Print JSON instead of a table.")
  private boolean json;

  @Option(
      names = "--watch",
      description = "In mode poll: stay, and tell what becomes of the models, until Ctrl-C.")
  private boolean watch;

  @Override
  public Integer call() throws IOException {
    if (watch && !control.isPolling()) {
      throw new ParameterException(
          command.commandLine(), "--watch needs --model-control-mode poll");
    }
    RepositoryArguments.muteLoadLog(); // the list has the reasons
    try (Nereid nereid = open()) {
      List<ModelIndexEntry> index = nereid.repository().index();
      if (json) {
        printJson(nereid, index);
      } else {
        printTable(nereid, index);
      }
      if (watch) {
        watch(nereid);
      }
      return index.stream().anyMatch(entry -> entry.state() == State.UNAVAILABLE) ? 1 : 0;
    }
  }

  private Nereid open() {
    try (TerminalBar.OfLoads progress = new TerminalBar.OfLoads()) {
      RepositoryOptions.Builder models = control.options(repository).listener(progress);
      plugins.apply(models);
      NereidOptions options = NereidOptions.builder().plugins(plugins.options().build()).build();
      Nereid nereid = Nereid.open(models.build(), options);
      nereid.removeListener(progress);
      return nereid;
    }
  }

  /** Prints a line for each event, until the thread is interrupted. */
  private void watch(Nereid nereid) {
    PrintWriter out = command.commandLine().getOut();
    nereid.addListener(event -> out.println(Texts.printable(line(event))));
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static String line(ModelEvent event) {
    String what =
        switch (event) {
          case ModelEvent.Waiting waiting -> "waits to be loaded";
          case ModelEvent.Loading loading -> "is being loaded";
          case ModelEvent.Ready ready ->
              "is ready after " + ready.times().total().toMillis() + " ms";
          case ModelEvent.Replaced replaced -> "has taken over";
          case ModelEvent.Draining draining -> "finishes what it has";
          case ModelEvent.Unloaded unloaded -> "is unloaded";
          case ModelEvent.Failed failed -> "was not loaded: " + failed.cause().getMessage();
        };
    return event.model()
        + (event.version() == 0 ? " " : " version " + event.version() + " ")
        + what;
  }

  private void printTable(Nereid nereid, List<ModelIndexEntry> index) {
    PrintWriter out = command.commandLine().getOut();
    if (index.isEmpty()) {
      String where =
          control.directories(repository).stream()
              .map(Path::toString)
              .collect(Collectors.joining(", "));
      out.println("No models in " + where);
      return;
    }
    Texts.Table table =
        new Texts.Table("MODEL", "VERSION", "STATE", "BACKEND", "BATCH", "INPUTS", "OUTPUTS");
    for (ModelIndexEntry entry : index) {
      String version = entry.version().isEmpty() ? "-" : "" + entry.version().getAsLong();
      if (entry.state() == State.READY) {
        ModelSpec spec = model(nereid, entry).spec();
        table.add(
            entry.name(),
            version,
            "READY",
            backend(spec),
            spec.maxBatchSize() == 0 ? "-" : Long.toString(spec.maxBatchSize()),
            tensors(spec.inputs()),
            tensors(spec.outputs()));
      } else {
        String state = entry.state() == State.UNKNOWN ? "-" : entry.state().toString();
        table.add(entry.name(), version, state, "-", "-", "-", "-");
      }
    }
    table.print(out);
    for (ModelIndexEntry entry : index) {
      if (!entry.reason().isEmpty()) {
        out.println();
        out.println(Texts.printable(title(entry) + ": " + entry.reason()));
      }
    }
  }

  /** It may have left since the index was made; what it was loaded from is known all the same. */
  private static Model model(Nereid nereid, ModelIndexEntry entry) {
    return nereid.models().stream()
        .filter(model -> model.name().equals(entry.name()))
        .filter(model -> model.version() == entry.version().getAsLong())
        .findFirst()
        .orElseGet(() -> nereid.model(entry.name(), entry.version().getAsLong()));
  }

  private static String backend(ModelSpec spec) {
    return spec.ensemble().isPresent() ? "ensemble" : spec.backendName();
  }

  private static String title(ModelIndexEntry entry) {
    return entry.name()
        + (entry.version().isEmpty() ? "" : " version " + entry.version().getAsLong());
  }

  private static String tensors(List<TensorSpec> specs) {
    return specs.stream()
        .map(spec ->
            spec.name() + " " + spec.dataType() + spec.dims() + (spec.optional() ? "?" : ""))
        .map(text -> text.replace(", ", ","))
        .collect(Collectors.joining(", "));
  }

  private void printJson(Nereid nereid, List<ModelIndexEntry> index) throws IOException {
    List<Map<String, Object>> list = new ArrayList<>();
    for (ModelIndexEntry entry : index) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("name", entry.name());
      entry.version().ifPresent(version -> object.put("version", Long.toString(version)));
      if (entry.state() != State.UNKNOWN) {
        object.put("state", entry.state().toString());
      }
      if (!entry.reason().isEmpty()) {
        object.put("reason", entry.reason());
      }
      if (entry.state() == State.READY) {
        describe(model(nereid, entry), object);
      }
      list.add(object);
    }
    command
        .commandLine()
        .getOut()
        .println(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(list));
  }

  private static void describe(Model model, Map<String, Object> object) {
    ModelSpec spec = model.spec();
    object.put("backend", backend(spec));
    object.put("max_batch_size", spec.maxBatchSize());
    object.put("inputs", describe(spec.inputs()));
    object.put("outputs", describe(spec.outputs()));
    LoadTimes times = model.loadTimes();
    Map<String, Object> loadUs = new LinkedHashMap<>();
    loadUs.put("read", us(times.read()));
    loadUs.put("parse", us(times.parse()));
    loadUs.put("session", us(times.session()));
    loadUs.put("warm_up", us(times.warmUp()));
    object.put("load_us", loadUs);
    MemoryUsage memory = model.memoryUsage();
    Map<String, Object> memoryBytes = new LinkedHashMap<>();
    memoryBytes.put("weights", memory.weights());
    memoryBytes.put("working", memory.working());
    memoryBytes.put("pool", memory.pool());
    object.put("memory_bytes", memoryBytes);
  }

  private static long us(Duration time) {
    return time.toNanos() / 1000;
  }

  private static List<Map<String, Object>> describe(List<TensorSpec> specs) {
    List<Map<String, Object>> list = new ArrayList<>();
    for (TensorSpec spec : specs) {
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("name", spec.name());
      entry.put("datatype", spec.dataType().toString());
      entry.put("dims", spec.dims());
      if (spec.optional()) {
        entry.put("optional", true);
      }
      if (!spec.labels().isEmpty()) {
        entry.put("labels", spec.labels());
      }
      list.add(entry);
    }
    return list;
  }
}

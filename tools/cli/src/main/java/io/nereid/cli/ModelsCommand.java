package io.nereid.cli;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.client.IndexedModel;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelEvent;
import io.nereid.model.ModelIndexEntry;
import io.nereid.model.ModelIndexEntry.State;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelStore;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.TensorSpec;
import io.nereid.perf.ServerArguments;
import io.nereid.perf.ServerConnection;
import io.nereid.statistics.MemoryUsage;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nereid models}: lists the models of repositories, or of a running server. */
@Command(
    name = "models",
    description =
        "List the models of a running server, or load a model repository and list its models.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  nereid models DIR",
      "  nereid models -u localhost:8000",
      "  nereid models -u grpc://host:8001 --json"
    })
final class ModelsCommand implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Parameters(
      arity = "0..1",
      paramLabel = "DIR",
      description = "A model repository; the bundled examples by default.")
  private String repository;

  @Mixin private ServerArguments server;

  @Mixin private ControlArguments control;

  @Mixin private PluginArguments plugins;

  @Option(names = "--json", description = "Print JSON instead of a table.")
  private boolean json;

  @Option(names = "--names", description = "Print names alone, one a line, and load nothing.")
  private boolean namesOnly;

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
    return server.isGiven() ? listThere() : listHere();
  }

  private int listThere() throws IOException {
    if (watch || repository != null) {
      throw new ParameterException(
          command.commandLine(), "a server (-u) is asked, or a directory is read: expected one");
    }
    try (ServerConnection connection = RemoteCommand.connect(command, server)) {
      if (namesOnly) {
        return printNames(ServedModels.index(connection).stream().map(IndexedModel::name));
      }
      List<Listed> models =
          ServedModels.index(connection).stream().map(model -> there(connection, model)).toList();
      print(models, connection.toString());
      return exitCode(models);
    }
  }

  /** The names of the repositories' models, valid or not. */
  private Stream<String> namesHere() throws IOException {
    List<String> names = new ArrayList<>();
    RepositoryOptions options =
        control.options(RepositoryArguments.listOf(repository), text -> {}).build();
    try (ModelStore store = options.store()) {
      store.look(false);
      for (Path directory : options.repositories()) {
        try (DirectoryStream<Path> models = Files.newDirectoryStream(directory, "[!.]*")) {
          for (Path model : models) {
            String name = model.getFileName().toString();
            if (Files.isDirectory(model)) {
              names.add(name);
            } else if (name.matches(".+\\.(onnx|plan)")) {
              names.add(name.substring(0, name.lastIndexOf('.')));
            }
          }
        }
      }
    }
    return names.stream();
  }

  private int printNames(Stream<String> names) {
    PrintWriter out = command.commandLine().getOut();
    names.map(Texts::printable).distinct().sorted().forEach(out::println);
    return 0;
  }

  private static Listed there(ServerConnection connection, IndexedModel model) {
    Optional<ModelSpec> spec =
        model.state().equals("READY")
            ? Optional.of(ServedModels.spec(connection, model.name(), model.version()))
            : Optional.empty();
    return new Listed(
        model.name(), model.version(), model.state(), model.reason(), spec, Optional.empty());
  }

  private int listHere() throws IOException {
    if (namesOnly) {
      return printNames(namesHere());
    }
    RepositoryArguments.muteLoadLog(); // the list has the reasons
    try (Nereid nereid = open()) {
      List<Listed> models =
          nereid.repository().index().stream().map(entry -> here(nereid, entry)).toList();
      String where = String.join(", ", control.places(repository));
      print(models, where);
      if (watch) {
        watch(nereid);
      }
      return exitCode(models);
    }
  }

  private static Listed here(Nereid nereid, ModelIndexEntry entry) {
    Optional<Model> model =
        entry.state() == State.READY ? Optional.of(model(nereid, entry)) : Optional.empty();
    return new Listed(
        entry.name(),
        entry.version().isEmpty() ? "" : "" + entry.version().getAsLong(),
        entry.state() == State.UNKNOWN ? "" : entry.state().toString(),
        entry.reason(),
        model.map(Model::spec),
        model);
  }

  private static int exitCode(List<Listed> models) {
    return models.stream().anyMatch(Listed::isBroken) ? 1 : 0;
  }

  private Nereid open() {
    try (TerminalBar.OfLoads progress = new TerminalBar.OfLoads()) {
      RepositoryOptions.Builder models =
          control
              .options(RepositoryArguments.listOf(repository), progress::show)
              .listener(progress);
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

  private void print(List<Listed> models, String where) throws IOException {
    PrintWriter out = command.commandLine().getOut();
    if (json) {
      RemoteCommand.printJson(out, models.stream().map(Listed::inJson).toList());
    } else if (models.isEmpty()) {
      out.println("No models in " + where);
    } else {
      printTable(out, models);
    }
  }

  private static void printTable(PrintWriter out, List<Listed> models) {
    Texts.Table table =
        new Texts.Table("MODEL", "VERSION", "STATE", "BACKEND", "BATCH", "INPUTS", "OUTPUTS");
    models.forEach(model -> table.add(model.cells()));
    table.print(out);
    for (Listed model : models) {
      if (!model.reason().isEmpty()) {
        out.println();
        out.println(Texts.printable(model.title() + ": " + model.reason()));
      }
    }
  }

  /**
   * The model of an entry; it may have been unloaded since, but its specification is still known.
   */
  private static Model model(Nereid nereid, ModelIndexEntry entry) {
    return nereid.models().stream()
        .filter(model -> model.name().equals(entry.name()))
        .filter(model -> model.version() == entry.version().getAsLong())
        .findFirst()
        .orElseGet(() -> nereid.model(entry.name(), entry.version().getAsLong()));
  }

  /**
   * A line of the list.
   *
   * @param version empty: none was ever loaded
   * @param state empty: none was ever loaded
   * @param reason the reason for the state; empty: none
   * @param spec its specification, while it is ready
   * @param model the model itself, while it is ready in this process
   */
  private record Listed(
      String name,
      String version,
      String state,
      String reason,
      Optional<ModelSpec> spec,
      Optional<Model> model) {

    /** True if the model should be ready and is not, unless it was unloaded on purpose. */
    boolean isBroken() {
      return state.equals("UNAVAILABLE") && !reason.equals("unloaded");
    }

    String title() {
      return name + (version.isEmpty() ? "" : " version " + version);
    }

    String[] cells() {
      String shownVersion = version.isEmpty() ? "-" : version;
      String shownState = state.isEmpty() ? "-" : state;
      if (spec.isEmpty()) {
        return new String[] {name, shownVersion, shownState, "-", "-", "-", "-"};
      }
      ModelSpec ready = spec.get();
      return new String[] {
        name,
        shownVersion,
        shownState,
        backend(ready),
        ready.maxBatchSize() == 0 ? "-" : Long.toString(ready.maxBatchSize()),
        tensors(ready.inputs()),
        tensors(ready.outputs())
      };
    }

    private static String backend(ModelSpec spec) {
      return spec.ensemble().isPresent() ? "ensemble" : spec.backendName();
    }

    private static String tensors(List<TensorSpec> specs) {
      return specs.stream()
          .map(spec ->
              spec.name() + " " + spec.dataType() + spec.dims() + (spec.optional() ? "?" : ""))
          .map(text -> text.replace(", ", ","))
          .collect(Collectors.joining(", "));
    }

    Map<String, Object> inJson() {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("name", name);
      putUnlessEmpty(object, "version", version);
      putUnlessEmpty(object, "state", state);
      putUnlessEmpty(object, "reason", reason);
      spec.ifPresent(ready -> {
        object.put("backend", backend(ready));
        object.put("max_batch_size", ready.maxBatchSize());
        object.put("inputs", describe(ready.inputs()));
        object.put("outputs", describe(ready.outputs()));
      });
      model.ifPresent(here -> addCosts(here, object));
      return object;
    }

    private static void putUnlessEmpty(Map<String, Object> object, String name, String value) {
      if (!value.isEmpty()) {
        object.put(name, value);
      }
    }

    /** Adds the time that loading took, and the memory that the model occupies. */
    private static void addCosts(Model model, Map<String, Object> object) {
      LoadTimes times = model.loadTimes();
      Map<String, Object> loadUs = new LinkedHashMap<>();
      loadUs.put("read", us(times.read()));
      loadUs.put("parse", us(times.parse()));
      loadUs.put("session", us(times.session()));
      loadUs.put("warm_up", us(times.warmUp()));
      object.put("load_us", loadUs);
      if (!model.notes().isEmpty()) {
        object.put("notes", model.notes());
      }
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
}

package io.nereid.cli;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.ModelFile;
import io.nereid.model.Objective;
import io.nereid.model.RepositoryOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** The flag for the repositories of models; by default the bundled models. */
final class RepositoryArguments extends Arguments {

  private static final String ISOLATION_FORM = "--isolation MODEL=process";
  private static final String OBJECTIVE_FORM = "--objective MODEL=p99:20ms";

  /**
   * Kept in a field, because the logging system may collect an unused logger and forget its level.
   */
  private static final Logger LOAD_LOG = Logger.getLogger("io.nereid.load");

  @Option(
      names = {"--model-repository", "--repository", "--model-store"},
      paramLabel = "DIR",
      description = {
        "A model repository: a directory, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or",
        "as://ACCOUNT/CONTAINER/PREFIX; repeatable. The bundled examples by default."
      })
  private List<String> repositories = new ArrayList<>();

  @Mixin private StoreArguments stores = new StoreArguments();

  @Option(
      names = "--objective",
      paramLabel = "MODEL=p99:20ms",
      description = {
        "In how long the model is to answer, whatever its configuration says; repeatable.",
        "Batches and waiting times follow from it, and what cannot be in time is refused."
      })
  private List<String> objectives = new ArrayList<>();

  @Option(
      names = "--isolation",
      paramLabel = "MODEL=process",
      description = {
        "Where the model's backend runs, whatever its configuration says; repeatable.",
        "process: in a process of its own, which may die; process:GROUP: in one with",
        "all models of the group; none: in this one.",
        "MODEL may be *, for all that are not named."
      })
  private List<String> isolations = new ArrayList<>();

  /** Returns a list of one element, or an empty one for null. */
  static List<String> listOf(String more) {
    return more == null ? List.of() : List.of(more);
  }

  /** The directories and URLs, with more. */
  List<String> places(List<String> more) {
    List<String> all = new ArrayList<>(repositories);
    all.addAll(more);
    // The launcher passes the project's directory.
    return all.isEmpty()
        ? List.of(Path.of(System.getProperty("nereid.home", ""), "examples", "models").toString())
        : all;
  }

  /**
   * Adds the repositories, and the options of single models.
   *
   * @param progress gets the progress of fetching
   */
  void addTo(RepositoryOptions.Builder options, List<String> more, Consumer<String> progress) {
    stores.addTo(options, places(more), progress);
    perModel("--objective", OBJECTIVE_FORM, objectives)
        .forEach((model, value) -> options.objective(model, objective(model, value)));
    perModel("--isolation", ISOLATION_FORM, isolations)
        .forEach((model, value) -> options.isolation(model, isolation(model, value)));
  }

  private Map<String, String> perModel(String option, String form, List<String> texts) {
    Map<String, String> values = new LinkedHashMap<>();
    for (String text : texts) {
      int equal = text.indexOf('=');
      if (equal <= 0) {
        throw wrong(form, "'" + text + "'");
      }
      String model = text.substring(0, equal);
      if (values.put(model, text.substring(equal + 1)) != null) {
        throw wrong("one " + option + " for model '" + model + "'", "'" + text + "' as well");
      }
    }
    return values;
  }

  private Objective objective(String model, String value) {
    try {
      return Objective.parse(value);
    } catch (IllegalArgumentException e) {
      throw wrong(
          OBJECTIVE_FORM + ", from p50 to p99.9, in ns, us, ms or s",
          "'" + model + "=" + value + "'");
    }
  }

  private String isolation(String model, String value) {
    if (!value.matches("none|process(:.+)?")) {
      throw wrong(
          ISOLATION_FORM + ", MODEL=process:GROUP or MODEL=none", "'" + model + "=" + value + "'");
    }
    return value;
  }

  /** Mutes the log of loads, for commands that print failures and times of loads themselves. */
  static void muteLoadLog() {
    LOAD_LOG.setLevel(Level.OFF);
  }

  /** The argument and the flags of commands that load one model and nothing else. */
  static final class ModelArguments {

    @Parameters(
        index = "0",
        paramLabel = "MODEL",
        description = "The model's name, its directory, or a file NAME.onnx.")
    private String name;

    @Parameters(
        arity = "0..1",
        index = "1",
        paramLabel = "DIR",
        description = "The model repository it is in, as --model-repository names one.")
    private String directory;

    @Mixin private RepositoryArguments repositories = new RepositoryArguments();

    @Mixin private PluginArguments plugins;

    @Option(
        names = "--model-version",
        paramLabel = "N",
        description = "The version; the highest by default.")
    private Long version;

    String name() {
      return name;
    }

    /** The version; empty: the highest, or the server's choice. */
    String version() {
      return version == null ? "" : version.toString();
    }

    /** Throws if options for loading a model are given together with a running server. */
    void checkServed(CommandSpec command) {
      if (directory != null || !repositories.repositories.isEmpty()) {
        throw new ParameterException(
            command.commandLine(), "a server (-u) is asked, or a directory is read: expected one");
      }
    }

    /** Opens a runtime with this model, and with the models that it needs. */
    Nereid open() {
      RepositoryArguments.muteLoadLog(); // model() throws the failure
      locate();
      RepositoryOptions.Builder options = RepositoryOptions.builder().explicit(name);
      repositories.addTo(options, listOf(directory), text -> {});
      plugins.apply(options);
      return Nereid.open(
          options.build(),
          NereidOptions.builder().rateLimit(true).plugins(plugins.options().build()).build());
    }

    /**
     * Finds the model: a file, or a model's directory, given as a path or by repository and name.
     */
    private void locate() {
      if (directory == null && StoreArguments.isUrl(name)) {
        int slash = name.lastIndexOf('/');
        directory = name.substring(0, slash);
        name = name.substring(slash + 1).replaceFirst("\\.(onnx|plan)$", "");
      } else if (directory == null && ModelFile.isNamed(name)) {
        directory = name;
        name = ModelFile.nameAt(Path.of(name));
      } else if (directory == null && name.contains("/") && isModel(Path.of(name))) {
        Path model = Path.of(name).toAbsolutePath().normalize();
        name = model.getFileName().toString();
        directory = model.getParent().toString();
      } else if (directory != null && !StoreArguments.isUrl(directory)) {
        Path model = Path.of(directory).toAbsolutePath().normalize();
        if (!Files.exists(model.resolve(name)) && isModel(model) && model.endsWith(name)) {
          directory = model.getParent().toString();
        }
      }
    }

    /** True if a directory has a configuration, or a version. */
    private static boolean isModel(Path place) {
      if (!Files.isDirectory(place)) {
        return false;
      }
      try (Stream<Path> entries = Files.list(place)) {
        return entries
            .map(entry -> entry.getFileName().toString())
            .anyMatch(entry -> entry.equals("config.pbtxt") || entry.matches("[1-9][0-9]*"));
      } catch (IOException e) {
        return false; // loading it will give the reason
      }
    }

    /** The model, which must have been loaded. */
    Model model(Nereid nereid) {
      return version == null ? nereid.model(name) : nereid.model(name, version);
    }

    /** The model, loaded or not: the highest version whose load was tried. */
    Optional<Model> tried(Nereid nereid) {
      return nereid.models().stream()
          .filter(model -> model.name().equals(name))
          .filter(model -> version == null || model.version() == version)
          .findFirst();
    }
  }
}

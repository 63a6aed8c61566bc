package io.nereid.cli;

import io.nereid.Model;
import io.nereid.ModelSpec;
import io.nereid.ModelState;
import io.nereid.Nereid;
import io.nereid.TensorSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.jr.ob.JSON;

/** Lists what a model repository holds, after loading it. */
@Command(
    name = "models",
    description = "Load a model repository and list its models.",
    mixinStandardHelpOptions = true)
final class ModelsCommand implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Parameters(
      arity = "0..1",
      paramLabel = "DIR",
      description = "The model repository; the bundled examples by default.")
  private Path repository;

  @Option(names = "--json", description = "Print JSON instead of a table.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    RepositoryOption.muteLoadFailures(); // the list has the reasons
    try (Nereid nereid = Nereid.open(RepositoryOption.resolve(repository))) {
      List<Model> models = nereid.models();
      if (json) {
        printJson(models);
      } else {
        printTable(models);
      }
      return models.stream().allMatch(model -> model.state() == ModelState.READY) ? 0 : 1;
    }
  }

  private void printTable(List<Model> models) {
    var out = command.commandLine().getOut();
    if (models.isEmpty()) {
      out.println("No models in " + RepositoryOption.resolve(repository));
      return;
    }
    Table table = new Table("MODEL", "VERSION", "STATE", "BACKEND", "BATCH", "INPUTS", "OUTPUTS");
    for (Model model : models) {
      String version = model.version() == 0 ? "-" : Long.toString(model.version());
      if (model.state() == ModelState.READY) {
        ModelSpec spec = model.spec();
        table.add(
            model.name(),
            version,
            state(model),
            spec.backendName(),
            spec.maxBatchSize() == 0 ? "-" : Long.toString(spec.maxBatchSize()),
            tensors(spec.inputs()),
            tensors(spec.outputs()));
      } else {
        table.add(model.name(), version, state(model), "-", "-", "-", "-");
      }
    }
    table.print(out);
    for (Model model : models) {
      model
          .failure()
          .ifPresent(reason -> {
            out.println();
            out.println(Printable.of(title(model) + ": " + reason));
          });
    }
  }

  private static String title(Model model) {
    return model.name() + (model.version() == 0 ? "" : " version " + model.version());
  }

  /** In the words of Triton's repository index. */
  private static String state(Model model) {
    return switch (model.state()) {
      case LOADING -> "LOADING";
      case READY -> "READY";
      case DRAINING -> "UNLOADING";
      case UNLOADED, FAILED -> "UNAVAILABLE";
    };
  }

  private static String tensors(List<TensorSpec> specs) {
    return specs.stream()
        .map(spec ->
            spec.name() + " " + spec.dataType() + spec.dims() + (spec.optional() ? "?" : ""))
        .map(text -> text.replace(", ", ","))
        .collect(Collectors.joining(", "));
  }

  private void printJson(List<Model> models) throws IOException {
    List<Map<String, Object>> list = new ArrayList<>();
    for (Model model : models) {
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("name", model.name());
      entry.put("version", model.version() == 0 ? "" : Long.toString(model.version()));
      entry.put("state", state(model));
      model.failure().ifPresent(reason -> entry.put("reason", reason));
      if (model.state() == ModelState.READY) {
        ModelSpec spec = model.spec();
        entry.put("backend", spec.backendName());
        entry.put("max_batch_size", spec.maxBatchSize());
        entry.put("inputs", describe(spec.inputs()));
        entry.put("outputs", describe(spec.outputs()));
      }
      list.add(entry);
    }
    command
        .commandLine()
        .getOut()
        .println(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(list));
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

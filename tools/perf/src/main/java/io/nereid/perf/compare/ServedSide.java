package io.nereid.perf.compare;

import io.nereid.client.IndexedModel;
import io.nereid.client.InferenceClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * A server and its models, as one of the sides of a comparison.
 *
 * @param server the command that starts it, up to {@code serve}
 * @param models a repository, or a model that is one file
 * @param model the name of a model that is one file; empty: the models have their benchmarks' names
 */
public record ServedSide(List<String> server, Path models, String model) {

  /** The command that serves only these models, on a free port of this machine. */
  public List<String> command(List<String> names) {
    List<String> command = new ArrayList<>(server);
    command.addAll(List.of("serve", "--model-repository", models.toString()));
    command.addAll(List.of("--model-control-mode", "explicit"));
    names.forEach(name -> command.addAll(List.of("--load-model", name)));
    command.addAll(List.of("--http-address", "127.0.0.1", "--http-port", "0"));
    command.addAll(List.of("--allow-grpc", "false", "--allow-metrics", "false"));
    return command;
  }

  /** Returns the name by which this side's server knows the model of a benchmark. */
  String nameOf(BenchmarkId id) {
    return model.isEmpty() ? id.name() : model;
  }

  /**
   * The names of the models that the server finds, without loading them; {@code work} is for its
   * output.
   */
  public SortedSet<String> names(Path work) throws MeasurementException, IOException {
    Files.createDirectories(work);
    SortedSet<String> names = new TreeSet<>();
    try (ServedProcess process = ServedProcess.start(command(List.of()), work);
        InferenceClient client = InferenceClient.connect(process.url())) {
      client.repositoryIndex().stream().map(IndexedModel::name).forEach(names::add);
    }
    return names;
  }
}

package io.nereid.cli;

import io.nereid.Nereid;
import io.nereid.client.IndexedModel;
import io.nereid.model.ModelFile;
import io.nereid.model.RepositoryOptions;
import io.nereid.perf.PerfException;
import io.nereid.perf.ServerArguments;
import io.nereid.perf.ServerConnection;
import io.nereid.perf.compare.MeasurementException;
import io.nereid.perf.compare.ServedProcess;
import io.nereid.perf.compare.ServedSide;
import io.nereid.recording.AnswerSource;
import io.nereid.recording.RuntimeAnswers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Model.CommandSpec;

/**
 * A side that answers the requests of a recording, with its resources. For one thread.
 *
 * @param source answers
 * @param check throws if it cannot answer any more
 * @param end closes the resources
 */
record ReplaySide(AnswerSource source, Step check, Step end) implements AutoCloseable {

  /** A step that may find out that a server has ended. */
  interface Step {
    void run() throws MeasurementException;
  }

  /** Throws if a command line names both a server and a repository. */
  static void check(CommandSpec command, Path repository, ServerArguments server) {
    if (repository != null && server.isGiven()) {
      throw Arguments.wrong(command, "a REPOSITORY or -u", "both");
    }
  }

  /**
   * A side with the models of a repository, or of a file, in this process; {@code names}: only
   * these.
   */
  static ReplaySide here(Path models, String... names) {
    boolean file = ModelFile.isAt(models);
    RepositoryOptions.Builder options = RepositoryOptions.builder().repository(models);
    if (!file && names.length > 0) {
      options.explicit(names);
    }
    Nereid nereid = Nereid.open(options.build());
    return new ReplaySide(new RuntimeAnswers(nereid, file), () -> {}, nereid::close);
  }

  /** A side with the models of a running server. */
  static ReplaySide at(ServerConnection server) {
    return new ReplaySide(new ServedAnswers(server, ""), () -> {}, server::close);
  }

  /**
   * A side with a server that is started for it, as in comparisons of speed.
   *
   * @param names the models to load, as far as the server has them
   * @param work a directory for its output
   */
  static ReplaySide started(ServedSide side, Set<String> names, Path work)
      throws MeasurementException, IOException {
    Files.createDirectories(work);
    ServedProcess process = ServedProcess.start(side.command(List.of()), work);
    ServerConnection server = ServerConnection.to(process.url());
    ReplaySide started =
        new ReplaySide(
            new ServedAnswers(server, side.model()),
            process::check,
            () -> {
              server.close();
              process.close();
            });
    try {
      ServedModels.index(server).stream()
          .map(IndexedModel::name)
          .filter(name -> names.contains(name) || name.equals(side.model()))
          .distinct()
          .forEach(name ->
              server.tell(
                  "expected model '" + name + "' to load", client -> client.loadModel(name)));
      return started;
    } catch (PerfException e) {
      started.close();
      throw new MeasurementException(e.getMessage(), e);
    }
  }

  @Override
  public void close() throws MeasurementException {
    end.run();
  }
}

package io.nereid.cli;

import io.nereid.perf.ServerConnection;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/** {@code nereid load}: makes a running server load a model of its repositories. */
@Command(
    name = "load",
    description = "Have a running server load a model, or load it anew.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "A server that takes loads runs with --model-control-mode explicit.",
      "",
      "Examples:",
      "  nereid load digits",
      "  nereid load digits --model-config other.json --file 1/model.onnx=new.onnx"
    })
final class LoadCommand extends RemoteCommand {

  @Parameters(paramLabel = "MODEL", description = "The model's name.")
  private String model;

  @Option(
      names = "--model-config",
      paramLabel = "FILE",
      description = "A configuration in JSON, in place of the repository's; see 'nereid config'.")
  private Path config;

  @Option(
      names = "--file",
      paramLabel = "PATH=FILE",
      description =
          "A file in place of one in the model's directory, with --model-config; repeatable.")
  private Map<String, Path> files = Map.of();

  @Override
  int run(ServerConnection server, PrintWriter out) throws IOException {
    if (config == null && !files.isEmpty()) {
      throw Arguments.wrong(command, "--model-config with --file", "none");
    }
    Optional<String> text = config == null ? Optional.empty() : Optional.of(configText());
    Map<String, byte[]> contents = new LinkedHashMap<>();
    for (Map.Entry<String, Path> file : files.entrySet()) {
      contents.put(file.getKey(), Files.readAllBytes(file.getValue()));
    }
    long startNs = System.nanoTime();
    server.tell(
        "expected model '" + model + "' to be loaded",
        client ->
            text.ifPresentOrElse(
                json -> client.loadModel(model, json, contents), () -> client.loadModel(model)));
    long ms = (System.nanoTime() - startNs) / 1_000_000;
    if (json) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("name", model);
      object.put("loaded", true);
      object.put("ms", ms);
      printJson(out, object);
    } else {
      out.println(Texts.printable("loaded '" + model + "' in " + ms + " ms"));
    }
    return 0;
  }

  private String configText() throws IOException {
    // Removes comments, which 'nereid config' prints for a model with an objective.
    String text = Files.readString(config).replaceAll("(?m)^#.*$", "");
    try {
      JSON.std.mapFrom(text);
      return text;
    } catch (JacksonException e) {
      throw new IllegalArgumentException(
          "expected a configuration in JSON in "
              + config
              + ", as 'nereid config "
              + model
              + " -u HOST:PORT' prints it, got: "
              + e.getOriginalMessage(),
          e);
    }
  }
}

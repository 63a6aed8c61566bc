package io.nereid.cli;

import io.nereid.perf.ServerConnection;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code nereid unload}: makes a running server unload a model. */
@Command(
    name = "unload",
    description = "Have a running server unload a model; what it has begun is finished.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {"", "Example:", "  nereid unload digits -u host:8000"})
final class UnloadCommand extends RemoteCommand {

  @Parameters(paramLabel = "MODEL", description = "The model's name.")
  private String model;

  @Option(
      names = "--dependents",
      description = "Of an ensemble: unload the models that it consists of as well.")
  private boolean dependents;

  @Override
  int run(ServerConnection server, PrintWriter out) throws IOException {
    server.tell(
        "expected model '" + model + "' to be unloaded",
        client -> {
          if (dependents) {
            client.unloadModelAndDependents(model);
          } else {
            client.unloadModel(model);
          }
        });
    if (json) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("name", model);
      object.put("loaded", false);
      printJson(out, object);
    } else {
      out.println(Texts.printable("unloaded '" + model + "'"));
    }
    return 0;
  }
}

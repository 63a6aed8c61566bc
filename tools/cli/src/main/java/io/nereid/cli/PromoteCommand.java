package io.nereid.cli;

import io.nereid.perf.ServerConnection;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code nereid promote}: makes a version of a model serve the requests that name no version. */
@Command(
    name = "promote",
    description = "Have a running server send requests that name no version to this one.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "A shadow is loaded anew with full priority first; the version before serves until it is",
      "ready, and stays loaded, so that it can be promoted in turn. The server is asked over HTTP.",
      "",
      "Example:",
      "  nereid promote digits 3 -u host:8000"
    })
final class PromoteCommand extends RemoteCommand {

  @Parameters(paramLabel = "MODEL", description = "The model's name.")
  private String model;

  @Parameters(index = "1", paramLabel = "VERSION", description = "The version, which is loaded.")
  private long version;

  @Override
  int run(ServerConnection server, PrintWriter out) throws IOException, InterruptedException {
    if (version < 1) {
      throw Arguments.wrong(command, "a VERSION of 1 or more", Long.toString(version));
    }
    String name = URLEncoder.encode(model, StandardCharsets.UTF_8).replace("+", "%20");
    ask(
        server,
        "/v2/repository/models/%s/versions/%s/promote".formatted(name, version),
        Optional.of(""));
    if (json) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("name", model);
      object.put("version", version);
      object.put("promoted", true);
      printJson(out, object);
    } else {
      out.println(Texts.printable("version " + version + " of '" + model + "' serves"));
    }
    return 0;
  }
}

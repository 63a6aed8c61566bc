package io.nereid.cli;

import io.nereid.perf.ServerConnection;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code nereid record}: shows, begins or ends the recording of a running server. */
@Command(
    name = "record",
    description = "Show whether a running server records requests; begin, or end it.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "The server was started with --record DIR, or --record DIR,start=false. It is asked over",
      "HTTP.",
      "",
      "Examples:",
      "  nereid record",
      "  nereid record start -u host:8000",
      "  nereid record stop -u host:8000"
    })
final class RecordCommand extends RemoteCommand {

  private enum Change {
    START,
    STOP
  }

  @Parameters(arity = "0..1", paramLabel = "start|stop", description = "What the server is to do.")
  private Change change;

  @Override
  int run(ServerConnection server, PrintWriter out) throws IOException, InterruptedException {
    Map<String, Object> state =
        ask(
            server,
            "/v2/recording",
            Optional.ofNullable(change)
                .map(wanted -> "{\"recording\":%s}".formatted(wanted == Change.START)));
    if (json) {
      printJson(out, state);
    } else {
      state.forEach((name, value) -> out.println(Texts.printable(name + "=" + value)));
    }
    return 0;
  }
}

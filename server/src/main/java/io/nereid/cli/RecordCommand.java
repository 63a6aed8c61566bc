package io.nereid.cli;

import io.nereid.client.InferenceClient;
import io.nereid.perf.ServerConnection;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/** {@code nereid record}: shows whether a running server records requests, begins and ends it. */
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

  /** A recording is ended when all of it is written. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private enum Change {
    START,
    STOP
  }

  @Parameters(arity = "0..1", paramLabel = "start|stop", description = "What the server is to do.")
  private Change change;

  @Override
  int run(ServerConnection server, PrintWriter out) throws IOException, InterruptedException {
    if (server.isGrpc()) {
      throw new IllegalArgumentException("expected -i http, got grpc: recordings have no method");
    }
    server.ask("expected a server", InferenceClient::serverMetadata); // or says why there is none
    Map<String, Object> state = ask(server);
    if (json) {
      printJson(out, state);
    } else {
      state.forEach((name, value) -> out.println(Texts.printable(name + "=" + value)));
    }
    return 0;
  }

  private Map<String, Object> ask(ServerConnection server)
      throws IOException, InterruptedException {
    String base = server.toString();
    URI uri = URI.create((base.contains("://") ? base : "http://" + base) + "/v2/recording");
    HttpRequest.Builder request = server.otherRequest(uri).timeout(PATIENCE);
    if (change != null) {
      String body = "{\"recording\":%s}".formatted(change == Change.START);
      request.POST(HttpRequest.BodyPublishers.ofString(body));
    }
    HttpResponse<String> reply =
        server.otherPorts(PATIENCE).send(request.build(), HttpResponse.BodyHandlers.ofString());
    try {
      Map<String, Object> answer = JSON.std.mapFrom(reply.body());
      if (reply.statusCode() == 200) {
        return answer;
      }
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "HTTP " + reply.statusCode() + ": " + Texts.printable(answer.get("error") + ""));
    } catch (JacksonException e) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "expected the state of recordings, got HTTP " + reply.statusCode(),
          e);
    }
  }
}

package io.nereid.cli;

import io.nereid.client.InferenceClient;
import io.nereid.perf.ServerArguments;
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
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/** A command that calls a running server, and prints text for people or JSON for scripts. */
abstract class RemoteCommand implements Callable<Integer> {

  /** The timeout for loading a model, or writing the rest of a recording, which takes long. */
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @Spec CommandSpec command;

  @Mixin private ServerArguments server;

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Override
  public final Integer call() throws IOException, InterruptedException {
    try (ServerConnection connection = connect(command, server)) {
      return run(connection, command.commandLine().getOut());
    }
  }

  /** Runs the command; returns the exit code. */
  abstract int run(ServerConnection connection, PrintWriter out)
      throws IOException, InterruptedException;

  /** Connects to the server that the options name; nothing is sent yet. */
  static ServerConnection connect(CommandSpec command, ServerArguments server) throws IOException {
    try {
      return server.connect();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
  }

  /**
   * Calls an HTTP endpoint that gRPC lacks, which may take minutes.
   *
   * @param body the body of a POST; empty: a GET
   * @return the answer's members; none if it is empty
   */
  static Map<String, Object> ask(ServerConnection server, String path, Optional<String> body)
      throws IOException, InterruptedException {
    if (server.isGrpc()) {
      throw new IllegalArgumentException("expected -i http, got grpc: it has no method for this");
    }
    // throws if there is no server
    server.ask("expected a server", InferenceClient::serverMetadata);
    String base = server.toString();
    URI uri = URI.create((base.contains("://") ? base : "http://" + base) + path);
    HttpRequest.Builder request = server.otherRequest(uri).timeout(PATIENCE);
    body.ifPresent(text -> request.POST(HttpRequest.BodyPublishers.ofString(text)));
    HttpResponse<String> reply =
        server.otherPorts(PATIENCE).send(request.build(), HttpResponse.BodyHandlers.ofString());
    try {
      Map<String, Object> answer =
          reply.body().isEmpty() ? Map.of() : JSON.std.mapFrom(reply.body());
      if (reply.statusCode() == 200) {
        return answer;
      }
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "HTTP " + reply.statusCode() + ": " + Texts.printable(answer.get("error") + ""));
    } catch (JacksonException e) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED, "expected JSON, got HTTP " + reply.statusCode(), e);
    }
  }

  static void printJson(PrintWriter out, Object value) throws IOException {
    out.println(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(value));
  }
}

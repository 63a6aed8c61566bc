package io.nereid.server.http;

import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.nereid.JsonEndpoint;
import io.nereid.server.http.seam.HttpListener;
import io.nereid.server.shared.JsonEndpoints;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Optional;

/** Puts the endpoints of the protocol, and of the console, into Helidon's routing. */
final class Routes {

  private static final Logger LOGGER = System.getLogger(Routes.class.getName());

  private Routes() {}

  /** The routing; {@code console} is the path of the console, if there is one. */
  static HttpRouting.Builder of(Optional<String> console) {
    HttpRouting.Builder routing = HttpListener.routing();
    for (Endpoint endpoint : Endpoint.values()) {
      if (endpoint.isAdded()) {
        for (JsonEndpoint added : JsonEndpoints.all()) {
          if (added.infers() == (endpoint == Endpoint.ADDED)) {
            routing.any(added.path(), serving(endpoint));
          }
        }
      } else if (!endpoint.isConsole()) {
        endpoint.patterns().forEach(pattern -> routing.any(pattern, serving(endpoint)));
      } else if (console.isPresent()) {
        endpoint
            .patterns()
            .forEach(pattern -> routing.any(below(console.get(), pattern), serving(endpoint)));
      }
    }
    console
        .filter(path -> path.length() > 1)
        .ifPresent(path ->
            routing.any(path.substring(0, path.length() - 1), serving(Endpoint.CONSOLE_FILE)));
    return routing.any(serving(Endpoint.UNKNOWN)).error(Throwable.class, Routes::fail);
  }

  private static String below(String path, String pattern) {
    return pattern.startsWith("/") ? pattern : path + pattern;
  }

  private static Handler serving(Endpoint endpoint) {
    return (request, response) -> ProtocolHandler.of(request).serve(endpoint, request, response);
  }

  private static void fail(ServerRequest request, ServerResponse response, Throwable failure) {
    ProtocolHandler handler = ProtocolHandler.of(request);
    try {
      handler.fail(failure);
    } catch (IOException | UncheckedIOException | CloseConnectionException e) {
      // The client is gone. Helidon would log the failure of each such request with its stack.
      handler.exchange().connection().giveUp();
    } catch (RuntimeException e) {
      LOGGER.log(Level.ERROR, "a failure could not be told", e);
      handler.exchange().connection().giveUp();
    }
  }
}

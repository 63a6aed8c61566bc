package io.nereid.server.http;

import io.nereid.server.console.ConsoleFiles;
import io.nereid.server.http.Route.Endpoint;
import io.nereid.server.wire.RequestHead;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** Where the paths of the console lead. */
final class ConsoleRoute {

  /** The header fields that decide about what is sent. */
  static final Set<String> FIELDS = Set.of("if-none-match");

  private static final String OPENAPI = "/openapi";

  private ConsoleRoute() {}

  /**
   * Where a target leads that is none of the protocol's.
   *
   * @param root the console's path, which begins and ends with a slash
   */
  static Route to(String target, String root) {
    String path = RequestHead.path(target);
    if (path.startsWith(OPENAPI)) {
      return document(path);
    }
    if (path.length() + 1 == root.length() && root.startsWith(path)) {
      return Route.ofRegion(Endpoint.CONSOLE_FILE, ""); // the slash is missing
    }
    if (!path.startsWith(root)) {
      return Route.UNKNOWN;
    }
    String rest = path.substring(root.length());
    if (rest.startsWith("api/")) {
      return api(Arrays.asList(rest.substring("api/".length()).split("/", -1)));
    }
    String name = rest.isEmpty() ? "index.html" : rest;
    return ConsoleFiles.isName(name) ? Route.ofRegion(Endpoint.CONSOLE_FILE, name) : Route.UNKNOWN;
  }

  private static Route document(String path) {
    if (path.equals(OPENAPI + ".json")) {
      return Route.of(Endpoint.OPENAPI);
    }
    String rest = path.substring(OPENAPI.length());
    if (!rest.startsWith("/") || !rest.endsWith(".json") || rest.indexOf('/', 1) > 0) {
      return Route.UNKNOWN;
    }
    String model = Route.decode(rest.substring(1, rest.length() - ".json".length()));
    return model.isEmpty() ? Route.UNKNOWN : new Route(Endpoint.OPENAPI_MODEL, model, 0, false);
  }

  private static Route api(List<String> segments) {
    return switch (String.join("/", segments)) {
      case "about" -> Route.of(Endpoint.CONSOLE_ABOUT);
      case "overview/events" -> Route.of(Endpoint.CONSOLE_OVERVIEW);
      case "requests" -> Route.of(Endpoint.CONSOLE_REQUESTS);
      case "requests/events" -> Route.of(Endpoint.CONSOLE_REQUEST_EVENTS);
      case "load" -> Route.of(Endpoint.CONSOLE_LOAD);
      case "load/stop" -> Route.of(Endpoint.CONSOLE_LOAD_STOP);
      case "load/events" -> Route.of(Endpoint.CONSOLE_LOAD_EVENTS);
      default ->
          segments.getFirst().equals("models") && segments.size() > 1
              ? model(segments)
              : Route.UNKNOWN;
    };
  }

  private static Route model(List<String> segments) {
    String name = Route.decode(segments.get(1));
    int next = 2;
    long version = 0;
    if (segments.size() > 3 && segments.get(2).equals("versions")) {
      version = RequestHead.digits(segments.get(3));
      next = 4;
    }
    boolean versioned = next == 4;
    if (name.isEmpty() || (versioned && version <= 0) || segments.size() > next + 1) {
      return Route.UNKNOWN;
    }
    String what = segments.size() == next ? "" : segments.get(next);
    Endpoint endpoint =
        switch (what) {
          case "" -> segments.size() == next ? Endpoint.CONSOLE_MODEL : Endpoint.UNKNOWN;
          case "events" -> Endpoint.CONSOLE_MODEL_EVENTS;
          case "configuration" -> Endpoint.CONSOLE_CONFIGURATION;
          case "reload" -> Endpoint.CONSOLE_RELOAD;
          default -> Endpoint.UNKNOWN;
        };
    return new Route(endpoint, name, version, false);
  }
}

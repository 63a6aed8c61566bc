package io.nereid.server.http;

import io.helidon.common.parameters.Parameters;
import io.helidon.http.RoutedPath;
import io.nereid.server.shared.JsonEndpoints;
import java.util.regex.Pattern;

/**
 * The endpoint of a request and the names in its path, as Helidon has matched them.
 *
 * @param endpoint the endpoint
 * @param model the model's name; empty where the path names none
 * @param version the model's version; 0 where the path names none, or the latest
 * @param repository whether the path names a repository, which no endpoint supports
 * @param name the name of a shared memory region or of a file, or the path of an endpoint that is
 *     added; empty otherwise
 */
record Route(Endpoint endpoint, String model, long version, boolean repository, String name) {

  private static final Pattern FILE = Pattern.compile("[a-z0-9-]+\\.(html|js|css|svg)");

  static Route of(Endpoint endpoint) {
    return new Route(endpoint, "", 0, false, "");
  }

  static Route of(Endpoint endpoint, String model, long version) {
    return new Route(endpoint, model, version, false, "");
  }

  /** Makes the route of a matched path, with its values for the names in braces. */
  static Route of(Endpoint endpoint, RoutedPath path) {
    if (endpoint == Endpoint.CONSOLE_FILE) {
      return file(path);
    }
    if (endpoint.isAdded()) {
      return JsonEndpoints.at(path.path()) == null
          ? of(Endpoint.UNKNOWN)
          : new Route(endpoint, "", 0, false, path.path());
    }
    Parameters names = path.pathParameters();
    long version = 0;
    if (names.contains("version") && !names.get("version").equals("latest")) {
      version = digits(names.get("version"));
      if (version <= 0) {
        return of(Endpoint.UNKNOWN);
      }
    }
    return new Route(
        endpoint,
        text(names, "model"),
        version,
        names.contains("repository"),
        text(names, "region"));
  }

  /** The route to a file of the console; no name: the console's path without its last slash. */
  private static Route file(RoutedPath path) {
    String name = text(path.pathParameters(), "file");
    if (name.isEmpty() && path.path().endsWith("/")) {
      name = "index.html";
    }
    return name.isEmpty() || FILE.matcher(name).matches()
        ? new Route(Endpoint.CONSOLE_FILE, "", 0, false, name)
        : of(Endpoint.UNKNOWN);
  }

  /** The route's name in metrics, which has few values. */
  String label() {
    return endpoint.isAdded() ? name : endpoint.label();
  }

  private static String text(Parameters path, String name) {
    return path.contains(name) ? path.get(name) : "";
  }

  /** Parses a number of digits alone; -1 for other text. */
  static long digits(String value) {
    if (value.isEmpty() || value.length() > 18) {
      return -1;
    }
    long number = 0;
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c < '0' || c > '9') {
        return -1;
      }
      number = number * 10 + (c - '0');
    }
    return number;
  }
}

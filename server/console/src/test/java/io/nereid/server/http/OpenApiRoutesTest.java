package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.server.console.ConsoleOptions;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import tools.jackson.jr.ob.JSON;

/** Holds the file that describes the protocol against the endpoints, in both directions. */
class OpenApiRoutesTest {

  @Test
  void theFileHasEachPathAndVerbOfTheProtocolAndNoOther() throws IOException {
    TreeSet<String> described = new TreeSet<>();
    try (InputStream in = ConsoleOptions.class.getResourceAsStream("openapi/protocol.json")) {
      ((Map<?, ?>) JSON.std.mapFrom(in).get("paths"))
          .forEach((path, item) ->
              ((Map<?, ?>) item)
                  .keySet()
                  .forEach(verb ->
                      described.add(path + " " + verb.toString().toUpperCase(Locale.ROOT))));
    }
    TreeSet<String> served = new TreeSet<>();
    for (Endpoint endpoint : Endpoint.values()) {
      for (String pattern : endpoint.patterns()) {
        // No repository has a name of its own, and an endpoint's path has no slash at its end.
        boolean ofProtocol = pattern.startsWith("/v2") && !pattern.endsWith("/");
        if (ofProtocol && !pattern.contains("{repository}")) {
          for (String verb : endpoint.allow().replace("GET, HEAD", "GET").split(", ")) {
            served.add(pattern + " " + verb);
          }
        }
      }
    }
    assertEquals(served, described);
  }
}

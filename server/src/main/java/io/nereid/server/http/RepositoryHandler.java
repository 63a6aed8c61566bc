package io.nereid.server.http;

import io.nereid.ModelIndexEntry;
import io.nereid.ModelOverride;
import io.nereid.Repository;
import io.nereid.server.http.JsonReader.Token;
import java.io.IOException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/** The model repository extension. */
final class RepositoryHandler {

  private static final String FILE_PREFIX = "file:";

  private final HttpContext context;

  RepositoryHandler(HttpContext context) {
    this.context = context;
  }

  void index(RequestBody body, JsonBuffer json) throws IOException {
    boolean[] readyOnly = new boolean[1];
    JsonBody.read(
        context,
        body,
        (name, parser) -> {
          if (!name.equals("ready")) {
            parser.skip();
            return;
          }
          if (parser.token() != Token.TRUE && parser.token() != Token.FALSE) {
            throw HttpFailure.badRequest("Invalid value for 'ready': expected a boolean");
          }
          readyOnly[0] = parser.token() == Token.TRUE;
        });
    json.write('[');
    boolean first = true;
    for (ModelIndexEntry entry : repository().index()) {
      if (!readyOnly[0] || entry.state() == ModelIndexEntry.State.READY) {
        if (!first) {
          json.write(',');
        }
        first = false;
        write(entry, json);
      }
    }
    json.write(']');
  }

  private static void write(ModelIndexEntry entry, JsonBuffer json) {
    json.ascii("{\"name\":").string(entry.name());
    if (entry.version().isPresent()) {
      json.ascii(",\"version\":\"").number(entry.version().getAsLong()).write('"');
    }
    if (entry.state() != ModelIndexEntry.State.UNKNOWN) {
      json.ascii(",\"state\":\"").ascii(entry.state().name()).write('"');
    }
    if (!entry.reason().isEmpty()) {
      json.ascii(",\"reason\":").string(entry.reason());
    }
    json.write('}');
  }

  void load(String model, RequestBody body) throws IOException {
    String[] config = new String[1];
    Map<String, byte[]> files = new LinkedHashMap<>();
    readParameters(
        body,
        (name, parser) -> {
          if (name.equals("config")) {
            config[0] = parser.string(name);
          } else if (name.startsWith(FILE_PREFIX)) {
            files.put(name.substring(FILE_PREFIX.length()), base64(name, parser));
          } else {
            throw HttpFailure.badRequest(
                "unrecognized load parameter '" + name + "': expected 'config' or 'file:PATH'");
          }
        });
    if (config[0] != null) {
      repository().load(model, new ModelOverride(config[0], files));
    } else if (files.isEmpty()) {
      repository().load(model);
    } else {
      throw HttpFailure.badRequest(
          "override of files needs parameter 'config' with the model's configuration");
    }
  }

  private static byte[] base64(String name, JsonReader parser) {
    try {
      return Base64.getDecoder().decode(parser.string(name));
    } catch (IllegalArgumentException e) {
      throw HttpFailure.badRequest("expected base64 as '" + name + "': " + e.getMessage());
    }
  }

  void unload(String model, RequestBody body) throws IOException {
    boolean[] dependents = new boolean[1];
    readParameters(
        body,
        (name, parser) -> {
          if (!name.equals("unload_dependents")) {
            throw HttpFailure.badRequest(
                "unrecognized unload parameter '" + name + "': expected 'unload_dependents'");
          }
          dependents[0] = parser.bool(name);
        });
    repository().unload(model, dependents[0]);
  }

  private Repository repository() {
    if (context.health().isStopping()) {
      throw new HttpFailure(Status.UNAVAILABLE, "Server is stopping");
    }
    return context.nereid().repository();
  }

  private void readParameters(RequestBody body, JsonBody.MemberReader reader) throws IOException {
    JsonBody.read(
        context,
        body,
        (name, parser) -> {
          if (!name.equals("parameters")) {
            parser.skip();
            return;
          }
          parser.expectObject("parameters");
          JsonBody.readMembers(parser, reader);
        });
  }
}

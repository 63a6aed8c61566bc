package io.nereid.server.http;

import io.nereid.Model;
import io.nereid.Repository;
import io.nereid.model.ModelIndexEntry;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.json.JsonReader;
import io.nereid.server.json.JsonReader.Token;
import io.nereid.server.shared.ClientAddress;
import io.nereid.server.shared.LoadParameters;
import io.nereid.server.shared.RepositoryLog;
import java.io.IOException;
import java.util.Base64;

/** The model repository extension. */
final class RepositoryHandler {

  private final HttpContext context;
  private final HttpExchange exchange;

  RepositoryHandler(HttpContext context, HttpExchange exchange) {
    this.context = context;
    this.exchange = exchange;
  }

  void index(RequestBody body, JsonBuffer json) throws IOException {
    boolean[] readyOnly = new boolean[1];
    context.readObject(
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
    LoadParameters parameters = new LoadParameters();
    readParameters(
        body,
        (name, parser) -> {
          if (LoadParameters.isFile(name)) {
            RequestParameters.charge(parser, name);
            parameters.file(name, base64(name, parser));
          } else {
            parameters.config(parser.string(name));
          }
        });
    parameters.load(repository(), model);
    RepositoryLog.loaded(model, ClientAddress.text(exchange.connection().channel().socket()));
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
          LoadParameters.checkUnload(name);
          dependents[0] = parser.bool(name);
        });
    repository().unload(model, dependents[0]);
    RepositoryLog.unloaded(model, ClientAddress.text(exchange.connection().channel().socket()));
  }

  /** Directs requests that name no version to this one. */
  void promote(Model model) {
    checkRunning();
    model.promote();
    RepositoryLog.promoted(model, ClientAddress.text(exchange.connection().channel().socket()));
  }

  private void checkRunning() {
    if (context.health().isFinishing()) {
      throw new HttpFailure(Status.UNAVAILABLE, "Server is stopping");
    }
  }

  private Repository repository() {
    checkRunning();
    return context.nereid().repository();
  }

  private void readParameters(RequestBody body, JsonReader.MemberReader reader) throws IOException {
    context.readObject(
        body,
        (name, parser) -> {
          if (!name.equals("parameters")) {
            parser.skip();
            return;
          }
          parser.expectObject("parameters");
          parser.readMembers(reader);
        });
  }
}

package io.nereid.server.console;

import io.nereid.Model;
import io.nereid.model.ModelPreview;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.EndpointGroup;
import io.nereid.server.access.Refusal;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.shared.Frontends;
import io.nereid.server.shared.ServerFacts;
import io.nereid.server.shared.ServerState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The console of one server: its files, and the figures and documents that its pages ask for.
 * Requests over HTTP come in through the HTTP frontend. Any thread may call this.
 */
public final class Console {

  private final ServerState state;
  private final ConsoleOptions options;
  private final ConsoleFiles files = new ConsoleFiles();
  private final ConsoleFeed feed;
  private final ConsoleHistory history;

  /** For a server; it ends when that stops. */
  public Console(ServerState state, ConsoleOptions options) {
    this.state = state;
    this.options = options;
    RecentTroubles troubles = new RecentTroubles(state);
    feed = new ConsoleFeed(state, troubles);
    history = new ConsoleHistory(state, troubles, options.history());
    state.health().addListener(this::healthChanged);
  }

  private void healthChanged() {
    if (state.health().isStopping()) {
      feed.close();
      history.close();
    }
  }

  /** Its path, and what may be done there. */
  public ConsoleOptions options() {
    return options;
  }

  /** The files of its pages. */
  public ConsoleFiles files() {
    return files;
  }

  /** Opens a stream about all models. */
  public EventStream overview() {
    return EventStream.of(feed, (snapshot, seen) -> snapshot.overview(seen));
  }

  /**
   * Opens a stream about a model.
   *
   * @param version 0: the one that answers
   */
  public EventStream model(String name, long version) {
    find(name, version); // says what is not there
    return EventStream.of(
        feed,
        (snapshot, seen) ->
            snapshot
                .model(name, version)
                .map(model -> snapshot.model(model, seen == 0))
                .orElse(null));
  }

  /** Opens a stream about slow requests. */
  public EventStream requests() {
    return EventStream.of(
        feed,
        new EventStream.WhenChanged(
            "requests",
            () -> state.tracing().slowest().map(ring -> ring.changes()).orElse(0L),
            this::requests));
  }

  /** Writes which requests were slow. */
  public void requests(JsonBuffer json) {
    RequestsJson.write(state.tracing().slowest().orElse(null), json);
  }

  /**
   * Writes what was kept of the last hour, or as long as the options say.
   *
   * @param name empty: of all models together
   * @param version 0: all of the model's
   */
  public void history(String name, long version, JsonBuffer json) {
    if (!name.isEmpty()) {
      find(name, version); // says what is not there
    }
    history.write(name, version, json);
  }

  // ---- Documents -------------------------------------------------------------------------------

  /** Writes what the server is, and what a request with these fields may do. */
  public void about(AccessControl access, UnaryOperator<String> fields, JsonBuffer json) {
    Map<EndpointGroup, Refusal> refusals = new EnumMap<>(EndpointGroup.class);
    for (EndpointGroup group : EndpointGroup.values()) {
      access.check(group, fields).ifPresent(refusal -> refusals.put(group, refusal));
    }
    json.ascii("{\"name\":").string(state.name());
    json.ascii(",\"version\":").string(ServerFacts.version());
    json.ascii(",\"state\":\"").ascii(ServerJson.word(state));
    json.ascii("\",\"started_ms\":").number(ManagementFactory.getRuntimeMXBean().getStartTime());
    json.ascii(",\"control_mode\":\"").ascii(controlMode());
    json.ascii("\",\"grants\":{");
    for (EndpointGroup group : EndpointGroup.values()) {
      json.ascii(group.ordinal() == 0 ? "" : ",").string(group.toString()).write(':');
      ConsoleJson.bool(json, !refusals.containsKey(group));
    }
    json.ascii("},\"wants\":{");
    String separator = "";
    for (Map.Entry<EndpointGroup, Refusal> refusal : refusals.entrySet()) {
      json.ascii(separator).string(refusal.getKey().toString()).write(':');
      json.string(wanted(refusal.getValue()));
      separator = ",";
    }
    Optional<Frontends.Place> grpc = state.frontends().place("grpc");
    json.ascii("},\"protocols\":{\"http\":true,\"grpc\":");
    grpc.ifPresentOrElse(place -> json.number(place.port()), () -> json.ascii("null"));
    boolean encrypted = grpc.map(Frontends.Place::encrypted).orElse(false);
    ConsoleJson.bool(json.ascii(",\"grpc_tls\":"), encrypted).ascii("}}");
  }

  private String controlMode() {
    return state.nereid().repository().options().controlMode().toString().toLowerCase(Locale.ROOT);
  }

  private static String wanted(Refusal refusal) {
    return switch (refusal.kind()) {
      case UNAUTHENTICATED -> "token";
      case NOT_GRANTED -> "scope";
      case RESTRICTED -> "header " + refusal.field();
    };
  }

  /** Writes what a model is. */
  public void details(String name, long version, JsonBuffer json) {
    Model model = find(name, version);
    List<Path> repositories = state.nereid().repository().options().repositories();
    String examples = ModelExamples.read(repositories, name);
    DetailJson.model(model, versions(name), examples, json);
  }

  /** Writes a model's configuration, and where each value came from. */
  public void configuration(String name, long version, JsonBuffer json) {
    DetailJson.configuration(find(name, version).configuration(), json);
  }

  /** Writes what loading a model again would change. */
  public void reload(String name, long version, JsonBuffer json) {
    Model model = find(name, version);
    ModelPreview preview;
    try {
      preview = state.nereid().repository().preview(name);
    } catch (NereidException e) {
      if (e.code() != StatusCode.NOT_FOUND) {
        throw e;
      }
      ReloadJson.unknown(json); // a program loaded it, or its directory is gone
      return;
    }
    ReloadJson.write(model, versions(name), preview, json);
  }

  /** Writes what the protocol is, for programs. */
  public void openApi(JsonBuffer json) {
    write(OpenApi.ofProtocol(state), json);
  }

  /** Writes what a model is, for programs. */
  public void openApi(String name, JsonBuffer json) {
    write(OpenApi.of(state, state.nereid().model(name)), json);
  }

  private static void write(byte[] document, JsonBuffer json) {
    json.write(document, 0, document.length);
  }

  private List<Model> versions(String name) {
    return state.nereid().models().stream().filter(model -> model.name().equals(name)).toList();
  }

  /** The version that answers, else the highest; fails when there is none. */
  private Model find(String name, long version) {
    List<Model> its =
        versions(name).stream()
            .filter(model -> version == 0 || model.version() == version)
            .toList();
    return its.stream()
        .filter(Model::isReady)
        .findFirst()
        .or(() -> its.stream().findFirst())
        .orElseThrow(() ->
            new NereidException(
                StatusCode.NOT_FOUND,
                "there is no model '" + name + (version == 0 ? "'" : "' version " + version)));
  }
}

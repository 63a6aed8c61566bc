package io.nereid.server.console;

import io.nereid.Model;
import io.nereid.model.ModelPreview;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.EndpointGroup;
import io.nereid.server.access.Refusal;
import io.nereid.server.http.ConsoleProvider;
import io.nereid.server.shared.Frontends;
import io.nereid.server.shared.ServerFacts;
import io.nereid.server.shared.ServerState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The console of one server: its files, and the figures and documents for its pages. Requests come
 * in through the HTTP frontend. Any thread may call this.
 */
final class Console implements ConsoleProvider.Pages {

  private final ServerState state;
  private final String path;
  private final ConsoleFiles files = new ConsoleFiles();
  private final ConsoleFeed feed;
  private final ConsoleHistory history;

  /** Makes the console of a server, until that stops. */
  Console(ServerState state, ConsoleOptions options) {
    this.state = state;
    path = options.path();
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

  @Override
  public String path() {
    return path;
  }

  @Override
  public Optional<ConsoleProvider.Content> file(String name) {
    return files.file(name);
  }

  @Override
  public EventStream overview() {
    return EventStream.of(feed, (snapshot, seen) -> snapshot.overview(seen));
  }

  @Override
  public EventStream model(String name, long version) {
    find(name, version); // throws if the model is missing
    return EventStream.of(
        feed,
        (snapshot, seen) ->
            snapshot
                .model(name, version)
                .map(model -> snapshot.model(model, seen == 0))
                .orElse(null));
  }

  @Override
  public EventStream requests() {
    return EventStream.of(
        feed,
        new EventStream.WhenChanged(
            "requests",
            () -> state.tracing().slowest().map(ring -> ring.changes()).orElse(0L),
            this::slowest));
  }

  @Override
  public byte[] end(String reason) {
    return Snapshot.event("end", new ConsoleJson().with("reason", reason));
  }

  @Override
  public byte[] slowRequests() {
    return slowest().bytes();
  }

  private ConsoleJson slowest() {
    return RequestsJson.of(state.tracing().slowest().orElse(null));
  }

  @Override
  public byte[] history(String name, long version) {
    if (!name.isEmpty()) {
      find(name, version); // throws if the model is missing
    }
    return history.json(name, version).bytes();
  }

  // ---- Documents -------------------------------------------------------------------------------

  @Override
  public byte[] about(AccessControl access, UnaryOperator<String> fields) {
    ConsoleJson grants = new ConsoleJson();
    ConsoleJson wants = new ConsoleJson();
    for (EndpointGroup group : EndpointGroup.values()) {
      Optional<Refusal> refusal = access.check(group, fields);
      grants.with(group.toString(), refusal.isEmpty());
      refusal.ifPresent(why -> wants.with(group.toString(), wanted(why)));
    }
    Optional<Frontends.Place> grpc = state.frontends().place("grpc");
    return new ConsoleJson()
        .with("name", state.name())
        .with("version", ServerFacts.version())
        .with("state", ServerJson.word(state))
        .with("started_ms", ManagementFactory.getRuntimeMXBean().getStartTime())
        .with("control_mode", controlMode())
        .with("recording", state.recording().options().isPresent())
        .with("grants", grants)
        .with("wants", wants)
        .with(
            "protocols",
            new ConsoleJson()
                .with("http", true)
                .with("grpc", grpc.map(Frontends.Place::port).orElse(null))
                .with("grpc_tls", grpc.map(Frontends.Place::encrypted).orElse(false)))
        .bytes();
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

  @Override
  public byte[] details(String name, long version) {
    Model model = find(name, version);
    List<Path> repositories = state.nereid().repository().options().repositories();
    String examples = ModelExamples.read(repositories, name);
    return DetailJson.model(model, versions(name), examples).bytes();
  }

  @Override
  public byte[] configuration(String name, long version) {
    return DetailJson.configuration(find(name, version).configuration()).bytes();
  }

  @Override
  public byte[] reload(String name, long version) {
    Model model = find(name, version);
    ModelPreview preview;
    try {
      preview = state.nereid().repository().preview(name);
    } catch (NereidException e) {
      if (e.code() != StatusCode.NOT_FOUND) {
        throw e;
      }
      return ReloadJson.unknown().bytes(); // a program loaded it, or its directory is gone
    }
    return ReloadJson.of(model, versions(name), preview).bytes();
  }

  @Override
  public byte[] openApi() {
    return OpenApi.ofProtocol(state);
  }

  @Override
  public byte[] openApi(String name) {
    return OpenApi.of(state, state.nereid().model(name));
  }

  private List<Model> versions(String name) {
    return state.nereid().models().stream().filter(model -> model.name().equals(name)).toList();
  }

  /** The version that takes requests, else the highest; throws if there is none. */
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

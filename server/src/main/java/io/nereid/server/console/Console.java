package io.nereid.server.console;

import io.nereid.Model;
import io.nereid.model.ModelPreview;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.perf.ModelInfo;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.EndpointGroup;
import io.nereid.server.access.Refusal;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.json.JsonReader;
import io.nereid.server.shared.Frontends;
import io.nereid.server.shared.ModelFacts;
import io.nereid.server.shared.ServerFacts;
import io.nereid.server.shared.ServerState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;

/**
 * The console of one server: its files, and the figures and documents that its pages ask for. What
 * is asked over HTTP comes in through the HTTP frontend. From any thread.
 */
public final class Console {

  private final ServerState state;
  private final ConsoleOptions options;
  private final ConsoleFiles files = new ConsoleFiles();
  private final ConsoleFeed feed;
  private final LoadTests loads = new LoadTests();

  /** For a server; it ends when that stops. */
  public Console(ServerState state, ConsoleOptions options) {
    this.state = state;
    this.options = options;
    feed = new ConsoleFeed(state);
    state.health().addListener(this::healthChanged);
  }

  private void healthChanged() {
    if (state.health().isFinishing()) {
      loads.close();
    }
    if (state.health().isStopping()) {
      feed.close();
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

  // ---- Load tests ------------------------------------------------------------------------------

  /** Opens a stream about load tests. */
  public EventStream loads() {
    return EventStream.of(feed, new EventStream.WhenChanged("load", loads::changes, loads::write));
  }

  /** A plan to be filled in by {@link #startLoad}; members are read by {@code members}. */
  public interface PlanSource {
    /** Reads the object that a page sent. */
    void read(JsonReader.MemberReader members) throws IOException;
  }

  /**
   * Starts a load test, and writes which one it is.
   *
   * @param headers what its caller may ask with
   */
  public void startLoad(PlanSource source, Map<String, String> headers, JsonBuffer json)
      throws IOException {
    if (!options.load()) {
      throw new NereidException(
          StatusCode.PERMISSION_DENIED,
          "load tests are not allowed here; --allow-console-load allows them");
    }
    LoadPlan plan = new LoadPlan();
    source.read(plan::read);
    plan.check();
    ModelInfo model = described(find(plan.model, plan.versionNumber()).spec());
    String id = loads.start(plan, model, target(plan.protocol), headers);
    json.ascii("{\"id\":").string(id).write('}');
  }

  private Frontends.Place target(String protocol) {
    Frontends.Place place =
        state
            .frontends()
            .place(protocol)
            .orElseThrow(() ->
                new NereidException(
                    StatusCode.FAILED_PRECONDITION,
                    "expected a protocol that this server serves, got '" + protocol + "'"));
    if (place.mutual()) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "this port wants a certificate of each client, and load tests from the console have none;"
              + " nereid perf measures it");
    }
    return place;
  }

  private static ModelInfo described(ModelSpec spec) {
    return new ModelInfo(
        spec.name(),
        List.of(),
        spec.backendName(),
        described(spec, spec.inputs()),
        described(spec, spec.outputs()),
        OptionalInt.of((int) spec.maxBatchSize()),
        spec.decoupled(),
        spec.inputs().stream().filter(TensorSpec::optional).map(TensorSpec::name).toList());
  }

  private static List<ModelInfo.TensorInfo> described(ModelSpec model, List<TensorSpec> tensors) {
    return tensors.stream()
        .map(tensor ->
            new ModelInfo.TensorInfo(
                tensor.name(), tensor.dataType(), ModelFacts.shape(model, tensor)))
        .toList();
  }

  /** Stops the load test that runs, if one does. */
  public void stopLoad() {
    loads.stop();
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
    ConsoleJson.bool(json.ascii("\",\"load_allowed\":"), options.load());
    json.ascii(",\"load_limits\":{\"concurrency\":").number(LoadPlan.MOST_CONCURRENCY);
    json.ascii(",\"rate_per_s\":").number(LoadPlan.MOST_RATE);
    json.ascii(",\"duration_s\":").number(LoadPlan.MOST_SECONDS);
    json.ascii(",\"batch_size\":").number(LoadPlan.MOST_BATCH).ascii("},\"grants\":{");
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
    boolean encrypted = grpc.flatMap(Frontends.Place::certificate).isPresent();
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
    DetailJson.model(find(name, version), versions(name), json);
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
    write(OpenApiModel.of(state, state.nereid().model(name)), json);
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

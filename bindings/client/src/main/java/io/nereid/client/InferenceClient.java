package io.nereid.client;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A client of one server that speaks the Open Inference Protocol, over HTTP or gRPC. It keeps
 * connections; one client serves any number of threads.
 *
 * <p>Calls block the thread that makes them; a program that makes many at a time should make them
 * from virtual threads. A call that fails throws {@link InferenceException}. An interrupt cancels
 * the call.
 */
public final class InferenceClient implements AutoCloseable {

  private final URI server;
  private final ClientOptions options;
  private final Transport transport;

  private InferenceClient(URI server, ClientOptions options, Transport transport) {
    this.server = server;
    this.options = options;
    this.transport = transport;
  }

  /** A client with the default options; nothing is sent before the first call. */
  public static InferenceClient connect(String server) {
    return connect(server, ClientOptions.DEFAULT);
  }

  /**
   * A client; nothing is sent before the first call.
   *
   * @param server its address: {@code http}, {@code https}, {@code grpc} or {@code grpcs}, host and
   *     port, and for HTTP a path in front of the protocol's own, where there is one
   */
  public static InferenceClient connect(String server, ClientOptions options) {
    URI uri = URI.create(server);
    if (uri.getHost() == null || uri.getRawQuery() != null || uri.getRawFragment() != null) {
      throw new IllegalArgumentException(
          "expected an address such as 'http://localhost:8000', got '" + server + "'");
    }
    Transport transport =
        switch (uri.getScheme()) {
          case "http" -> new HttpTransport(uri, options, false);
          case "https" -> new HttpTransport(uri, options, true);
          case "grpc" -> new GrpcTransport(uri, options, false);
          case "grpcs" -> new GrpcTransport(uri, options, true);
          default ->
              throw new IllegalArgumentException(
                  "expected http, https, grpc or grpcs, got '" + server + "'");
        };
    return new InferenceClient(uri, options, transport);
  }

  // ---- Health and metadata ---------------------------------------------------------------------

  /** True if the server is alive. An unreachable server is a failure. */
  public boolean serverLive() {
    return read(transport::serverLive);
  }

  /** True if the server and all its models are ready. */
  public boolean serverReady() {
    return read(transport::serverReady);
  }

  /** True if a version of the model is ready; false also for an unknown model. */
  public boolean modelReady(String model) {
    return modelReady(model, "");
  }

  /** True if this version of the model is ready. */
  public boolean modelReady(String model, String version) {
    return read(limit -> transport.modelReady(checked(model), version, limit));
  }

  /** Returns the server's name, version and extensions. */
  public ServerMetadata serverMetadata() {
    return read(transport::serverMetadata);
  }

  /** Returns the model's metadata: its versions, its platform, and its inputs and outputs. */
  public ModelMetadata modelMetadata(String model) {
    return modelMetadata(model, "");
  }

  /** Returns the metadata of one version of the model, as {@link #modelMetadata(String)} does. */
  public ModelMetadata modelMetadata(String model, String version) {
    return read(limit -> transport.modelMetadata(checked(model), version, limit));
  }

  /**
   * The model's configuration in JSON, with Triton's names. Over gRPC fields with their default
   * values are left out.
   */
  public String modelConfig(String model) {
    return modelConfig(model, "");
  }

  /**
   * Returns the configuration of one version of the model, as {@link #modelConfig(String)} does.
   */
  public String modelConfig(String model, String version) {
    return read(limit -> transport.modelConfig(checked(model), version, limit));
  }

  /** Statistics of all models. */
  public List<ModelUsage> statistics() {
    return read(limit -> transport.statistics("", "", limit));
  }

  /** Statistics of all versions of a model. */
  public List<ModelUsage> statistics(String model) {
    return read(limit -> transport.statistics(checked(model), "", limit));
  }

  /** Statistics of one version of a model. */
  public ModelUsage statistics(String model, String version) {
    List<ModelUsage> all = read(limit -> transport.statistics(checked(model), version, limit));
    if (all.size() != 1) {
      throw InferenceException.malformed(
          "statistics of one version have " + all.size() + " entries");
    }
    return all.get(0);
  }

  // ---- The model repository --------------------------------------------------------------------

  /** The models that the server knows, loaded or not. */
  public List<IndexedModel> repositoryIndex() {
    return read(limit -> transport.repositoryIndex(false, limit));
  }

  /** The models that are ready. */
  public List<IndexedModel> readyModels() {
    return read(limit -> transport.repositoryIndex(true, limit));
  }

  /** Loads a model, or loads it anew; returns when it is ready. */
  public void loadModel(String model) {
    load(model, Optional.empty(), Map.of());
  }

  /**
   * Loads a model with a configuration, and perhaps files, in place of the repository's.
   *
   * @param config the configuration in JSON
   * @param files contents by their path in the model's directory, such as {@code 1/model.onnx};
   *     servers want a configuration with them
   */
  public void loadModel(String model, String config, Map<String, byte[]> files) {
    load(model, Optional.of(config), Map.copyOf(files));
  }

  private void load(String model, Optional<String> config, Map<String, byte[]> files) {
    change(limit -> transport.loadModel(checked(model), config, files, limit));
  }

  /** Unloads a model. */
  public void unloadModel(String model) {
    change(limit -> transport.unloadModel(checked(model), false, limit));
  }

  /** Unloads an ensemble and the models that it consists of. */
  public void unloadModelAndDependents(String model) {
    change(limit -> transport.unloadModel(checked(model), true, limit));
  }

  // ---- Shared memory ---------------------------------------------------------------------------

  /** Lets the server, which must run on this machine, map a region under the region's name. */
  public void registerSharedMemory(SharedMemory region) {
    registerSharedMemory(region.name(), region.key(), 0, region.byteSize());
  }

  /**
   * Lets the server map a part of a region that any program made.
   *
   * @param name the region's name in requests
   * @param key its name in the system
   */
  public void registerSharedMemory(String name, String key, long offset, long byteSize) {
    SharedMemory.Registration region =
        new SharedMemory.Registration(checked(name), key, offset, byteSize);
    change(limit -> transport.registerSharedMemory(region, limit));
  }

  /** Lets the server forget a region. */
  public void unregisterSharedMemory(String name) {
    change(limit -> transport.unregisterSharedMemory(checked(name), limit));
  }

  /** Lets the server forget all regions of main memory, those of other clients too. */
  public void unregisterAllSharedMemory() {
    change(limit -> transport.unregisterSharedMemory("", limit));
  }

  /** The regions of main memory that the server knows. */
  public List<SharedMemory.Registration> sharedMemoryStatus() {
    return read(transport::sharedMemoryStatus);
  }

  // ---- Settings --------------------------------------------------------------------------------

  /**
   * Returns, by Triton's names, the settings for tracing requests to models that have none of their
   * own.
   */
  public Map<String, List<String>> traceSettings() {
    return read(transport.traceSettings("", Map.of()));
  }

  /** Returns the settings for tracing requests to this model. */
  public Map<String, List<String>> traceSettings(String model) {
    return read(transport.traceSettings(checked(model), Map.of()));
  }

  /**
   * Changes settings for tracing; one without values returns to its value at the server's start.
   * Returns the new settings.
   */
  public Map<String, List<String>> changeTraceSettings(Map<String, List<String>> changes) {
    return change(transport.traceSettings("", changes));
  }

  /** Does the same for a model; a setting without values returns to the server's. */
  public Map<String, List<String>> changeTraceSettings(
      String model, Map<String, List<String>> changes) {
    return change(transport.traceSettings(checked(model), changes));
  }

  /** Returns the log settings by Triton's names; their values are Booleans, Longs and strings. */
  public Map<String, Object> logSettings() {
    return read(transport.logSettings(Map.of()));
  }

  /** Changes log settings; returns the new settings. */
  public Map<String, Object> changeLogSettings(Map<String, Object> changes) {
    return change(transport.logSettings(changes));
  }

  // ---- Text ------------------------------------------------------------------------------------

  /**
   * Asks a model with inputs in JSON, by Triton's generate extension: strings, numbers, booleans
   * and lists of them by the inputs' names, and parameters. The response has the outputs in the
   * same way, beside {@code model_name} and {@code model_version}. Only over HTTP.
   */
  public Map<String, Object> generate(String model, Map<String, Object> request) {
    return generate(model, "", request);
  }

  /** Does the same with this version of the model; with an empty one the server chooses. */
  public Map<String, Object> generate(String model, String version, Map<String, Object> request) {
    return Call.run(
        transport.generate(checked(model), version, request),
        options.retry(),
        RetryPolicy.CallKind.INFER,
        Call.Limit.in(options.deadline()));
  }

  /**
   * Asks a model that answers any number of times, as {@link #generate(String, Map)} does; returns
   * when the first response is there, which may be an error: {@link GenerateStream#next} throws it
   * and goes on. The call has no deadline, and is not repeated.
   */
  public GenerateStream generateStream(String model, Map<String, Object> request) {
    return generateStream(model, "", request);
  }

  /** Does the same with this version of the model; with an empty one the server chooses. */
  public GenerateStream generateStream(String model, String version, Map<String, Object> request) {
    return transport.generateStream(checked(model), version, request);
  }

  // ---- Inference -------------------------------------------------------------------------------

  /** Asks a model. Close the response when its outputs are read. */
  public InferResponse infer(InferRequest request) {
    return Call.run(transport.infer(request), options.retry(), kind(request), limit(request));
  }

  /**
   * Asks a model without waiting. Cancelling the future cancels the request at the server;
   * dependent code runs on virtual threads.
   */
  public CompletableFuture<InferResponse> inferAsync(InferRequest request) {
    return Call.start(transport.infer(request), options.retry(), kind(request), limit(request));
  }

  /**
   * Begins a stream of requests and responses, for models that answer any number of times and for
   * requests that follow each other without waiting. Only over gRPC.
   */
  public InferStream openStream() {
    return transport.openStream();
  }

  private Call.Limit limit(InferRequest request) {
    return Call.Limit.in(request.deadline().or(options::deadline));
  }

  private static RetryPolicy.CallKind kind(InferRequest request) {
    return request.isPartOfSequence() ? RetryPolicy.CallKind.SEQUENCE : RetryPolicy.CallKind.INFER;
  }

  // ---- How calls are made ----------------------------------------------------------------------

  private <T> T read(Call.Starter<T> starter) {
    return Call.run(
        starter, options.retry(), RetryPolicy.CallKind.READ, Call.Limit.in(options.deadline()));
  }

  private <T> T change(Call.Starter<T> starter) {
    Optional<Duration> deadline = Optional.of(options.changeDeadline());
    return Call.run(starter, options.retry(), RetryPolicy.CallKind.CHANGE, Call.Limit.in(deadline));
  }

  /** Checks that a name is not empty, which would have another meaning. */
  private static String checked(String name) {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("a name must not be empty");
    }
    return name;
  }

  /** Cancels calls under way and closes the connections. */
  @Override
  public void close() {
    transport.close();
  }

  /** The server's address. */
  @Override
  public String toString() {
    return "InferenceClient[" + server + "]";
  }
}

package io.nereid.client;

import io.nereid.client.Call.Attempt;
import io.nereid.client.Call.Limit;
import io.nereid.client.ClientOptions.Compression;
import io.nereid.types.StatusCode;
import io.nereid.types.TaskThreads;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Speaks the protocol over HTTP/1.1 by the JDK's client, which has the connections; replies are
 * read on virtual threads.
 */
final class HttpTransport implements Transport {

  private static final long MOST_IDLE_BYTES = 64 << 20;

  /** The most bytes that are read of an error's text. */
  private static final int MOST_ERROR_BYTES = 64 << 10;

  /** The one setting of tracing that is an array in JSON, whatever it holds. */
  private static final String TRACE_LEVEL = "trace_level";

  private final String base;
  private final ClientOptions options;
  private final HttpClient http;
  private final MemoryPool pool = new MemoryPool(MOST_IDLE_BYTES);

  HttpTransport(URI server, ClientOptions options, boolean tls) {
    this.options = options;
    String path = server.getRawPath();
    String prefix = path == null || path.equals("/") ? "" : path.replaceAll("/+$", "");
    base = server.getScheme() + "://" + server.getRawAuthority() + prefix + "/v2";
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(options.connectTimeout())
            .executor(TaskThreads.executor("nrd-client-http"));
    if (tls) {
      builder.sslContext(Tls.context(options.tls()));
    }
    http = builder.build();
    request(""); // throws now if the headers are invalid
  }

  // ---- Health and metadata ---------------------------------------------------------------------

  @Override
  public Attempt<Boolean> serverLive(Limit limit) {
    return check("/health/live", "live");
  }

  @Override
  public Attempt<Boolean> serverReady(Limit limit) {
    return check("/health/ready", "ready");
  }

  @Override
  public Attempt<Boolean> modelReady(String model, String version, Limit limit) {
    return check(modelPath(model, version) + "/ready", "ready");
  }

  /** Asks for a condition; every status but success means no, except refusals of the client. */
  private Attempt<Boolean> check(String path, String member) {
    return send(
        request(path).GET(),
        reply -> {
          if (reply.status() == 401 || reply.status() == 403) {
            throw HttpFailures.of(reply);
          }
          return reply.isSuccess() && isTrue(reply, member);
        });
  }

  /** True if a reply with status 200 confirms it; many such replies have no body. */
  private static boolean isTrue(HttpReply reply, String member) {
    String text = new String(reply.text(), 0, Math.min(1, reply.textLength()));
    if (!text.equals("{")) {
      return true;
    }
    Object tree = JsonReading.tree(reply);
    return !(tree instanceof Map<?, ?> members && Boolean.FALSE.equals(members.get(member)));
  }

  @Override
  public Attempt<ServerMetadata> serverMetadata(Limit limit) {
    return get("", json(ServerReplies::server));
  }

  @Override
  public Attempt<ModelMetadata> modelMetadata(String model, String version, Limit limit) {
    return get(modelPath(model, version), json(ServerReplies::model));
  }

  @Override
  public Attempt<String> modelConfig(String model, String version, Limit limit) {
    return get(
        modelPath(model, version) + "/config",
        reply -> new String(reply.text(), 0, reply.textLength(), StandardCharsets.UTF_8));
  }

  @Override
  public Attempt<List<ModelUsage>> statistics(String model, String version, Limit limit) {
    String path = model.isEmpty() ? "/models" : modelPath(model, version);
    return get(path + "/stats", json(ServerReplies::statistics));
  }

  // ---- The model repository --------------------------------------------------------------------

  @Override
  public Attempt<List<IndexedModel>> repositoryIndex(boolean readyOnly, Limit limit) {
    JsonWriter json = new JsonWriter().raw(readyOnly ? "{\"ready\":true}" : "{}");
    return post("/repository/index", json, json(ServerReplies::index));
  }

  @Override
  public Attempt<Void> loadModel(
      String model, Optional<String> config, Map<String, byte[]> files, Limit limit) {
    JsonWriter json = new JsonWriter().raw('{');
    if (config.isPresent()) {
      json.raw("\"parameters\":{\"config\":").string(config.get());
      for (Map.Entry<String, byte[]> file : files.entrySet()) {
        json.raw(',').string("file:" + file.getKey()).raw(":\"");
        json.raw(Base64.getEncoder().encodeToString(file.getValue())).raw('"');
      }
      json.raw('}');
    }
    return post("/repository/models/" + encoded(model) + "/load", json.raw('}'), reply -> null);
  }

  @Override
  public Attempt<Void> unloadModel(String model, boolean dependents, Limit limit) {
    JsonWriter json =
        new JsonWriter().raw(dependents ? "{\"parameters\":{\"unload_dependents\":true}}" : "{}");
    return post("/repository/models/" + encoded(model) + "/unload", json, reply -> null);
  }

  // ---- Shared memory ---------------------------------------------------------------------------

  @Override
  public Attempt<Void> registerSharedMemory(SharedMemory.Registration region, Limit limit) {
    JsonWriter json = new JsonWriter().raw("{\"key\":").string(region.key());
    json.raw(",\"offset\":").number(region.offset());
    json.raw(",\"byte_size\":").number(region.byteSize()).raw('}');
    return post(regionPath(region.name()) + "/register", json, reply -> null);
  }

  @Override
  public Attempt<Void> unregisterSharedMemory(String name, Limit limit) {
    String path = name.isEmpty() ? "/systemsharedmemory" : regionPath(name);
    return post(path + "/unregister", new JsonWriter(), reply -> null);
  }

  @Override
  public Attempt<List<SharedMemory.Registration>> sharedMemoryStatus(Limit limit) {
    return get("/systemsharedmemory/status", json(ServerReplies::sharedMemory));
  }

  // ---- Settings --------------------------------------------------------------------------------

  @Override
  public Call.Starter<Map<String, List<String>>> traceSettings(
      String model, Map<String, List<String>> changes) {
    String path = (model.isEmpty() ? "" : modelPath(model, "")) + "/trace/setting";
    JsonWriter json = traceChanges(changes);
    return limit ->
        changes.isEmpty()
            ? get(path, json(HttpTransport::settings))
            : post(path, json, json(HttpTransport::settings));
  }

  @Override
  public Call.Starter<Map<String, Object>> logSettings(Map<String, Object> changes) {
    JsonWriter json = new JsonWriter().value(changes);
    return limit ->
        changes.isEmpty()
            ? get("/logging", json(JsonReading::members))
            : post("/logging", json, json(JsonReading::members));
  }

  private static JsonWriter traceChanges(Map<String, List<String>> changes) {
    Map<String, Object> members = new LinkedHashMap<>();
    changes.forEach((name, values) ->
        members.put(
            name,
            values.isEmpty()
                ? null
                : name.equals(TRACE_LEVEL) ? values : String.join(",", values)));
    return new JsonWriter().value(members);
  }

  private static Map<String, List<String>> settings(Object tree) {
    Map<String, List<String>> settings = new LinkedHashMap<>();
    JsonReading.members(tree)
        .forEach((name, value) -> {
          List<String> values = new ArrayList<>();
          if (value instanceof List<?> several) {
            several.forEach(one -> values.add(String.valueOf(one)));
          } else if (value != null) {
            values.add(value.toString());
          }
          settings.put(name, List.copyOf(values));
        });
    return settings;
  }

  // ---- Inference -------------------------------------------------------------------------------

  @Override
  public Call.Starter<Map<String, Object>> generate(
      String model, String version, Map<String, Object> request) {
    JsonWriter json = new JsonWriter().value(request);
    return limit -> post(modelPath(model, version) + "/generate", json, json(JsonReading::members));
  }

  @Override
  public GenerateStream generateStream(String model, String version, Map<String, Object> request) {
    JsonWriter json = new JsonWriter().value(request);
    HttpRequest.Builder builder =
        request(modelPath(model, version) + "/generate_stream")
            .header("Content-Type", "application/json")
            .POST(new HttpBody(List.of(ByteBuffer.wrap(json.array(), 0, json.size()))));
    HttpResponse<InputStream> response;
    try {
      response = http.send(builder.build(), HttpResponse.BodyHandlers.ofInputStream());
    } catch (IOException e) {
      throw HttpFailures.of(e, false);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InferenceException(
          StatusCode.CANCELLED, "the thread was interrupted while it waited for the server", e);
    }
    int status = response.statusCode();
    if (status / 100 == 2 || hasEvents(response)) {
      return new GenerateStream(status, response.body(), options.maxResponseBytes());
    }
    try (InputStream body = response.body()) {
      byte[] text = body.readNBytes(MOST_ERROR_BYTES);
      throw HttpFailures.of(new HttpReply(status, response.headers(), text, text.length, null, 0));
    } catch (IOException e) {
      throw HttpFailures.of(e, true);
    }
  }

  /** True if the reply is a stream of responses, even if the first of them is an error. */
  private static boolean hasEvents(HttpResponse<?> response) {
    return response.headers().firstValue("Content-Type").orElse("").startsWith("text/event-stream");
  }

  @Override
  public Call.Starter<InferResponse> infer(InferRequest request) {
    MemoryPool.Outgoing outgoing = new MemoryPool.Outgoing(pool);
    Compression compression = options.requestCompression();
    Compression accepted = options.replyCompression();
    HttpInferRequest body =
        HttpInferRequest.of(request, options.binaryData(), compression, outgoing);
    HttpRequest.Builder builder =
        request(modelPath(request.model(), request.version().orElse("")) + "/infer")
            .POST(body.body());
    if (options.binaryData()) {
      builder
          .header("Content-Type", "application/octet-stream")
          .header(HttpReply.Reader.JSON_LENGTH, Integer.toString(body.jsonLength()));
    } else {
      builder.header("Content-Type", "application/json");
    }
    if (compression != Compression.NONE) {
      builder.header("Content-Encoding", compression.coding());
    }
    if (accepted != Compression.NONE) {
      builder.header("Accept-Encoding", accepted.coding());
    }
    return limit ->
        send(
            builder,
            accepted,
            reply -> {
              HttpReply success = checked(reply);
              outgoing.close(); // a server that answers has read the whole request
              return HttpInferReply.read(request, success, pool);
            });
  }

  @Override
  public InferStream openStream() {
    throw new InferenceException(
        StatusCode.UNIMPLEMENTED, "streams of requests are only to be had over gRPC");
  }

  // ---- Requests --------------------------------------------------------------------------------

  private static String modelPath(String model, String version) {
    return "/models/" + encoded(model) + (version.isEmpty() ? "" : "/versions/" + encoded(version));
  }

  private static String regionPath(String name) {
    return "/systemsharedmemory/region/" + encoded(name);
  }

  /** A name as one segment of a path. */
  static String encoded(String name) {
    if (name.equals(".") || name.equals("..")) { // proxies resolve them, encoded or not
      throw new InferenceException(
          StatusCode.INVALID_ARGUMENT, "expected a name, got '" + name + "'");
    }
    StringBuilder path = new StringBuilder(name.length());
    for (byte next : name.getBytes(StandardCharsets.UTF_8)) {
      char character = (char) (next & 0xff);
      boolean plain =
          character < 128
              && (Character.isLetterOrDigit(character) || "-._~".indexOf(character) >= 0);
      if (plain) {
        path.append(character);
      } else {
        path.append('%').append(String.format("%02X", (int) character));
      }
    }
    return path.toString();
  }

  private HttpRequest.Builder request(String path) {
    HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(base + path));
    options.headers().forEach(builder::setHeader);
    return builder;
  }

  private <T> Attempt<T> get(String path, Function<HttpReply, T> reader) {
    return send(request(path).GET(), reply -> reader.apply(checked(reply)));
  }

  private <T> Attempt<T> post(String path, JsonWriter json, Function<HttpReply, T> reader) {
    ByteBuffer body = ByteBuffer.wrap(json.array(), 0, json.size());
    return send(
        request(path)
            .header("Content-Type", "application/json")
            .POST(new HttpBody(json.size() == 0 ? List.of() : List.of(body))),
        reply -> reader.apply(checked(reply)));
  }

  private <T> Attempt<T> send(HttpRequest.Builder request, Function<HttpReply, T> reader) {
    return send(request, Compression.NONE, reader);
  }

  private <T> Attempt<T> send(
      HttpRequest.Builder request, Compression accepted, Function<HttpReply, T> reader) {
    HttpReply.Reader reply = new HttpReply.Reader(pool, options.maxResponseBytes(), accepted);
    CompletableFuture<HttpResponse<HttpReply>> sent = http.sendAsync(request.build(), reply);
    CompletableFuture<T> read =
        sent.handle((response, failure) -> {
          if (failure != null) {
            throw HttpFailures.of(failure, reply.hasBegun());
          }
          return reader.apply(response.body());
        });
    return new Attempt<>(read, () -> reply.whileConnected(() -> sent.cancel(true)));
  }

  private static <T> Function<HttpReply, T> json(Function<Object, T> reader) {
    return reply -> reader.apply(JsonReading.tree(reply));
  }

  private static HttpReply checked(HttpReply reply) {
    if (!reply.isSuccess()) {
      throw HttpFailures.of(reply);
    }
    return reply;
  }

  @Override
  public void close() {
    Platform.shutdown(http);
  }
}

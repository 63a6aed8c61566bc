package io.nereid.perf;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/** {@link ServerControl} over HTTP. */
final class HttpControl implements ServerControl {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Target target;
  private final HttpClient client;

  HttpControl(Target target) {
    this.target = target;
    HttpClient.Builder builder =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(PATIENCE);
    target.tls().ifPresent(files -> builder.sslContext(files.context()));
    client = builder.build();
  }

  private record Reply(int status, String text) {
    Map<String, Object> json() {
      try {
        return JSON.std.mapFrom(text);
      } catch (JacksonException e) {
        throw new PerfException("expected JSON from the server, got: " + ErrorText.of(text), e);
      }
    }
  }

  private Reply send(String path, String body) {
    URI uri =
        URI.create((target.tls().isPresent() ? "https://" : "http://") + target.authority() + path);
    HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(PATIENCE);
    target.headers().forEach(request::setHeader);
    if (body != null) {
      request.POST(HttpRequest.BodyPublishers.ofString(body));
    }
    try {
      HttpResponse<String> reply =
          client.send(request.build(), HttpResponse.BodyHandlers.ofString());
      return new Reply(reply.statusCode(), reply.body());
    } catch (IOException e) {
      throw ServerControl.absent(target, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new PerfException("interrupted", e);
    }
  }

  private static PerfException refused(String what, Reply reply) {
    return new PerfException(what + ": HTTP " + reply.status() + ", " + ErrorText.of(reply.text()));
  }

  @Override
  public ServerInfo server() {
    Reply reply = send(target.path() + "/v2", null);
    if (reply.status() == 401 || reply.status() == 403) {
      throw refused("the server at " + target + " wants to know who asks (--token-file)", reply);
    }
    if (reply.status() != 200) {
      throw refused("expected a server of the Open Inference Protocol at " + target, reply);
    }
    Map<String, Object> json = reply.json();
    return new ServerInfo(
        text(json.get("name")),
        text(json.get("version")),
        list(json.get("extensions")).stream().map(Object::toString).toList());
  }

  @Override
  public boolean modelReady() {
    return send(target.modelPath() + "/ready", null).status() == 200;
  }

  @Override
  public ModelInfo model() {
    Reply reply = send(target.modelPath(), null);
    if (reply.status() != 200) {
      throw refused("expected metadata of model '" + target.model() + "'", reply);
    }
    Map<String, Object> json = reply.json();
    ModelInfo described =
        new ModelInfo(
            target.model(),
            list(json.get("versions")).stream().map(Object::toString).toList(),
            text(json.get("platform")),
            tensors(json.get("inputs")),
            tensors(json.get("outputs")),
            OptionalInt.empty(),
            false,
            List.of());
    Reply config = send(target.modelPath() + "/config", null);
    return config.status() == 200 ? configured(described, config.json()) : described;
  }

  private static ModelInfo configured(ModelInfo model, Map<String, Object> config) {
    Map<?, ?> policy = map(config.get("model_transaction_policy"));
    List<String> optional = new ArrayList<>();
    for (Object input : list(config.get("input"))) {
      if (Boolean.TRUE.equals(map(input).get("optional"))) {
        optional.add(text(map(input).get("name")));
      }
    }
    return model.configured(
        (int) number(config.get("max_batch_size")),
        Boolean.TRUE.equals(policy.get("decoupled")),
        optional);
  }

  private static List<TensorInfo> tensors(Object tensors) {
    List<TensorInfo> infos = new ArrayList<>();
    for (Object tensor : list(tensors)) {
      Map<?, ?> members = map(tensor);
      String name = text(members.get("name"));
      infos.add(
          new TensorInfo(
              name,
              DataType.of(text(members.get("datatype")), name),
              list(members.get("shape")).stream().map(HttpControl::number).toList()));
    }
    return infos;
  }

  @Override
  public Optional<ServerStatistics> statistics() {
    Reply reply = send(target.modelPath() + "/stats", null);
    if (reply.status() != 200) {
      return Optional.empty();
    }
    List<ServerStatistics> versions = new ArrayList<>();
    for (Object version : list(reply.json().get("model_stats"))) {
      Map<?, ?> members = map(version);
      Map<?, ?> inference = map(members.get("inference_stats"));
      versions.add(
          new ServerStatistics(
              number(map(inference.get("success")).get("count")),
              number(map(inference.get("fail")).get("count")),
              number(members.get("inference_count")),
              number(members.get("execution_count")),
              number(map(inference.get("success")).get("ns")),
              number(map(inference.get("queue")).get("ns")),
              number(map(inference.get("compute_input")).get("ns")),
              number(map(inference.get("compute_infer")).get("ns")),
              number(map(inference.get("compute_output")).get("ns")),
              number(map(inference.get("cache_hit")).get("count"))));
    }
    return Optional.of(ServerStatistics.sum(versions));
  }

  @Override
  public void registerMemory(String name, String key, long byteSize) {
    String body = "{\"key\":\"" + key + "\",\"offset\":0,\"byte_size\":" + byteSize + "}";
    Reply reply = send(memoryPath(name) + "/register", body);
    if (reply.status() != 200) {
      throw refused("the server does not take shared memory (--allow-client-shm of Nereid)", reply);
    }
  }

  @Override
  public void unregisterMemory(String name) {
    send(memoryPath(name) + "/unregister", "");
  }

  private String memoryPath(String name) {
    return target.path()
        + "/v2/systemsharedmemory/region/"
        + URLEncoder.encode(name, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    client.shutdownNow();
  }

  private static List<?> list(Object value) {
    return value instanceof List<?> list ? list : List.of();
  }

  private static Map<?, ?> map(Object value) {
    return value instanceof Map<?, ?> map ? map : Map.of();
  }

  private static String text(Object value) {
    return value == null ? "" : value.toString();
  }

  private static long number(Object value) {
    return value instanceof Number number ? number.longValue() : 0;
  }
}

package io.nereid.perf;

import io.nereid.client.ClientOptions;
import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.client.ModelMetadata;
import io.nereid.client.RetryPolicy;
import io.nereid.perf.ModelInfo.TensorInfo;
import io.nereid.perf.Target.Protocol;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/**
 * A connection to the server that a command line names, by Nereid's client, with advice in its
 * failures. Calls block, and are not repeated; any number of threads may call.
 */
public final class ServerConnection implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** The timeout of changes, as loading a large model takes long. */
  private static final Duration CHANGE_PATIENCE = Duration.ofMinutes(10);

  /** The HTTP statuses of servers that do not have an address, or not the method. */
  private static final Set<Integer> LACKING = Set.of(404, 405, 501);

  /** Messages of the clients of HTTP and gRPC about a port that speaks another protocol. */
  private static final List<String> SPEAKS_OTHERWISE =
      List.of(
          "parsing HTTP/1.1 status line",
          "header parser received no bytes",
          "Network closed for unknown reason");

  private final Target target;
  private final InferenceClient client;

  ServerConnection(Target target) {
    this.target = target;
    ClientOptions.Builder options =
        ClientOptions.builder()
            .connectTimeout(PATIENCE)
            .deadline(PATIENCE)
            .changeDeadline(CHANGE_PATIENCE)
            .retry(RetryPolicy.NONE);
    target.headers().forEach(options::header);
    target
        .tls()
        .ifPresent(files -> {
          files.context(); // checks the files with the same messages as for connections
          options.tls(files.forClient());
        });
    client = InferenceClient.connect(target.toString(), options.build());
  }

  /** Connects to a server that was just started on this machine, by its address. */
  public static ServerConnection to(String url) {
    return new ServerConnection(Target.of(url, null, false, null, Map.of(), "", ""));
  }

  InferenceClient client() {
    return client;
  }

  /** True if requests go over gRPC, and not over HTTP. */
  public boolean isGrpc() {
    return target.protocol() == Protocol.GRPC;
  }

  /**
   * Asks the server.
   *
   * @param expected the expected answer, for the exception's message
   */
  public <T> T ask(String expected, Function<InferenceClient, T> question) {
    try {
      return question.apply(client);
    } catch (InferenceException e) {
      throw failure(expected, e);
    }
  }

  /** Does the same as {@link #ask}; empty if the server does not have that part of the protocol. */
  public <T> Optional<T> askIfServed(String expected, Function<InferenceClient, T> question) {
    try {
      return Optional.of(question.apply(client));
    } catch (InferenceException e) {
      if (isLacking(e)) {
        return Optional.empty();
      }
      throw failure(expected, e);
    }
  }

  /** Makes the server change something; {@code expected} as in {@link #ask}. */
  public void tell(String expected, Consumer<InferenceClient> change) {
    ask(
        expected,
        asked -> {
          change.accept(asked);
          return true;
        });
  }

  /**
   * Returns the server's description of a model; with an empty version the server chooses. The call
   * fails if the server does not know the model.
   */
  public ModelInfo model(String name, String version) {
    ModelMetadata model =
        ask(
            "expected metadata of model '" + name + "'",
            asked -> asked.modelMetadata(name, version));
    ModelInfo described =
        new ModelInfo(
            name,
            model.versions(),
            model.platform(),
            model.inputs().stream().map(ServerConnection::tensor).toList(),
            model.outputs().stream().map(ServerConnection::tensor).toList(),
            OptionalInt.empty(),
            false,
            List.of());
    return config(name, version).map(config -> configured(described, config)).orElse(described);
  }

  private static TensorInfo tensor(ModelMetadata.TensorMetadata tensor) {
    for (DataType type : DataType.values()) {
      if (type.name().equals(tensor.datatype())) {
        return new TensorInfo(tensor.name(), type, tensor.shape());
      }
    }
    throw new PerfException(
        ("the server says that tensor '%s' has the datatype '%s', which is none of the "
                + "protocol's")
            .formatted(tensor.name(), tensor.datatype()));
  }

  /** A model's configuration; empty if the server lacks this extension of the protocol. */
  private Optional<Map<String, Object>> config(String name, String version) {
    String text;
    try {
      text = client.modelConfig(name, version);
    } catch (InferenceException e) {
      return Optional.empty();
    }
    try {
      return Optional.of(JSON.std.mapFrom(text));
    } catch (JacksonException e) {
      throw new PerfException(
          "expected JSON from the server, got: " + ErrorText.printable(text), e);
    }
  }

  private static ModelInfo configured(ModelInfo model, Map<String, Object> config) {
    List<String> optional = new ArrayList<>();
    if (config.get("input") instanceof List<?> inputs) {
      for (Object input : inputs) {
        if (Boolean.TRUE.equals(map(input).get("optional"))) {
          optional.add(String.valueOf(map(input).get("name")));
        }
      }
    }
    return model.configured(
        config.get("max_batch_size") instanceof Number size ? size.intValue() : 0,
        Boolean.TRUE.equals(map(config.get("model_transaction_policy")).get("decoupled")),
        optional);
  }

  private static Map<?, ?> map(Object value) {
    return value instanceof Map<?, ?> map ? map : Map.of();
  }

  /** A client for other ports of the server, with the same certificates as this connection. */
  public HttpClient otherPorts(Duration connectTimeout) {
    HttpClient.Builder other = HttpClient.newBuilder().connectTimeout(connectTimeout);
    target.tls().ifPresent(files -> other.sslContext(files.context()));
    return other.build();
  }

  /**
   * A request to another port of the server, with the header fields of this connection: a token is
   * sent unencrypted only if this connection is unencrypted.
   */
  public HttpRequest.Builder otherRequest(URI uri) {
    HttpRequest.Builder request = HttpRequest.newBuilder(uri);
    if (target.tls().isEmpty() || uri.getScheme().equals("https")) {
      target.headers().forEach(request::header);
    }
    return request;
  }

  /** Its address. */
  @Override
  public String toString() {
    return target.toString();
  }

  @Override
  public void close() {
    client.close();
  }

  // ---- Failures, for people --------------------------------------------------------------------

  PerfException failure(String expected, InferenceException e) {
    if (isAbsent(e)) {
      return absent(e);
    }
    boolean stranger =
        e.code() == StatusCode.UNAUTHENTICATED || e.code() == StatusCode.PERMISSION_DENIED;
    return refused(
        stranger ? "the server at " + target + " wants to know who asks (--token-file)" : expected,
        e);
  }

  /** True if nothing answered; over HTTP any status is an answer. */
  static boolean isAbsent(InferenceException e) {
    return e.httpStatus().isEmpty()
        && (e.code() == StatusCode.UNAVAILABLE || e.code() == StatusCode.DEADLINE_EXCEEDED);
  }

  private PerfException absent(InferenceException e) {
    Throwable cause = e;
    while (cause.getCause() != null
        && (cause instanceof InferenceException || target.protocol() == Protocol.GRPC)) {
      cause = cause.getCause();
    }
    String why = cause.getMessage();
    if (why == null) { // the JDK's client gives no other reason
      why = cause instanceof ConnectException ? "connection refused" : cause.toString();
    }
    String got = "expected a server at " + target + ", got ";
    if (why.contains("unable to find valid certification path")) {
      return new PerfException(
          got + "one whose certificate is not trusted here; --tls-ca FILE names its authority", e);
    }
    if (target.tls().isEmpty() && SPEAKS_OTHERWISE.stream().anyMatch(why::contains)) {
      return new PerfException(
          got
              + "something that does not answer so: "
              + why
              + "; a port with TLS is asked with https:// or --tls, one of gRPC with -i grpc",
          e);
    }
    return new PerfException(
        got + "none: " + why + "; start it, or say where it is with -u HOST:PORT and -i http|grpc",
        e);
  }

  private static boolean isLacking(InferenceException e) {
    return e.httpStatus().isPresent()
        ? LACKING.contains(e.httpStatus().getAsInt())
        : e.code() == StatusCode.UNIMPLEMENTED;
  }

  private static PerfException refused(String what, InferenceException e) {
    String lacking = isLacking(e) ? "this server does not have that: " : "";
    if (e.httpStatus().isEmpty()) {
      return new PerfException(what + ": " + lacking + e.code() + ": " + e.getMessage(), e);
    }
    int status = e.httpStatus().getAsInt();
    String text = e.getMessage().replaceFirst("^status " + status + ": ", "");
    return new PerfException(
        what + ": " + lacking + "HTTP " + status + ", " + ErrorText.printable(text), e);
  }
}

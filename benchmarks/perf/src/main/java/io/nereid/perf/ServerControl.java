package io.nereid.perf;

import io.nereid.client.ClientOptions;
import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.client.ModelMetadata;
import io.nereid.client.RetryPolicy;
import io.nereid.client.ServerMetadata;
import io.nereid.perf.ModelInfo.TensorInfo;
import io.nereid.perf.Target.Protocol;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/**
 * What is asked of the server beside the load, by Nereid's client: all of it blocks, and none of it
 * is measured. For one thread.
 */
final class ServerControl implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Target target;
  private final InferenceClient client;

  ServerControl(Target target) {
    this.target = target;
    ClientOptions.Builder options =
        ClientOptions.builder()
            .connectTimeout(PATIENCE)
            .deadline(PATIENCE)
            .changeDeadline(PATIENCE)
            .retry(RetryPolicy.NONE);
    target.headers().forEach(options::header);
    target
        .tls()
        .ifPresent(files -> {
          files.context(); // says what is wrong with the files as the wire would
          options.tls(files.forClient());
        });
    client = InferenceClient.connect(target.toString(), options.build());
  }

  /** Fails with what to do about it when there is no server, or it is none of the protocol. */
  ServerMetadata server() {
    try {
      return client.serverMetadata();
    } catch (InferenceException e) {
      if (e.code() == StatusCode.UNAUTHENTICATED || e.code() == StatusCode.PERMISSION_DENIED) {
        throw refused("the server at " + target + " wants to know who asks (--token-file)", e);
      }
      throw isAbsent(e)
          ? absent(e)
          : refused("expected a server of the Open Inference Protocol at " + target, e);
    }
  }

  boolean modelReady() {
    try {
      return client.modelReady(target.model(), target.version());
    } catch (InferenceException e) {
      return false; // who asks for the model itself is told why
    }
  }

  /** Fails when the model is unknown. */
  ModelInfo model() {
    ModelMetadata model;
    try {
      model = client.modelMetadata(target.model(), target.version());
    } catch (InferenceException e) {
      throw refused("expected metadata of model '" + target.model() + "'", e);
    }
    ModelInfo described =
        new ModelInfo(
            target.model(),
            model.versions(),
            model.platform(),
            model.inputs().stream().map(ServerControl::tensor).toList(),
            model.outputs().stream().map(ServerControl::tensor).toList(),
            OptionalInt.empty(),
            false,
            List.of());
    return config().map(config -> configured(described, config)).orElse(described);
  }

  private static TensorInfo tensor(ModelMetadata.TensorMetadata tensor) {
    for (DataType type : DataType.values()) {
      if (type.name().equals(tensor.datatype())) {
        return new TensorInfo(tensor.name(), type, tensor.shape());
      }
    }
    throw new PerfException(
        "the server says that tensor '"
            + tensor.name()
            + "' has the datatype '"
            + tensor.datatype()
            + "', which is none of the protocol's");
  }

  /** Empty where the server has no configurations: they are an extension of the protocol. */
  private Optional<Map<String, Object>> config() {
    String text;
    try {
      text = client.modelConfig(target.model(), target.version());
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

  /** The sum over all versions that are asked; empty where the server has no statistics. */
  Optional<ServerStatistics> statistics() {
    try {
      return Optional.of(
          ServerStatistics.sum(
              target.version().isEmpty()
                  ? client.statistics(target.model())
                  : List.of(client.statistics(target.model(), target.version()))));
    } catch (InferenceException e) {
      if (isAbsent(e)) {
        throw absent(e);
      }
      return Optional.empty();
    }
  }

  void registerMemory(String name, String key, long byteSize) {
    try {
      client.registerSharedMemory(name, key, 0, byteSize);
    } catch (InferenceException e) {
      throw refused("the server does not take shared memory (--allow-client-shm of Nereid)", e);
    }
  }

  void unregisterMemory(String name) {
    client.unregisterSharedMemory(name);
  }

  @Override
  public void close() {
    client.close();
  }

  // ---- Failures, for people --------------------------------------------------------------------

  /** Whether nothing answered; over HTTP a status is an answer, whatever it says. */
  private static boolean isAbsent(InferenceException e) {
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
    if (why == null) { // the JDK's client says no more than this
      why = cause instanceof ConnectException ? "connection refused" : cause.toString();
    }
    return new PerfException(
        "expected a server at "
            + target
            + ", got none: "
            + why
            + "; start it, or say where it is with -u HOST:PORT and -i http|grpc",
        e);
  }

  private static PerfException refused(String what, InferenceException e) {
    if (e.httpStatus().isEmpty()) {
      return new PerfException(what + ": " + e.code() + ": " + e.getMessage(), e);
    }
    int status = e.httpStatus().getAsInt();
    String text = e.getMessage().replaceFirst("^status " + status + ": ", "");
    return new PerfException(what + ": HTTP " + status + ", " + ErrorText.printable(text), e);
  }
}

package io.nereid.client;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A request for inference by a model. It holds no resources and can be sent any number of times,
 * also by several threads.
 */
public final class InferRequest {

  static final String TIMEOUT = "timeout";
  static final String SEQUENCE_ID = "sequence_id";

  private final String model;
  private final String version;
  private final String id;
  private final Duration deadline;
  private final Map<String, Object> parameters;
  private final Map<String, Tensor> inputs;
  private final Map<String, Output> outputs;

  private InferRequest(Builder builder) {
    model = builder.model;
    version = builder.version;
    id = builder.id;
    deadline = builder.deadline;
    parameters = Collections.unmodifiableMap(new LinkedHashMap<>(builder.parameters));
    inputs = Collections.unmodifiableMap(new LinkedHashMap<>(builder.inputs));
    outputs = Collections.unmodifiableMap(new LinkedHashMap<>(builder.outputs));
  }

  /** A request to a model. */
  public static Builder builder(String model) {
    return new Builder(model);
  }

  /** The model's name. */
  public String model() {
    return model;
  }

  /** The model's version, when the request names one. */
  public Optional<String> version() {
    return version.isEmpty() ? Optional.empty() : Optional.of(version);
  }

  /** The id that the response repeats, when there is one. */
  public Optional<String> id() {
    return id.isEmpty() ? Optional.empty() : Optional.of(id);
  }

  /** Returns how long the call may take, if the request says so itself. */
  public Optional<Duration> deadline() {
    return Optional.ofNullable(deadline);
  }

  /** The parameters: values are {@link Boolean}, {@link Long}, {@link Double} or {@link String}. */
  public Map<String, Object> parameters() {
    return parameters;
  }

  /** The inputs by name. */
  public Map<String, Tensor> inputs() {
    return inputs;
  }

  /** Outputs by name; empty: all that the model has. */
  Map<String, Output> outputs() {
    return outputs;
  }

  /** True if the server keeps state between this request and others, so that none may be lost. */
  boolean isPartOfSequence() {
    return parameters.containsKey(SEQUENCE_ID);
  }

  /** Builds an {@link InferRequest}. */
  public static final class Builder {
    private final String model;
    private String version = "";
    private String id = "";
    private Duration deadline;
    private final Map<String, Object> parameters = new LinkedHashMap<>();
    private final Map<String, Tensor> inputs = new LinkedHashMap<>();
    private final Map<String, Output> outputs = new LinkedHashMap<>();

    private Builder(String model) {
      if (model.isEmpty()) {
        throw new IllegalArgumentException("a model's name must not be empty");
      }
      this.model = model;
    }

    /** Sets the version of the model; the server chooses one by default. */
    public Builder version(String name) {
      version = Objects.requireNonNull(name);
      return this;
    }

    /** An id, which the response repeats. */
    public Builder id(String name) {
      id = Objects.requireNonNull(name);
      return this;
    }

    /** An input; every name once. */
    public Builder input(String name, Tensor tensor) {
      Objects.requireNonNull(tensor);
      if (inputs.putIfAbsent(Objects.requireNonNull(name), tensor) != null) {
        throw new IllegalArgumentException("the request has an input '" + name + "' already");
      }
      return this;
    }

    /** An output to answer with. A request that names none gets all. */
    public Builder output(String name) {
      return output(new Output(name, 0, null));
    }

    /** An output to put into shared memory instead of the reply. */
    public Builder output(String name, SharedMemory.Slice slice) {
      return output(new Output(name, 0, Objects.requireNonNull(slice)));
    }

    /**
     * Asks for the {@code count} best classes of an output of scores instead: the response has a
     * BYTES tensor with elements {@code SCORE:INDEX:LABEL}.
     */
    public Builder classification(String name, int count) {
      if (count < 1) {
        throw new IllegalArgumentException("expected a number of classes above 0, got " + count);
      }
      return output(new Output(name, count, null));
    }

    private Builder output(Output output) {
      if (outputs.putIfAbsent(output.name(), output) != null) {
        throw new IllegalArgumentException(
            "the request has an output '" + output.name() + "' already");
      }
      return this;
    }

    /** A parameter for server or model. */
    public Builder parameter(String name, boolean value) {
      return put(name, value);
    }

    /** A parameter for server or model. */
    public Builder parameter(String name, long value) {
      return put(name, value);
    }

    /** A parameter for server or model. */
    public Builder parameter(String name, double value) {
      if (!Double.isFinite(value)) {
        throw new IllegalArgumentException(
            "parameter '" + name + "' must be finite, as JSON knows nothing else, got " + value);
      }
      return put(name, value);
    }

    /** A parameter for server or model. */
    public Builder parameter(String name, String value) {
      return put(name, Objects.requireNonNull(value));
    }

    private Builder put(String name, Object value) {
      parameters.put(Objects.requireNonNull(name), value);
      return this;
    }

    /** Priority in the model's queue: 1 is the highest, 0 the model's default. */
    public Builder priority(long level) {
      return put("priority", level);
    }

    /**
     * Sets how long the request may wait in the server's queue; the model's configuration may cap
     * it.
     */
    public Builder timeout(Duration duration) {
      return put(TIMEOUT, positive(duration).toNanos() / 1000);
    }

    /**
     * Makes the request part of a sequence of requests that belong together, for models that keep
     * state.
     */
    public Builder sequence(long sequence, boolean start, boolean end) {
      return put(SEQUENCE_ID, sequence).put("sequence_start", start).put("sequence_end", end);
    }

    /**
     * Does the same as {@link #sequence(long, boolean, boolean)}, with a string as the sequence's
     * id.
     */
    public Builder sequence(String sequence, boolean start, boolean end) {
      return put(SEQUENCE_ID, Objects.requireNonNull(sequence))
          .put("sequence_start", start)
          .put("sequence_end", end);
    }

    /**
     * Sets how long the whole call may take, including all attempts and the waits between them;
     * {@link ClientOptions#deadline} by default. The call is cancelled at the server when that time
     * is over. A deadline has no effect on a request in an {@link InferStream}.
     */
    public Builder deadline(Duration duration) {
      deadline = positive(duration);
      return this;
    }

    private static Duration positive(Duration duration) {
      if (duration.isZero() || duration.isNegative()) {
        throw new IllegalArgumentException("expected a duration above 0, got " + duration);
      }
      return duration;
    }

    /** The finished request. */
    public InferRequest build() {
      return new InferRequest(this);
    }
  }

  /**
   * An output that a request asks for.
   *
   * @param name its name
   * @param classification how many classes the server is to name instead of the tensor; 0: none
   * @param slice where in shared memory the server is to put it; null: into the reply
   */
  record Output(String name, int classification, SharedMemory.Slice slice) {

    Output {
      Objects.requireNonNull(name);
      if (classification < 0) {
        throw new IllegalArgumentException(
            "expected a number of classes above 0 for output '%s', got %s"
                .formatted(name, classification));
      }
    }
  }
}

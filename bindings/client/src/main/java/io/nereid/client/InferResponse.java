package io.nereid.client;

import io.nereid.types.StatusCode;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An answer to a request. The memory of its outputs is reused for other calls after {@link #close};
 * without that, the garbage collector frees it.
 */
public final class InferResponse implements AutoCloseable {

  private final String modelName;
  private final String modelVersion;
  private final String id;
  private final Map<String, Object> parameters;
  private final Map<String, Tensor> outputs = new LinkedHashMap<>();
  private final Collection<MemoryPool.Lease> leases;
  private volatile boolean closed;

  /**
   * Makes a response without outputs, which are added before it is published. It owns the leases
   * until it is closed.
   */
  InferResponse(
      String modelName,
      String modelVersion,
      String id,
      Map<String, Object> parameters,
      Collection<MemoryPool.Lease> leases) {
    this.modelName = modelName;
    this.modelVersion = modelVersion;
    this.id = id;
    this.parameters = Collections.unmodifiableMap(parameters);
    this.leases = leases;
  }

  void add(String name, Tensor tensor) {
    if (outputs.putIfAbsent(name, tensor) != null) {
      throw InferenceException.malformed("output '" + name + "' is there twice");
    }
  }

  /** The name of the model that answered. */
  public String modelName() {
    return modelName;
  }

  /** The version that answered; empty if the server has no versions. */
  public String modelVersion() {
    return modelVersion;
  }

  /** The request's id, when it had one. */
  public Optional<String> id() {
    return id.isEmpty() ? Optional.empty() : Optional.of(id);
  }

  /** The parameters: values are {@link Boolean}, {@link Long}, {@link Double} or {@link String}. */
  public Map<String, Object> parameters() {
    return parameters;
  }

  /**
   * True if this is the last response to its request. In an {@link InferStream}, a decoupled model
   * may mark the end with an empty response.
   */
  public boolean isFinal() {
    return !Boolean.FALSE.equals(parameters.get("triton_final_response"));
  }

  /** Names of the outputs, in the server's order. */
  public List<String> outputNames() {
    return List.copyOf(outputs.keySet());
  }

  /** An output by name. */
  public Tensor output(String name) {
    checkOpen();
    Tensor tensor = outputs.get(name);
    if (tensor == null) {
      throw new InferenceException(
          StatusCode.NOT_FOUND,
          "the response has no output '" + name + "', it has " + outputs.keySet());
    }
    return tensor;
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the response is closed");
    }
  }

  /** Gives the memory of the outputs back. Closing twice does nothing. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      leases.forEach(MemoryPool.Lease::close);
    }
  }

  /** Model and outputs, without the elements. */
  @Override
  public String toString() {
    return modelName + (modelVersion.isEmpty() ? "" : " version " + modelVersion) + outputs;
  }
}

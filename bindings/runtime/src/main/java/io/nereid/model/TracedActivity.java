package io.nereid.model;

import io.nereid.tensor.Tensor;
import java.util.Optional;

/**
 * An event that a plug-in reported while it executed a request, or an event of an inference that
 * the plug-in began for the request.
 *
 * @param inference 0: the request itself; else the number of such an inference
 * @param parent the inference that began it; 0: the request itself
 * @param model the inference's model; empty for the request itself
 * @param version the version of that model
 * @param requestId the inference's own id, or empty
 * @param name Triton's name of the event ({@code QUEUE_START}), or the plug-in's own
 * @param timeNs the time of the event, by System.nanoTime
 * @param tensor the event's tensor, or none
 */
public record TracedActivity(
    long inference,
    long parent,
    String model,
    long version,
    String requestId,
    String name,
    long timeNs,
    Optional<Content> tensor) {

  /**
   * A tensor of the inference.
   *
   * @param name the name of the input or output
   * @param tensor the tensor, which can be read only during the listener's call
   */
  public record Content(String name, Tensor tensor) {}
}

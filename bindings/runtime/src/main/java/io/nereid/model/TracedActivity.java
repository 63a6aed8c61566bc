package io.nereid.model;

import io.nereid.tensor.Tensor;
import java.util.Optional;

/**
 * Something that a plug-in told of a request while it executed it, or that happened to an inference
 * which the plug-in began for the request.
 *
 * @param inference 0: the request itself; else the number of such an inference
 * @param parent the inference that began that one; 0: the request itself
 * @param model the inference's model; empty for the request itself
 * @param version the version of that model
 * @param requestId the inference's own id, or empty
 * @param name Triton's name of what happened ({@code QUEUE_START}), or the plug-in's own
 * @param timeNs when that was, by the clock of System.nanoTime
 * @param tensor the tensor that it is about, or none
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
   * @param name the input or the output that it is
   * @param tensor to be read while the listener is called, and not later
   */
  public record Content(String name, Tensor tensor) {}
}

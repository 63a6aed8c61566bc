package io.nereid.server.trace;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.statistics.Timings;
import io.nereid.tensor.Tensor;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The record of one request. One thread at a time fills it in, in the order of the methods; steps
 * that are not reached are left out. After {@link #end} it belongs to the trace thread.
 *
 * <p>Times are those of System.nanoTime, which never is 0 where this runs: 0 means not reached.
 */
public final class Trace {

  /** The protocol that the request came over. */
  public enum Protocol {
    /** HTTP. */
    HTTP,
    /** GRPC. */
    GRPC
  }

  /** An attribute of the root span; its value is a String or a Long. */
  record Attribute(String name, Object value) {}

  /** When the parts of an execution were over, each not before the one in front of it. */
  record Stages(long computeStartNs, long inputEndNs, long outputStartNs, long computeEndNs) {}

  final long id;
  final Protocol protocol;
  final TraceSampler sampler;

  /** The client's span; null when it has none. */
  final TraceParent parent;

  /** Turns its times into those since 1970. It is read once, so that they fit together. */
  final long epochOffsetNs;

  /** The queue that it is written to; null: it is only kept for a while, by {@link #ring}. */
  private final TraceQueue queue;

  /** The ring that keeps the slowest requests for a while; null: nobody looks at them. */
  private final TraceRing ring;

  final String modelName;

  /** The version that was asked for, or answered; -1: not known. */
  long modelVersion;

  /** The repository of its model, where models of several may have one name; else empty. */
  String namespace = "";

  String requestId = "";
  String name = "infer";
  final List<Attribute> attributes = new ArrayList<>();
  long receiveStartNs;

  /** When its head was read; 0: it has none of its own. */
  long headEndNs;

  long receiveEndNs;
  long requestStartNs;
  long requestEndNs;
  long sendStartNs;
  long endNs;

  /** Times of a single execution; null when there was none, or several. */
  Timings timings;

  int batchSize;
  boolean inline;
  boolean cacheHit;

  /** The reason why it failed; null if it did not. */
  String error;

  /** True if this server is to blame for that. */
  boolean serverError;

  /** Contents of inputs and outputs, where they are recorded. */
  final List<TracedTensor> tensors = new ArrayList<>();

  /** The inferences that plug-ins told; known at the end. */
  List<ToldActivities.Inference> told = List.of();

  /** The bytes of tensors on the heap, as the queue counts them. */
  private final AtomicLong tensorBytes = new AtomicLong();

  private final LongSupplier ids;
  private ToldActivities listener;

  private boolean ensemble;
  private boolean ended;

  Trace(
      LongSupplier ids,
      Protocol protocol,
      String modelName,
      long modelVersion,
      TraceParent parent,
      TraceSampler sampler,
      TraceQueue queue,
      TraceRing ring) {
    this.ids = ids;
    id = queue == null ? 0 : ids.getAsLong();
    this.protocol = protocol;
    this.modelName = TracedTensor.limited(modelName);
    this.modelVersion = modelVersion > 0 ? modelVersion : -1;
    this.parent = parent;
    this.sampler = sampler;
    this.queue = queue;
    this.ring = ring;
    Instant now = Instant.now();
    epochOffsetNs =
        TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano() - System.nanoTime();
  }

  /** True if what is said of it will be written somewhere. */
  public boolean isWritten() {
    return queue != null;
  }

  /** The client's own id of the request, before an answer tells it. */
  public Trace requestId(String told) {
    requestId = TracedTensor.limited(told);
    return this;
  }

  /** Names the request: what kind it is, not which. */
  public Trace name(String kind) {
    name = kind;
    return this;
  }

  /** Says something of the request, by the semantic conventions of OpenTelemetry. */
  public Trace attribute(String key, String value) {
    if (isWritten()) {
      attributes.add(new Attribute(key, TracedTensor.limited(value)));
    }
    return this;
  }

  /** Does the same as {@link #attribute(String, String)}, with a number. */
  public Trace attribute(String key, long value) {
    if (isWritten()) {
      attributes.add(new Attribute(key, value));
    }
    return this;
  }

  /** All of the request has arrived, and it is given to the model now. */
  public void submitted(Model model, InferRequest request) {
    ensemble = model.spec().ensemble().isPresent();
    modelVersion = model.version();
    namespace = model.namespace();
    receiveEndNs = System.nanoTime();
    if (isWritten()) {
      if (sampler.records(TraceLevel.TENSORS)) {
        request
            .inputs()
            .forEach((name, input) -> record(tensors, "TENSOR_QUEUE_INPUT", name, input));
      }
      listener =
          new ToldActivities(
              id,
              ids,
              sampler.records(TraceLevel.TENSORS) ? Optional.of(this::record) : Optional.empty());
      request.trace(listener);
    }
    requestStartNs = System.nanoTime();
  }

  /** The model has answered, for the last time where it does so several times. */
  public void answered(InferResponse response) {
    requestEndNs = System.nanoTime();
    modelVersion = response.modelVersion();
    requestId = TracedTensor.limited(response.id().orElse(""));
    batchSize = response.executedBatchSize();
    inline = response.ranInline();
    cacheHit = response.cacheHit();
    // An ensemble's timings are sums over models that may have run side by side.
    timings = batchSize > 0 && !ensemble && !cacheHit ? response.timings() : null;
    if (isWritten() && sampler.records(TraceLevel.TENSORS)) {
      for (String name : response.outputNames()) {
        record(tensors, "TENSOR_BACKEND_OUTPUT", name, response.output(name));
      }
    }
  }

  /** Keeps a copy of a tensor; without its contents, or not at all, where there is no room. */
  void record(List<TracedTensor> tensors, String activity, String name, Tensor tensor) {
    long entryBytes = TracedTensor.ENTRY_BYTES;
    long allBytes = entryBytes + tensor.byteSize();
    boolean copied = !tensor.isOnDevice() && queue.takeBytes(allBytes);
    if (copied || queue.takeBytes(entryBytes)) {
      tensorBytes.addAndGet(copied ? allBytes : entryBytes);
      tensors.add(TracedTensor.of(activity, name, tensor, copied));
    }
  }

  long tensorBytes() {
    return tensorBytes.get();
  }

  /** The reply is sent from now on. */
  public void sending() {
    sendStartNs = System.nanoTime();
  }

  /** The request failed; a reply that says so may still be sent. */
  public void failed(String why, boolean byServer) {
    long nowNs = System.nanoTime();
    if (receiveEndNs == 0) {
      receiveEndNs = nowNs;
    } else if (requestEndNs == 0) {
      requestEndNs = nowNs;
    }
    error = TracedTensor.limited(why);
    serverError = byServer;
  }

  /** The request is over; further calls do nothing. */
  public void end() {
    if (!ended) {
      ended = true;
      if (sendStartNs == 0 && error == null) {
        failed("no reply was sent: the client went away", false);
      }
      endNs = System.nanoTime();
      if (listener != null) {
        told = listener.end();
      }
      if (ring != null) {
        ring.add(this);
      }
      if (isWritten()) {
        queue.add(this);
      }
    }
  }

  /**
   * The core tells how long things took, not when. They follow each other from the start of the
   * request, and what is left in the end is the way back to the thread that waited.
   */
  Stages stages() {
    long computeStartNs = Math.min(requestStartNs + timings.queueNs(), requestEndNs);
    long inputEndNs = Math.min(computeStartNs + timings.computeInputNs(), requestEndNs);
    long outputStartNs = Math.min(inputEndNs + timings.computeInferNs(), requestEndNs);
    long computeEndNs = Math.min(outputStartNs + timings.computeOutputNs(), requestEndNs);
    return new Stages(computeStartNs, inputEndNs, outputStartNs, computeEndNs);
  }
}

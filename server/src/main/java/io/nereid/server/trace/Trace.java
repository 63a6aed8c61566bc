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

  /** The ends of an execution's stages, in ascending order. */
  record Stages(long computeStartNs, long inputEndNs, long outputStartNs, long computeEndNs) {}

  final long id;
  final Protocol protocol;
  final TraceSampler sampler;

  /** The client's span; null: none. */
  final TraceParent parent;

  /**
   * The offset from the trace's times to those since 1970, read once, so that all times are
   * consistent.
   */
  final long epochOffsetNs;

  /** The queue that it is written to; null: only {@link #ring} keeps the trace for a while. */
  private final TraceQueue queue;

  /** The ring that keeps the slowest requests for a while; null: they are not watched. */
  private final TraceRing ring;

  final String modelName;

  /** The version that was asked for, or answered; -1: unknown. */
  long modelVersion;

  /** The repository of the model, if repositories are name spaces; else empty. */
  String namespace = "";

  String requestId = "";
  String name = "infer";
  final List<Attribute> attributes = new ArrayList<>();
  long receiveStartNs;

  /** When the request's head was read; 0: it has none of its own. */
  long headEndNs;

  long receiveEndNs;
  long requestStartNs;
  long requestEndNs;
  long sendStartNs;
  long endNs;

  /** Times of a single execution; null: there was none, or several. */
  Timings timings;

  int batchSize;
  boolean inline;
  boolean cacheHit;

  /** The reason why the request failed; null if it did not. */
  String error;

  /** True if the server caused the failure. */
  boolean serverError;

  /** The inputs and outputs, if these are recorded. */
  final List<TracedTensor> tensors = new ArrayList<>();

  /** The inferences that plug-ins told; set at the end. */
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

  /** True if the trace will be written or kept. */
  public boolean isWritten() {
    return queue != null;
  }

  /** The client's own id of the request, before an answer tells it. */
  public Trace requestId(String told) {
    requestId = TracedTensor.limited(told);
    return this;
  }

  /** Sets the span's name: the kind of request. */
  public Trace name(String kind) {
    name = kind;
    return this;
  }

  /** Adds an attribute, by the semantic conventions of OpenTelemetry. */
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

  /** Called when the whole request has arrived and goes to the model. */
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

  /** Called when the model has given its last answer. */
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

  /** Keeps a copy of a tensor; without contents, or not at all, if there is no room. */
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

  /** Called when sending the reply begins. */
  public void sending() {
    sendStartNs = System.nanoTime();
  }

  /** Called when the request failed; an error reply may still be sent. */
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

  /** Ends the trace; further calls do nothing. */
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
   * Computes the stages from the core's durations: they follow each other from the request's start,
   * and the rest is the way back to the waiting thread.
   */
  Stages stages() {
    long computeStartNs = Math.min(requestStartNs + timings.queueNs(), requestEndNs);
    long inputEndNs = Math.min(computeStartNs + timings.computeInputNs(), requestEndNs);
    long outputStartNs = Math.min(inputEndNs + timings.computeInferNs(), requestEndNs);
    long computeEndNs = Math.min(outputStartNs + timings.computeOutputNs(), requestEndNs);
    return new Stages(computeStartNs, inputEndNs, outputStartNs, computeEndNs);
  }
}

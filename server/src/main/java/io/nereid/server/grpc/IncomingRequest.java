package io.nereid.server.grpc;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.server.shared.ServerState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.InputStream;

/**
 * A {@code ModelInferRequest} after reading: a request that can be sent, or the reason why it
 * cannot. The reason is not thrown, because the transport would take it for a failure of its own.
 *
 * <p>It owns the request with the memory of its inputs, and the regions of shared memory that its
 * outputs go to, and holds a part of the heap's budget for what it keeps of the message. grpc-java
 * hands what a marshaller returns straight to {@code Listener.onMessage}, and that listener closes
 * it in any case. Its call's event loop is the only thread that calls it.
 */
final class IncomingRequest implements AutoCloseable {

  /** The heap of a request without parameters, measured in a stream and rounded up. */
  private static final int REQUEST_BYTES = 1 << 10;

  /** Most bytes that count with the call, and not by themselves. */
  private static final int FEW_BYTES = 4 << 10;

  private final long startNs;
  private final String id;
  private final String modelName;
  private final long namedVersion;
  private final Model model;
  private final InferRequest request;
  private final OutputForms forms;
  private final Status failure;
  private final boolean enablesEmptyFinal;
  private final long keptBytes;
  private boolean reading; // inputs, on another thread
  private boolean closed;
  private Throwable readFailure; // null: none
  private long heldBytes; // the part of them that was taken from the budget: all, or nothing

  private IncomingRequest(
      InferMessage message, long startNs, Model model, InferRequest request, OutputForms forms) {
    this.startNs = startNs;
    this.model = model;
    this.request = request;
    this.forms = forms;
    id = message.id();
    modelName = model.name();
    namedVersion = ModelVersions.named(message.modelVersion());
    failure = null;
    enablesEmptyFinal = message.parameters() != null && message.parameters().enablesEmptyFinal();
    keptBytes = REQUEST_BYTES + message.keptBytes() + (long) Character.BYTES * id.length();
  }

  private IncomingRequest(InferMessage message, long startNs, Status failure) {
    this.startNs = startNs;
    this.failure = failure;
    id = message.id();
    modelName = message.modelName();
    namedVersion = ModelVersions.named(message.modelVersion());
    model = null;
    request = null;
    forms = null;
    enablesEmptyFinal = false;
    keptBytes = REQUEST_BYTES + (long) Character.BYTES * (id.length() + modelName.length());
  }

  /** Reads a message; never throws. */
  static IncomingRequest read(ServerState state, InputStream stream) {
    long startNs = state.tracing().isOn() ? System.nanoTime() : 0;
    IncomingRequest incoming = read(state, stream, startNs);
    if (incoming.keptBytes <= FEW_BYTES || incoming.hold()) {
      return incoming;
    }
    incoming.close();
    return new IncomingRequest(new InferMessage(), startNs, incoming.refusal());
  }

  private static IncomingRequest read(ServerState state, InputStream stream, long startNs) {
    InferMessage message = new InferMessage();
    if (state.health().isStopping()) {
      return new IncomingRequest(message, startNs, GrpcStatus.of(stopping()));
    }
    RequestBuilder builder = new RequestBuilder(state.nereid(), message);
    OutputForms forms = new OutputForms(state.sharedMemory());
    WireReader in = null;
    try {
      in = new WireReader(stream, MessageBudget.HEAP);
      message.read(in, builder);
      InferRequest request = builder.build(forms);
      if (state.health().refuses(builder.model())) {
        request.close();
        throw stopping();
      }
      return new IncomingRequest(message, startNs, builder.model(), request, forms);
    } catch (Throwable t) { // also an OutOfMemoryError, which the client is told
      builder.close();
      forms.close();
      return new IncomingRequest(message, startNs, GrpcStatus.of(known(t)));
    } finally {
      if (in != null) {
        in.giveBackHeap();
      }
    }
  }

  /** Takes what it keeps from the heap's budget, until it is closed; false: too little is left. */
  boolean hold() {
    if (heldBytes == 0 && MessageBudget.HEAP.take(keptBytes)) {
      heldBytes = keptBytes;
    }
    return heldBytes > 0;
  }

  /** The status of a request that could not be held. */
  Status refusal() {
    return GrpcStatus.of(StatusCode.RESOURCE_EXHAUSTED, MessageBudget.HEAP.refusal(keptBytes));
  }

  private static NereidException stopping() {
    return new NereidException(StatusCode.UNAVAILABLE, GrpcStatus.STOPPING.getDescription());
  }

  /** Translates the transport's failure for a message that is too large once decompressed. */
  private static Throwable known(Throwable failure) {
    return failure instanceof StatusRuntimeException e
        ? new NereidException(
            StatusCode.ofNumber(e.getStatus().getCode().value()),
            String.valueOf(e.getStatus().getDescription()))
        : failure;
  }

  /** The reason why the request cannot be sent; null: it can. */
  Status failure() {
    return failure;
  }

  /** When reading began, by System.nanoTime; 0 if no request is traced. */
  long startNs() {
    return startNs;
  }

  /** The client's id of the request; empty: none. */
  String id() {
    return id;
  }

  /** The name of the model, which may not exist. */
  String modelName() {
    return modelName;
  }

  /** The named version; 0 if none is named, or an impossible one. */
  long namedVersion() {
    return namedVersion;
  }

  /** The model that the request goes to; null if reading failed. */
  Model model() {
    return model;
  }

  /** The request to send; null if reading failed. */
  InferRequest request() {
    return request;
  }

  /** The wanted forms of the outputs; null if reading failed. */
  OutputForms forms() {
    return forms;
  }

  /** True if a stream is to end with an empty response where the model sends no final one. */
  boolean enablesEmptyFinal() {
    return enablesEmptyFinal;
  }

  /** True if inputs are yet to be read by {@link #readInputs}; then closing waits for that. */
  boolean beginReading() {
    reading = forms != null && forms.hasUnread();
    return reading;
  }

  /** Reads the inputs that take long, on any thread; a failure is kept. */
  void readInputs() {
    try {
      forms.readInputs();
    } catch (RuntimeException | Error e) { // the client is told
      readFailure = e;
    }
  }

  /** Ends what {@link #beginReading} began. */
  void endReading() {
    reading = false;
    if (closed) {
      close();
    }
  }

  /** Throws the failure to read inputs. */
  void checkRead() {
    switch (readFailure) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Throwable e -> throw (Error) e;
    }
  }

  /** Gives the inputs' memory back, when the model has read them. */
  void closeInputs() {
    if (request != null) {
      request.close();
    }
  }

  /** Gives everything back. Closing twice does nothing. */
  @Override
  public void close() {
    closed = true;
    if (reading) {
      return;
    }
    closeInputs();
    if (forms != null) {
      forms.close();
    }
    if (heldBytes > 0) {
      MessageBudget.HEAP.giveBack(heldBytes);
      heldBytes = 0;
    }
  }
}

package io.nereid.server.grpc;

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
 * outputs go to. grpc-java hands what a marshaller returns straight to {@code Listener.onMessage},
 * and that listener closes it in any case.
 */
final class IncomingRequest implements AutoCloseable {

  private final InferMessage message;
  private final long startNs;
  private final Model model;
  private final InferRequest request;
  private final OutputForms forms;
  private final Throwable failure;

  private IncomingRequest(
      InferMessage message, long startNs, Model model, InferRequest request, OutputForms forms) {
    this.message = message;
    this.startNs = startNs;
    this.model = model;
    this.request = request;
    this.forms = forms;
    failure = null;
  }

  private IncomingRequest(InferMessage message, long startNs, Throwable failure) {
    this.message = message;
    this.startNs = startNs;
    this.failure = failure;
    model = null;
    request = null;
    forms = null;
  }

  /** Reads a message; never throws. */
  static IncomingRequest read(ServerState state, InputStream stream) {
    InferMessage message = new InferMessage();
    long startNs = state.tracing().isOn() ? System.nanoTime() : 0;
    if (state.health().isStopping()) {
      return new IncomingRequest(message, startNs, stopping());
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
      return new IncomingRequest(message, startNs, known(t));
    } finally {
      message.dropContents();
      if (in != null) {
        in.giveBackHeap();
      }
    }
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
  Throwable failure() {
    return failure;
  }

  /** When reading began, by System.nanoTime; 0 if no request is traced. */
  long startNs() {
    return startNs;
  }

  /** The client's id of the request; empty: none. */
  String id() {
    return message.id();
  }

  /** The name of the model, which may not exist. */
  String modelName() {
    return message.modelName();
  }

  /** The named version; 0 if none is named, or an impossible one. */
  long namedVersion() {
    return ModelVersions.named(message.modelVersion());
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
    return message.parameters() != null && message.parameters().enablesEmptyFinal();
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
    closeInputs();
    if (forms != null) {
      forms.close();
    }
  }
}

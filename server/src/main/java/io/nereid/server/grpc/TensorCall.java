package io.nereid.server.grpc;

import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.server.shared.ExecutionPace;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.trace.Trace;
import io.nereid.server.trace.Tracing;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * The common part of {@link InferCall} and {@link StreamInferCall}, the calls that carry tensors:
 * the event loop, the deadline, metadata that becomes parameters, and attributes of traces by
 * OpenTelemetry's semantic conventions for servers. It is made on the event loop.
 */
abstract class TensorCall extends ServerCall.Listener<IncomingRequest> {

  /** The status of a reply for which there is no room. */
  static final Status REPLIES_WAIT =
      Status.RESOURCE_EXHAUSTED.withDescription(
          "too many bytes of replies wait for this client, or for all, to be read");

  /** Names of metadata that gRPC allows: clients may send others. */
  private static final Pattern NAME = Pattern.compile("[0-9a-z_.-]+");

  private static final Metadata.Key<String> TRACEPARENT =
      Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);

  private static final Metadata.Key<String> TRACESTATE =
      Metadata.Key.of("tracestate", Metadata.ASCII_STRING_MARSHALLER);

  /**
   * The parts that all such calls of a server share.
   *
   * @param forwarding the metadata that becomes parameters; empty: none
   * @param paces how quick the models are
   */
  record Shared(
      Tracing tracing, Optional<HeaderForwarding> forwarding, ExecutionPace.Table paces) {}

  final ServerCall<IncomingRequest, OutgoingReply> call;
  private final Metadata headers;
  final Executor loop;
  private final Thread loopThread = Thread.currentThread();
  private final Shared shared;
  private final Deadline deadline = Context.current().getDeadline(); // null: none

  TensorCall(
      ServerCall<IncomingRequest, OutgoingReply> call,
      Metadata headers,
      Executor loop,
      Shared shared) {
    this.call = call;
    this.headers = headers;
    this.loop = loop;
    this.shared = shared;
  }

  /** True if this is the thread of the event loop. */
  final boolean isOnLoop() {
    return Thread.currentThread() == loopThread;
  }

  /** The pace of a model, which decides whether the event loop may execute its requests. */
  final ExecutionPace pace(Model model) {
    return shared.paces.of(model);
  }

  /**
   * True if the event loop may execute the model's next request: the model is quick, and not
   * isolated in a process that could block the loop.
   */
  final boolean mayExecute(Model model) {
    return pace(model).isShort() && !model.isIsolated();
  }

  /**
   * Gives a request the call's deadline. Called after memory was allocated, since a deadline would
   * make that wait.
   */
  final void limit(InferRequest request) {
    if (deadline != null) {
      request.deadline(Duration.ofNanos(Math.max(0, deadline.timeRemaining(TimeUnit.NANOSECONDS))));
    }
  }

  /** The call's metadata that becomes parameters, as far as it is text. */
  final List<HeaderForwarding.Field> forwarded() {
    if (shared.forwarding.isEmpty()) {
      return List.of();
    }
    List<HeaderForwarding.Field> fields = new ArrayList<>();
    for (String name : headers.keys()) {
      boolean text = !name.endsWith(Metadata.BINARY_HEADER_SUFFIX) && NAME.matcher(name).matches();
      if (text && shared.forwarding.get().matches(name)) {
        Metadata.Key<String> key = Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
        for (String value : headers.getAll(key)) {
          fields.add(new HeaderForwarding.Field(name, value));
        }
      }
    }
    return fields;
  }

  static long outputBytes(InferResponse response) {
    List<String> names = response.outputNames();
    return names.stream().mapToLong(name -> response.output(name).byteSize()).sum();
  }

  /** The connection's share of the bytes of replies that clients have not taken. */
  final SharedLimit.Share replies() {
    return call.getAttributes().get(ConnectionLimit.REPLIES);
  }

  /** Closes a response, if there is one. */
  static void drop(InferResponse response) {
    if (response != null) {
      response.close();
    }
  }

  /**
   * Makes a response's outputs that take long on a thread of the connection, and goes on with them
   * on the event loop, which owns both again. The response must stay open until then.
   */
  final void makeOutputs(InferResponse response, OutputForms forms, Consumer<LongOutputs> goOn) {
    ConnectionTasks.of(call)
        .run(() -> {
          LongOutputs made = new LongOutputs(response, forms);
          try {
            loop.execute(() -> goOn.accept(made));
          } catch (RejectedExecutionException e) { // the server has stopped, and the call is over
            made.close();
            response.close();
          }
        });
  }

  /**
   * Reads the inputs that take long to read on a thread of the connection, and goes on on the event
   * loop: at once if there are none. The request stays open until then, even if it is closed.
   */
  final void readInputs(IncomingRequest incoming, Runnable goOn) {
    if (!incoming.beginReading()) {
      goOn.run();
      return;
    }
    ConnectionTasks.of(call)
        .run(() -> {
          incoming.readInputs();
          try {
            loop.execute(() -> {
              incoming.endReading();
              goOn.run();
            });
          } catch (RejectedExecutionException e) { // the server has stopped, and the call is over
            incoming.endReading();
          }
        });
  }

  // ---- Traces ----------------------------------------------------------------------------------

  /** True if any request is traced. */
  final boolean isTracing() {
    return shared.tracing.isOn();
  }

  /** Begins the trace of a request; null when it is not traced. */
  final Trace beginTrace(IncomingRequest incoming, long startNs) {
    Trace trace =
        shared.tracing.begin(
            Trace.Protocol.GRPC,
            incoming.modelName(),
            incoming.namedVersion(),
            startNs,
            headers.get(TRACEPARENT),
            headers.get(TRACESTATE));
    if (trace == null) {
      return null;
    }
    trace.requestId(incoming.id()); // a failed request has no answer with the id
    if (!trace.isWritten()) {
      return trace;
    }
    trace
        .name(call.getMethodDescriptor().getFullMethodName())
        .attribute("rpc.system", "grpc")
        .attribute("rpc.service", call.getMethodDescriptor().getServiceName())
        .attribute("rpc.method", call.getMethodDescriptor().getBareMethodName());
    Attributes transport = call.getAttributes();
    address(trace, "client", transport.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
    address(trace, "server", transport.get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR));
    return trace;
  }

  private static void address(Trace trace, String whose, SocketAddress address) {
    if (address instanceof InetSocketAddress internet) {
      trace
          .attribute(whose + ".address", internet.getAddress().getHostAddress())
          .attribute(whose + ".port", internet.getPort());
    }
  }

  /** Says in a trace how its request has ended. */
  static void traceEnd(Trace trace, Status status) {
    trace.attribute("rpc.grpc.status_code", status.getCode().value());
    if (!status.isOk()) {
      boolean byServer =
          switch (status.getCode()) {
            case UNKNOWN, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, DEADLINE_EXCEEDED ->
                true;
            default -> false;
          };
      trace.failed(String.valueOf(status.getDescription()), byServer);
    }
  }
}

package io.nereid.server.grpc;

import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.nereid.Model;
import io.nereid.proto.ModelConfigRequest;
import io.nereid.proto.ModelMetadataRequest;
import io.nereid.proto.ModelReadyRequest;
import io.nereid.proto.ModelStatisticsRequest;
import io.nereid.proto.RepositoryModelLoadRequest;
import io.nereid.proto.RepositoryModelUnloadRequest;
import io.nereid.proto.TraceSettingRequest;
import io.nereid.server.log.AccessLog;
import io.nereid.server.shared.ClientAddress;
import java.time.Instant;
import java.util.concurrent.atomic.LongAdder;

/**
 * Writes a line to the access log for each call. gRPC calls it on event loops; it exists only with
 * an access log.
 */
final class CallLog extends ServerStreamTracer.Factory {

  private static final Metadata.Key<String> REQUEST_ID =
      Metadata.Key.of("x-request-id", Metadata.ASCII_STRING_MARSHALLER);

  /** The call that is served on this thread, for code that knows the call's model. */
  private static final Context.Key<Call> CURRENT = Context.key("access log");

  private final AccessLog log;

  CallLog(AccessLog log) {
    this.log = log;
  }

  /** The call that is served on this thread; null if it gets no line. */
  static Call current() {
    return CURRENT.get();
  }

  @Override
  public ServerStreamTracer newServerStreamTracer(String fullMethodName, Metadata headers) {
    String id = headers.get(REQUEST_ID);
    return new Call(log, "/" + fullMethodName, id == null ? "" : id);
  }

  /** Tells the log the model of the call on this thread; cheap without a log. */
  static void tell(IncomingRequest request) {
    Call call = current();
    if (call != null) {
      Model model = request.model();
      call.model(request.modelName(), model == null ? request.namedVersion() : model.version());
    }
  }

  /** Tells the log the model of a message, if it names one. */
  static void tell(Object request) {
    Call call = current();
    if (call == null) {
      return;
    }
    switch (request) {
      case ModelReadyRequest ready -> tell(call, ready.getName(), ready.getVersion());
      case ModelMetadataRequest metadata -> tell(call, metadata.getName(), metadata.getVersion());
      case ModelConfigRequest config -> tell(call, config.getName(), config.getVersion());
      case ModelStatisticsRequest statistics ->
          tell(call, statistics.getName(), statistics.getVersion());
      case RepositoryModelLoadRequest load -> tell(call, load.getModelName(), "");
      case RepositoryModelUnloadRequest unload -> tell(call, unload.getModelName(), "");
      case TraceSettingRequest setting -> tell(call, setting.getModelName(), "");
      default -> {} // the call is for the server
    }
  }

  private static void tell(Call call, String model, String version) {
    call.model(model, ModelVersions.named(version));
  }

  /** One call. It counts the bytes of messages as they are transported, which may be compressed. */
  static final class Call extends ServerStreamTracer {
    private final AccessLog log;
    private final String path;
    private final String requestId;
    private final Instant start = Instant.now();
    private final long startNs = System.nanoTime();
    private final LongAdder inputBytes = new LongAdder();
    private final LongAdder outputBytes = new LongAdder();
    private volatile String client = "-";
    private volatile Named named = Named.NOTHING;

    private Call(AccessLog log, String path, String requestId) {
      this.log = log;
      this.path = path;
      this.requestId = requestId;
    }

    /**
     * Notes the model of the call. If a stream has several models, its line names none; if it has
     * several versions of one, no version.
     */
    void model(String model, long version) {
      Named before = named;
      if (before == Named.NOTHING) {
        named = new Named(model, version);
      } else if (!before.model.equals(model)) {
        named = Named.SEVERAL;
      } else if (before.version != version) {
        named = new Named(model, 0);
      }
    }

    @Override
    public Context filterContext(Context context) {
      return context.withValue(CURRENT, this);
    }

    @Override
    public void serverCallStarted(ServerCallInfo<?, ?> call) {
      client = ClientAddress.text(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
    }

    @Override
    public void inboundWireSize(long bytes) {
      inputBytes.add(bytes);
    }

    @Override
    public void outboundWireSize(long bytes) {
      outputBytes.add(bytes);
    }

    @Override
    public void streamClosed(Status status) {
      Named last = named;
      log.add(
          new AccessLog.Entry(
              start,
              client,
              "gRPC",
              "POST",
              path,
              status.getCode().value(),
              inputBytes.sum(),
              outputBytes.sum(),
              (System.nanoTime() - startNs) / 1000,
              requestId,
              last.model,
              last.version));
    }
  }

  /** A model; an empty name: none. */
  private record Named(String model, long version) {
    static final Named NOTHING = new Named("", 0);
    static final Named SEVERAL = new Named("", 0);
  }
}

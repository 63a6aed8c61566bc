package io.nereid.server.grpc;

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
import io.nereid.server.wire.EventConnection;
import java.time.Instant;
import java.util.List;

/**
 * Has a line written to the access log for each call; there is none where there is no access log.
 */
final class CallLog {

  private static final String REQUEST_ID = "x-request-id";

  private final AccessLog log;

  CallLog(AccessLog log) {
    this.log = log;
  }

  /** A call begins with a head, names and values in turns. */
  Call begin(List<String> fields, EventConnection connection) {
    String path = "";
    String id = "";
    for (int i = 0; i < fields.size(); i += 2) {
      switch (fields.get(i)) {
        case ":path" -> path = fields.get(i + 1);
        case REQUEST_ID -> id = fields.get(i + 1);
        default -> {}
      }
    }
    return new Call(
        log, path, id, ClientAddress.text(connection.socket().getRemoteSocketAddress()));
  }

  /** Says which model a call is for; {@code call} is null where there is no log. */
  static void tell(Call call, IncomingRequest request) {
    if (call != null) {
      Model model = request.model();
      call.model(request.modelName(), model == null ? request.namedVersion() : model.version());
    }
  }

  /** The same for a message that may name a model, or be for none. */
  static void tell(Call call, Object request) {
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
      default -> {} // it is for the server
    }
  }

  private static void tell(Call call, String model, String version) {
    call.model(model, ModelVersions.named(version));
  }

  /** One call. It counts the bytes of messages as they are transported, which may be compressed. */
  static final class Call {
    private final AccessLog log;
    private final String path;
    private final String requestId;
    private final String client;
    private final Instant start = Instant.now();
    private final long startNs = System.nanoTime();
    private long inputBytes;
    private long outputBytes;
    private volatile Named named = Named.NOTHING;

    private Call(AccessLog log, String path, String requestId, String client) {
      this.log = log;
      this.path = path;
      this.requestId = requestId;
      this.client = client;
    }

    /**
     * Says which model it is for. A stream may be for several, and then its line names none; for
     * several versions of one, and then it names no version.
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

    /** A message came; on the call's loop. */
    void came(int bytes) {
      inputBytes += bytes;
    }

    /** A message was sent; on the call's loop. */
    void sent(int bytes) {
      outputBytes += bytes;
    }

    /** The call is over; on its loop. */
    void ended(Status status) {
      Named last = named;
      log.add(
          new AccessLog.Entry(
              start,
              client,
              "gRPC",
              "POST",
              path,
              status.getCode().value(),
              inputBytes,
              outputBytes,
              (System.nanoTime() - startNs) / 1000,
              requestId,
              last.model,
              last.version));
    }
  }

  /** A model; without a name: none. */
  private record Named(String model, long version) {
    static final Named NOTHING = new Named("", 0);
    static final Named SEVERAL = new Named("", 0);
  }
}

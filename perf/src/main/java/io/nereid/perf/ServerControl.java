package io.nereid.perf;

import java.net.ConnectException;
import java.util.Optional;

/** What is asked of the server beside the load: all of it blocks, and none of it is measured. */
interface ServerControl extends AutoCloseable {

  /** Fails with what to do about it when there is no server, or it is none of the protocol. */
  ServerInfo server();

  boolean modelReady();

  /** Fails when the model is unknown. */
  ModelInfo model();

  /** Empty where the server has no statistics. */
  Optional<ServerStatistics> statistics();

  void registerMemory(String name, String key, long byteSize);

  void unregisterMemory(String name);

  @Override
  void close();

  static ServerControl of(Target target) {
    return switch (target.protocol()) {
      case HTTP -> new HttpControl(target);
      case GRPC -> new GrpcControl(target);
    };
  }

  /** The failure of the first call. */
  static PerfException absent(Target target, Throwable cause) {
    String why = cause.getMessage();
    if (why == null) { // the JDK's client says no more than this
      why = cause instanceof ConnectException ? "connection refused" : cause.toString();
    }
    return new PerfException(
        "expected a server at "
            + target
            + ", got none: "
            + why
            + "; start it, or say where it is with -u HOST:PORT and -i http|grpc",
        cause);
  }
}

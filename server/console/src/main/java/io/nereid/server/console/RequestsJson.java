package io.nereid.server.console;

import io.nereid.server.trace.SlowRequest;
import io.nereid.server.trace.TraceRing;
import java.util.List;

/** Describes slow requests and their phases. */
final class RequestsJson {

  private RequestsJson() {}

  /** Describes the kept requests; {@code ring} is null if slow requests were not watched before. */
  static ConsoleJson of(TraceRing ring) {
    long nowMs = System.currentTimeMillis();
    List<SlowRequest> slowest = ring == null ? List.of() : ring.slowest();
    return new ConsoleJson()
        .with("seq", ring == null ? 0 : ring.changes())
        .with("time_ms", nowMs)
        .with("since_ms", ring == null ? nowMs : ring.sinceMs())
        .with("seen", ring == null ? 0 : ring.seen())
        .with("requests", slowest.stream().map(RequestsJson::request).toList());
  }

  private static ConsoleJson request(SlowRequest request) {
    return new ConsoleJson()
        .with("id", Long.toString(request.id()))
        .with("request_id", request.requestId())
        .with("protocol", request.protocol())
        .with("model", request.model())
        .with("version", request.version() > 0 ? Long.toString(request.version()) : "")
        .with("start_ms", request.startMs())
        .decimal("duration_us", request.durationNs() / 1e3)
        .with("error", request.error())
        .with("batch", request.batchSize() > 0 ? batch(request) : null)
        .with("inline", request.inline())
        .with("cache_hit", request.cacheHit())
        .with("phases", request.phases().stream().map(RequestsJson::phase).toList());
  }

  private static ConsoleJson batch(SlowRequest request) {
    return new ConsoleJson()
        .with("size", request.batchSize())
        .with("with", request.mates().stream().map(id -> Long.toString(id)).toList());
  }

  private static ConsoleJson phase(SlowRequest.Phase phase) {
    return new ConsoleJson()
        .with("name", phase.name())
        .decimal("start_us", phase.startNs() / 1e3)
        .decimal("duration_us", phase.durationNs() / 1e3);
  }
}

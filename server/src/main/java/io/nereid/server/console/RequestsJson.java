package io.nereid.server.console;

import io.nereid.server.json.JsonBuffer;
import io.nereid.server.trace.SlowRequest;
import io.nereid.server.trace.TraceRing;
import java.util.List;

/** Writes which requests were slow, and why. */
final class RequestsJson {

  private RequestsJson() {}

  /** Writes what was kept; {@code ring} is null where nobody looked before. */
  static void write(TraceRing ring, JsonBuffer json) {
    long nowMs = System.currentTimeMillis();
    json.ascii("{\"seq\":").number(ring == null ? 0 : ring.changes());
    json.ascii(",\"time_ms\":").number(nowMs);
    json.ascii(",\"since_ms\":").number(ring == null ? nowMs : ring.sinceMs());
    json.ascii(",\"seen\":").number(ring == null ? 0 : ring.seen());
    List<SlowRequest> slowest = ring == null ? List.of() : ring.slowest();
    json.ascii(",\"requests\":");
    ConsoleJson.array(json, slowest, request -> request(request, json));
    json.write('}');
  }

  private static void request(SlowRequest request, JsonBuffer json) {
    json.ascii("{\"id\":\"").number(request.id());
    json.ascii("\",\"request_id\":").string(request.requestId());
    json.ascii(",\"protocol\":\"").ascii(request.protocol());
    json.ascii("\",\"model\":").string(request.model());
    json.ascii(",\"version\":\"");
    if (request.version() > 0) {
      json.number(request.version());
    }
    json.ascii("\",\"start_ms\":").number(request.startMs());
    micros(json.ascii(",\"duration_us\":"), request.durationNs());
    ConsoleJson.text(json.ascii(",\"error\":"), request.error());
    json.ascii(",\"batch\":");
    if (request.batchSize() > 0) {
      json.ascii("{\"size\":").number(request.batchSize()).ascii(",\"with\":");
      ConsoleJson.array(json, request.mates(), id -> json.string(Long.toString(id)));
      json.write('}');
    } else {
      json.ascii("null");
    }
    ConsoleJson.bool(json.ascii(",\"inline\":"), request.inline());
    ConsoleJson.bool(json.ascii(",\"cache_hit\":"), request.cacheHit());
    json.ascii(",\"phases\":");
    ConsoleJson.array(json, request.phases(), phase -> phase(phase, json));
    json.write('}');
  }

  private static void phase(SlowRequest.Phase phase, JsonBuffer json) {
    json.ascii("{\"name\":\"").ascii(phase.name());
    micros(json.ascii("\",\"start_us\":"), phase.startNs());
    micros(json.ascii(",\"duration_us\":"), phase.durationNs());
    json.write('}');
  }

  private static void micros(JsonBuffer json, long ns) {
    ConsoleJson.decimal(json, ns / 1e3);
  }
}

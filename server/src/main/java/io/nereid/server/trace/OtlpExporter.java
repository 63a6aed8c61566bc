package io.nereid.server.trace;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Sends traces to a collector by OTLP over HTTP, one batch at a time. It uses HttpURLConnection
 * because that works on the calling thread, so that the trace thread stays the only one.
 */
final class OtlpExporter implements TraceQueue.Sink {

  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
  private static final long FIRST_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

  /** The attempts after which a batch is dropped, so that newer ones are sent. */
  private static final int MOST_ATTEMPTS = 5;

  /** The most bytes of an answer that are read; its content is not used. */
  private static final int MOST_ANSWER_BYTES = 64 << 10;

  private final URI url;
  private final OtlpEncoder encoder;
  private final Map<String, String> fields;
  private volatile long deadlineNs;
  private volatile boolean ending;

  OtlpExporter(OtlpOptions options, Map<String, String> environment, TraceExemplars exemplars) {
    url = options.url();
    fields = fields(environment);
    // Absent if the classes do not come from the jar, as in an IDE.
    String known = OtlpExporter.class.getPackage().getImplementationVersion();
    String version = known == null ? "dev" : known;
    encoder =
        new OtlpEncoder(attributes(options.resource(), environment, version), version, exemplars);
  }

  @Override
  public void endBy(long nanoTime) {
    deadlineNs = nanoTime;
    ending = true;
  }

  @Override
  public void write(List<Trace> traces) throws IOException {
    byte[] body = encoder.encode(traces);
    long pauseNs = FIRST_PAUSE_NS;
    for (int attempt = 1; ; attempt++) {
      int status = -1;
      IOException failure = null;
      try {
        status = send(body);
      } catch (IOException e) {
        failure = e;
      }
      if (status >= 200 && status < 300) {
        return;
      }
      boolean passing =
          failure != null || status == 429 || status == 502 || status == 503 || status == 504;
      if (!passing || attempt == MOST_ATTEMPTS || ending) {
        throw new IOException(
            "the collector at "
                + url
                + (failure == null ? " answered " + status : " could not be reached: " + failure),
            failure);
      }
      pause(pauseNs);
      pauseNs *= 2;
    }
  }

  /** Pauses; ends early when the server stops, after which one more attempt is made. */
  private void pause(long pauseNs) {
    long startNs = System.nanoTime();
    for (long leftNs = pauseNs;
        leftNs > 0 && !ending;
        leftNs = pauseNs - (System.nanoTime() - startNs)) {
      LockSupport.parkNanos(this, leftNs);
    }
  }

  private int send(byte[] body) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) url.toURL().openConnection();
    connection.setConnectTimeout(timeoutMs());
    connection.setReadTimeout(timeoutMs());
    connection.setInstanceFollowRedirects(false);
    connection.setUseCaches(false);
    connection.setRequestMethod("POST");
    connection.setDoOutput(true);
    connection.setFixedLengthStreamingMode(body.length);
    connection.setRequestProperty("Content-Type", "application/x-protobuf");
    connection.setRequestProperty("Connection", "close"); // batches are usually seconds apart
    fields.forEach(connection::setRequestProperty);
    connection.getOutputStream().write(body);
    int status = connection.getResponseCode();
    try (InputStream answer =
        status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
      if (answer != null) {
        answer.readNBytes(MOST_ANSWER_BYTES);
      }
    }
    return status;
  }

  /** The timeout of a request; while the server stops, the rest of the exit time. */
  private int timeoutMs() {
    long leftNs = ending ? Math.min(TIMEOUT_NS, deadlineNs - System.nanoTime()) : TIMEOUT_NS;
    return (int) Math.max(1, Duration.ofNanos(leftNs).toMillis());
  }

  // ---- The environment, by OpenTelemetry's names ----------------------------------------------

  /** The attributes of this server in traces. */
  private static Map<String, String> attributes(
      Map<String, String> given, Map<String, String> environment, String version) {
    Map<String, String> attributes = new LinkedHashMap<>();
    attributes.put("service.name", "nereid");
    attributes.put("service.version", version);
    attributes.put("telemetry.sdk.language", "java");
    attributes.put("telemetry.sdk.name", "nereid");
    attributes.put("telemetry.sdk.version", version);
    attributes.putAll(pairs(environment.get("OTEL_RESOURCE_ATTRIBUTES")));
    String service = environment.get("OTEL_SERVICE_NAME");
    if (service != null && !service.isEmpty()) {
      attributes.put("service.name", service);
    }
    attributes.putAll(given);
    return attributes;
  }

  /** The header fields for the collector, such as tokens. */
  private static Map<String, String> fields(Map<String, String> environment) {
    Map<String, String> fields =
        new LinkedHashMap<>(pairs(environment.get("OTEL_EXPORTER_OTLP_HEADERS")));
    fields.putAll(pairs(environment.get("OTEL_EXPORTER_OTLP_TRACES_HEADERS")));
    return fields;
  }

  /** Parses percent-encoded {@code key=value,key=value}; ignores text of another form. */
  private static Map<String, String> pairs(String text) {
    Map<String, String> pairs = new LinkedHashMap<>();
    for (String pair : text == null ? new String[0] : text.split(",")) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        pairs.put(pair.substring(0, equals).strip(), decode(pair.substring(equals + 1).strip()));
      }
    }
    return pairs;
  }

  private static String decode(String value) {
    try {
      return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return value;
    }
  }
}

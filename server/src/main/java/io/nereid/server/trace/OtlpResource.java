package io.nereid.server.trace;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the environment says to those who send traces, by OpenTelemetry's names. */
final class OtlpResource {

  private OtlpResource() {}

  /** What the traces say of this server. */
  static Map<String, String> attributes(
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

  /** Header fields that the collector wants, tokens for instance. */
  static Map<String, String> fields(Map<String, String> environment) {
    Map<String, String> fields =
        new LinkedHashMap<>(pairs(environment.get("OTEL_EXPORTER_OTLP_HEADERS")));
    fields.putAll(pairs(environment.get("OTEL_EXPORTER_OTLP_TRACES_HEADERS")));
    return fields;
  }

  /** {@code key=value,key=value}, percent-encoded; what is not of this form is passed over. */
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

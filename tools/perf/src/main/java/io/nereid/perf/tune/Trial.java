package io.nereid.perf.tune;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * One measurement of a candidate.
 *
 * @param perSecond the answered requests
 * @param p99Us the latency that one in a hundred exceeds
 * @param memoryBytes the most memory that the server had meanwhile; 0: unknown
 * @param failure the reason why there are no figures; null: there are
 */
record Trial(double perSecond, double p99Us, long memoryBytes, String failure) {

  static Trial failed(String why) {
    return new Trial(0, 0, 0, why);
  }

  static Trial read(Map<String, Object> json) {
    return new Trial(
        ((Number) json.get("requests_per_second")).doubleValue(),
        ((Number) json.get("p99_us")).doubleValue(),
        ((Number) json.get("memory_bytes")).longValue(),
        (String) json.get("failure"));
  }

  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("requests_per_second", perSecond);
    json.put("p99_us", p99Us);
    json.put("memory_bytes", memoryBytes);
    json.put("failure", failure);
    return json;
  }

  String text() {
    return failure != null
        ? failure
        : String.format(
            Locale.ROOT,
            "%.0f requests/s, p99 %.3g ms%s",
            perSecond,
            p99Us / 1e3,
            memoryBytes == 0 ? "" : ", " + (memoryBytes >> 20) + " MiB");
  }
}

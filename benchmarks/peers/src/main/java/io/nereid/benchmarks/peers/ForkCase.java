package io.nereid.benchmarks.peers;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a fork saw of one case.
 *
 * @param requests how many were answered
 * @param elapsedNs in how long
 * @param cpuNs processor time of the whole process meanwhile
 * @param answer a value of the first answer, the same for every side
 */
record ForkCase(long requests, long elapsedNs, long cpuNs, double answer) {

  double requestsPerSecond() {
    return requests * 1e9 / elapsedNs;
  }

  double cpuUsPerRequest() {
    return cpuNs / 1e3 / requests;
  }

  Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("requests", requests);
    map.put("elapsed_ns", elapsedNs);
    map.put("cpu_ns", cpuNs);
    map.put("answer", answer);
    return map;
  }

  static ForkCase of(Map<?, ?> map) {
    return new ForkCase(
        number(map, "requests").longValue(),
        number(map, "elapsed_ns").longValue(),
        number(map, "cpu_ns").longValue(),
        number(map, "answer").doubleValue());
  }

  private static Number number(Map<?, ?> map, String key) {
    return (Number) map.get(key);
  }
}

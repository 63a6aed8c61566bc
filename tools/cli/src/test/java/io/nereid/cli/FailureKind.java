package io.nereid.cli;

import static io.nereid.server.http.TestServer.await;

import io.nereid.server.metrics.Scrape;
import io.nereid.server.metrics.Troubles;
import java.util.HashMap;
import java.util.Map;

/**
 * A kind of failure that a server must tell of.
 *
 * @param metric the metric that grows, with labels between braces as {@code name{label=value}}
 * @param trouble the words that the console and {@code top} have for it
 */
record FailureKind(String name, Provocation provocation, String metric, String trouble) {

  /** Has a server fail so. */
  interface Provocation {
    void on(FailingServer server) throws Exception;
  }

  /** An answer over HTTP with a status, at a route without the braces of its parameters. */
  static FailureKind http(String name, int status, String route, Provocation provocation) {
    return new FailureKind(
        name,
        provocation,
        "nereid_http_requests_total{status="
            + status
            + (route.isEmpty() ? "}" : ";route=" + route + "}"),
        "HTTP " + status);
  }

  static FailureKind infer(String name, int status, String model, String body) {
    return http(name, status, "", server -> server.infer(status, model, body));
  }

  static FailureKind grpc(String name, String code, Provocation provocation) {
    return new FailureKind(
        name, provocation, "nereid_grpc_requests_total{code=" + code + "}", "gRPC " + code);
  }

  static FailureKind connection(
      String name, String protocol, String reason, Provocation provocation) {
    return new FailureKind(
        name,
        provocation,
        "nereid_connection_failures_total{protocol=" + protocol + ";reason=" + reason + "}",
        (protocol.equals("http") ? "HTTP" : "gRPC") + " connection: " + reason);
  }

  static FailureKind load(String name, String model, String code, Provocation provocation) {
    return new FailureKind(
        name,
        provocation,
        "nereid_model_load_failures_total{model=" + model + ";reason=" + code + "}",
        "load: " + code);
  }

  void isSeenOf(FailingServer server) throws Exception {
    Scrape before = server.scrape();
    try {
      provocation.on(server);
    } catch (Exception | AssertionError e) {
      throw new AssertionError(name + ": " + e.getMessage(), e);
    }
    double sum = sum(before);
    long told = told(before);
    await(
        () -> isMore(server.scrape(), sum, told),
        name + ": not in " + metric + ", or no '" + trouble + "'");
  }

  private boolean isMore(Scrape now, double sum, long told) {
    return sum(now) > sum && told(now) > told;
  }

  private double sum(Scrape scrape) {
    int brace = metric.indexOf('{');
    Map<String, String> labels = new HashMap<>();
    if (brace >= 0) {
      for (String label : metric.substring(brace + 1, metric.length() - 1).split(";")) {
        labels.put(label.split("=")[0], label.split("=")[1]);
      }
    }
    double sum = scrape.sum(brace < 0 ? metric : metric.substring(0, brace), labels);
    return Double.isNaN(sum) ? 0 : sum;
  }

  private long told(Scrape scrape) {
    return Troubles.of(scrape).counts().getOrDefault(trouble, 0L);
  }
}

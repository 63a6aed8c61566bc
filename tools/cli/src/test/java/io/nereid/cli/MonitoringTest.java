package io.nereid.cli;

import static io.nereid.cli.KubernetesShape.at;
import static io.nereid.server.http.TestServer.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.client.InferenceClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.jr.ob.JSON;

/** A server as the Deployment starts it answers the probes, and has all that is looked at. */
class MonitoringTest {

  private static final Path DOCKER = Path.of("..", "..", "docker");
  private static final Pattern SERVED = Pattern.compile("Serving (\\w+) at (\\S+)");
  private static final Pattern SAMPLE = Pattern.compile("([a-z_]+)(?:\\{(.*)\\})? \\S+");
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"");

  /** All of ours begin with one of these, and nothing else in an expression does. */
  private static final Pattern METRIC = Pattern.compile("\\b(?:nv|nereid|process|jvm)_[a-z_]+\\b");

  private static final Pattern GROUPING = Pattern.compile("\\bby \\(([a-z_, ]+)\\)");

  private static final Pattern LEGEND = Pattern.compile("\\{\\{([a-z_]+)\\}\\}");

  @TempDir private static Path directory;

  private static Process process;
  private static final Map<String, String> addresses = new HashMap<>();

  /** Names of samples, with those of their labels. */
  private static final Map<String, Set<String>> samples = new HashMap<>();

  @BeforeAll
  static void serve() throws Exception {
    process = ServeProcess.start(Main.class.getName(), arguments());
    BufferedReader printed = process.inputReader();
    StringBuilder screen = new StringBuilder();
    for (String line = printed.readLine(); ; line = printed.readLine()) {
      assertTrue(line != null, screen.toString());
      screen.append(line).append('\n');
      Matcher served = SERVED.matcher(line);
      if (served.find()) {
        addresses.put(served.group(1), served.group(2));
      } else if (line.startsWith("Ready ")) {
        break;
      }
    }
    // Answers are told once there are some, which are counted after they were written.
    ok(addresses.get("HTTP") + "/v2/health/live");
    try (InferenceClient client = InferenceClient.connect("grpc://" + addresses.get("gRPC"))) {
      assertTrue(client.serverLive());
    }
    String metrics = addresses.get("metrics") + "/metrics";
    for (String protocol : List.of("http", "grpc")) {
      String told = "nereid_" + protocol + "_requests_total{";
      await(() -> ok(metrics).contains(told), "no " + told);
    }
    for (String line : ok(metrics).split("\n")) {
      Matcher sample = SAMPLE.matcher(line);
      if (sample.matches()) {
        Set<String> labels = samples.computeIfAbsent(sample.group(1), name -> new HashSet<>());
        Matcher label = LABEL.matcher(sample.group(2) == null ? "" : sample.group(2));
        while (label.find()) {
          labels.add(label.group(1));
        }
      }
    }
    // Told where there are GPUs, objectives or failures only.
    for (String name :
        List.of(
            "nv_gpu_utilization",
            "nv_gpu_memory_total_bytes",
            "nv_gpu_memory_used_bytes",
            "nv_gpu_power_usage",
            "nv_gpu_power_limit",
            "nv_energy_consumption")) {
      samples.putIfAbsent(name, Set.of("gpu_uuid"));
    }
    samples.putIfAbsent("nereid_model_load_failures_total", Set.of("model", "reason"));
    for (String gauge : List.of("seconds", "backlog_seconds")) {
      samples.putIfAbsent("nereid_objective_" + gauge, Set.of("model", "version", "quantile"));
    }
    for (String answers : List.of("kept", "late", "refused")) {
      samples.putIfAbsent("nereid_objective_" + answers + "_total", Set.of("model", "version"));
    }
  }

  /** Those of the Deployment, with its settings, but for places and ports of this machine. */
  private static List<String> arguments() throws IOException {
    Path repository = Files.createDirectories(directory.resolve("models"));
    Path cached = Files.createDirectories(repository.resolve("cached/1")).getParent();
    String config =
        Files.readString(Path.of("..", "..", "examples/models/identity_fp32/config.pbtxt"));
    Files.writeString(
        cached.resolve("config.pbtxt"),
        config.replace("identity_fp32", "cached") + "\nresponse_cache { enable: true }\n");
    String settings = Files.readString(KubernetesTest.MANIFESTS.resolve("nereid.yaml"));
    String here = settings.replace("/models\n", repository + "\n");
    assertTrue(!here.equals(settings), settings);
    Path file = Files.writeString(directory.resolve("nereid.yaml"), here);
    Map<?, ?> deployment =
        KubernetesShape.read(KubernetesTest.MANIFESTS.resolve("deployment.yaml")).getFirst();
    List<String> arguments = new ArrayList<>();
    Object container = at(deployment, "spec", "template", "spec", "containers", 0);
    for (Object argument : (List<?>) at(container, "args")) {
      arguments.add(
          argument
              .toString()
              .replace("/etc/nereid/nereid.yaml", file.toString())
              .replaceFirst("(?<=-port=)\\d+$", "0"));
    }
    // So that nothing outside of this machine is reached, and what the access log counts is there.
    arguments.addAll(List.of("--http-address=127.0.0.1", "--grpc-address=127.0.0.1"));
    arguments.add("--access-log=" + directory.resolve("access"));
    return arguments;
  }

  @AfterAll
  static void stop() throws InterruptedException {
    process.destroy();
    assertTrue(process.waitFor(20, TimeUnit.SECONDS));
    assertEquals(0, process.exitValue());
  }

  private static String ok(String url) {
    try {
      HttpURLConnection connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
      assertEquals(200, connection.getResponseCode(), url);
      return new String(connection.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void theProbesAreAnswered() throws IOException {
    int probes = 0;
    for (String file : List.of("deployment.yaml", "kserve/nereid-onnx.yaml")) {
      Object spec =
          at(KubernetesShape.read(KubernetesTest.MANIFESTS.resolve(file)).getFirst(), "spec");
      Object pod = ((Map<?, ?>) spec).containsKey("template") ? at(spec, "template", "spec") : spec;
      for (Map.Entry<?, ?> field : ((Map<?, ?>) at(pod, "containers", 0)).entrySet()) {
        if (field.getKey().toString().endsWith("Probe")) {
          ok(addresses.get("HTTP") + at(field.getValue(), "httpGet", "path"));
          probes++;
        }
      }
    }
    assertEquals(5, probes);
  }

  @Test
  void thePortsThatAreNamedAreServed() {
    assertEquals(Set.of("HTTP", "gRPC", "metrics"), addresses.keySet());
  }

  @Test
  void theDashboardShowsWhatIsThere() throws IOException {
    Map<String, Object> dashboard =
        JSON.std.mapFrom(Files.readString(DOCKER.resolve("grafana/dashboards/nereid.json")));
    int expressions = 0;
    Set<Object> ids = new HashSet<>();
    for (Object panel : (List<?>) dashboard.get("panels")) {
      assertTrue(ids.add(at(panel, "id")), "a panel's id twice: " + at(panel, "id"));
      if (!at(panel, "type").equals("row")) {
        for (Object target : (List<?>) at(panel, "targets")) {
          String expression = at(target, "expr").toString();
          Set<String> labels = labels(expression);
          Matcher legend = LEGEND.matcher(at(target, "legendFormat").toString());
          while (legend.find()) {
            assertTrue(labels.contains(legend.group(1)), legend.group() + " of " + expression);
          }
          expressions++;
        }
      }
    }
    assertTrue(expressions > 40, expressions + " expressions");
    for (Object variable : (List<?>) at(dashboard, "templating", "list")) {
      labels(at(variable, "query", "query").toString());
    }
  }

  @Test
  void scrapedMetricsAreOnTheDashboard() throws IOException {
    String dashboard = Files.readString(DOCKER.resolve("grafana/dashboards/nereid.json"));
    Set<String> missing = new TreeSet<>();
    for (String name : samples.keySet()) {
      if (!dashboard.contains(name.replaceFirst("_(bucket|sum|count)$", ""))) {
        missing.add(name);
      }
    }
    // Times of the cache are in the sums of its misses; the machine's memory and the process'
    // limits are
    // no matter of a graph.
    assertEquals(
        Set.of(
            "nv_cache_hit_duration_per_model",
            "nv_cache_miss_duration_per_model",
            "nv_cpu_memory_used_bytes",
            "nv_inference_request_duration_us",
            "jvm_memory_committed_bytes",
            "process_max_fds"),
        missing);
  }

  @Test
  void theAutoscalerHasItsMetrics() throws IOException {
    Set<Object> made = new HashSet<>();
    Map<?, ?> adapter =
        KubernetesShape.read(KubernetesTest.MANIFESTS.resolve("prometheus-adapter.yaml"))
            .getFirst();
    for (Object rule : (List<?>) at(adapter, "rules")) {
      labels(at(rule, "seriesQuery").toString());
      labels(at(rule, "metricsQuery").toString());
      made.add(at(rule, "name", "as"));
    }
    Set<Object> wanted = new HashSet<>();
    for (String file : List.of("autoscaler.yaml", "autoscaler-objective.yaml")) {
      Map<?, ?> autoscaler =
          KubernetesShape.read(KubernetesTest.MANIFESTS.resolve(file)).getFirst();
      for (Object metric : (List<?>) at(autoscaler, "spec", "metrics")) {
        if (at(metric, "type").equals("Pods")) {
          wanted.add(at(metric, "pods", "metric", "name"));
        }
      }
    }
    assertEquals(wanted, made);
  }

  @Test
  void kedaAndThePickerHaveTheirMetrics() throws IOException {
    Map<?, ?> scaled =
        KubernetesShape.read(KubernetesTest.MANIFESTS.resolve("keda.yaml")).getFirst();
    for (Object trigger : (List<?>) at(scaled, "spec", "triggers")) {
      labels(at(trigger, "metadata", "query").toString());
    }
    Object extractor = at(KubernetesTest.pickerPlugins(), 3);
    assertEquals("core-metrics-extractor", at(extractor, "type"));
    Object engine = at(extractor, "parameters", "engineConfigs", 0);
    assertEquals(at(extractor, "parameters", "defaultEngine"), at(engine, "name"));
    for (String metric : List.of("queuedRequestsSpec", "runningRequestsSpec")) {
      assertTrue(samples.containsKey(at(engine, metric)), engine.toString());
    }
  }

  @Test
  void alertsAreAboutWhatIsThere() throws IOException {
    Map<?, ?> file = KubernetesShape.read(DOCKER.resolve("prometheus/alerts.yml")).getFirst();
    for (Object rule : (List<?>) at(file, "groups", 0, "rules")) {
      labels(at(rule, "expr").toString());
    }
  }

  @Test
  void alertsFireInTroubleAndOnlyThen(@TempDir Path output) throws Exception {
    promtool(output, "test", "rules", "alerts_test.yml");
  }

  @Test
  void prometheusTakesItsConfigurations(@TempDir Path output) throws Exception {
    // The files of the certificate and the token are the user's.
    promtool(output, "check", "config", "--syntax-only", "prometheus.yml", "protected.yml");
  }

  private static void promtool(Path output, String... arguments) throws Exception {
    Path promtool = Path.of("/usr/bin/promtool");
    assumeTrue(Files.exists(promtool), "no promtool; './dev setup' installs it");
    Path said = output.resolve("said");
    List<String> command = new ArrayList<>(List.of(promtool.toString()));
    command.addAll(List.of(arguments));
    Process checks =
        new ProcessBuilder(command)
            .directory(DOCKER.resolve("prometheus").toFile())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    assertEquals(0, checks.waitFor(), () -> read(said));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void theFilesOfComposeAreThere() throws IOException {
    Map<?, ?> compose = KubernetesShape.read(DOCKER.resolve("compose.yaml")).getFirst();
    for (Object service : ((Map<?, ?>) at(compose, "services")).values()) {
      for (Object volume : (List<?>) at(service, "volumes")) {
        String source =
            volume.toString().replaceFirst("^\\$\\{\\w+:-([^}]+)\\}", "$1").split(":")[0];
        assertTrue(
            !source.startsWith(".") || Files.exists(DOCKER.resolve(source)), volume.toString());
      }
    }
    Object prometheus =
        at(
            KubernetesShape.read(DOCKER.resolve("prometheus/prometheus.yml")).getFirst(),
            "scrape_configs",
            0,
            "static_configs",
            0,
            "targets",
            0);
    assertEquals("nereid:8002", prometheus);
    for (String kind : List.of("datasources/prometheus.yaml", "dashboards/nereid.yaml")) {
      Path file = DOCKER.resolve("grafana/provisioning").resolve(kind);
      assertEquals(1, at(KubernetesShape.read(file).getFirst(), "apiVersion"));
    }
  }

  /** Checks that an expression's metrics are there, and returns the labels that they have. */
  private static Set<String> labels(String expression) {
    Set<String> labels = new HashSet<>(Set.of("instance", "job"));
    Matcher metric = METRIC.matcher(expression);
    boolean found = false;
    while (metric.find()) {
      assertTrue(samples.containsKey(metric.group()), metric.group() + " of " + expression);
      labels.addAll(samples.get(metric.group()));
      found = true;
    }
    assertTrue(found, expression);
    Matcher grouping = GROUPING.matcher(expression);
    while (grouping.find()) {
      for (String label : grouping.group(1).split(", ")) {
        assertTrue(labels.contains(label), label + " of " + expression);
      }
    }
    return labels;
  }
}

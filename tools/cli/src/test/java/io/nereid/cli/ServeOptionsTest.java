package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.ServerOptions;
import io.nereid.server.access.AccessControl;
import io.nereid.server.grpc.GrpcKeepAlive;
import io.nereid.server.grpc.GrpcLimits;
import io.nereid.server.http.HttpLimits;
import io.nereid.server.log.LogSettings;
import io.nereid.server.metrics.MetricsConfig;
import io.nereid.server.shared.ForwardedLog;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.trace.TraceOptions;
import io.nereid.stores.Signatures;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Model.OptionSpec;

/**
 * No option is lost between the command line and the server: each flag changes what the server is
 * started with, and each component of that has a flag.
 */
class ServeOptionsTest {

  /** Values to try, one of which each flag takes that can stand alone. */
  private static final List<String> CANDIDATES =
      List.of("7777", "false", "true", "127.0.0.7", "poll", "json", "low", "health:a=b", "x.pem");

  /** What is not told by a flag. */
  private static final Set<String> WITHOUT_FLAG =
      Set.of(
          "metrics.connectionCount", // only lowered, where a process may open few files
          "repository.listeners", // code
          "runtime.drainTimeout", // of models that are unloaded while the server runs
          "runtime.nativePath", // the launcher's
          "runtime.onnxruntimePath",
          "shadow.memoryBytes"); // for programs

  /**
   * Acts elsewhere: the file is read before, properties are for the backend, and caches and
   * certificates for repositories in object stores.
   */
  private static final Set<String> ELSEWHERE =
      Set.of(
          "--config",
          "--tensorrt-dir",
          "--tensorrt-plugins",
          "--model-cache-directory",
          "--model-cache-byte-size",
          "--model-store-ca");

  @TempDir Path directory;

  /** Whole lines for flags that need a value of their own, or each other. */
  private Map<String, List<String>> lines() throws Exception {
    Path tokens = Files.writeString(directory.resolve("tokens"), "0123456789abcdef0123456789\n");
    String log = directory.resolve("log").toString();
    List<String> tls =
        List.of("--tls-cert=c", "--tls-key=k", "--tls-client-ca=a", "--tls-client-auth=optional");
    List<String> ssl =
        List.of(
            "--grpc-use-ssl-mutual",
            "--grpc-server-cert=gc",
            "--grpc-server-key=gk",
            "--grpc-root-cert=ga");
    Map<String, List<String>> lines = new TreeMap<>();
    tls.forEach(argument -> lines.put(argument.split("=")[0], tls));
    ssl.forEach(argument -> lines.put(argument.split("=")[0], ssl));
    lines.put(
        "--grpc-use-ssl",
        List.of("--grpc-use-ssl", "--grpc-server-cert=gc", "--grpc-server-key=gk"));
    lines.put("--load-model", List.of("--load-model=m", "--model-control-mode=explicit"));
    lines.put("--objective", List.of("--objective=m=p99:20ms"));
    lines.put("--isolation", List.of("--isolation=m=process"));
    lines.put("--shadow", List.of("--shadow=m:3=2"));
    lines.put("--shadow-share", List.of("--shadow-share=0.5"));
    Path tolerances = Files.writeString(directory.resolve("tolerances"), "default = 1,1\n");
    lines.put("--shadow-tolerances", List.of("--shadow-tolerances=" + tolerances));
    lines.put("--auth-token-file", List.of("--auth-token-file=" + tokens));
    lines.put("--http-allowed-origin", List.of("--http-allowed-origin=https://app.example"));
    lines.put("--console-path", List.of("--console-path=/console"));
    lines.put("--console-history-hours", List.of("--console-history-hours=24"));
    lines.put(
        "--grpc-restricted-protocol",
        List.of("--grpc-restricted-protocol=health:triton-grpc-protocol-a=b"));
    Path publicKey = directory.resolve("release.pub.pem");
    Signatures.makeKeys(directory.resolve("release.pem"), publicKey);
    lines.put("--require-signature", List.of("--require-signature=" + publicKey));
    String key = "0123456789abcdef".repeat(4);
    Path keyFile = Files.writeString(directory.resolve("model.key"), key);
    lines.put("--model-key", List.of("--model-key=" + keyFile));
    lines.put("--model-key-command", List.of("--model-key-command=echo " + key));
    lines.put("--cache-config", List.of("--cache-config=redis,host=h"));
    lines.put("--rate-limit", List.of("--rate-limit=execution_count"));
    lines.put("--rate-limit-resource", List.of("--rate-limit-resource=R1:7"));
    lines.put("--host-policy", List.of("--host-policy=cpu,numa-node=7"));
    lines.put("--log-file", List.of("--log-file=" + log));
    lines.put("--access-log", List.of("--access-log"));
    lines.put("--trace-config", traces());
    lines.put("--record", List.of("--record=" + directory + ",start=false"));
    lines.put("--metrics-config", forms());
    lines.put(
        "--metrics-protected",
        List.of(
            "--metrics-protected", "--tls-cert=c", "--tls-key=k", "--auth-token-file=" + tokens));
    return lines;
  }

  private static List<String> traces() {
    return List.of(
        "--trace-config=level=TIMESTAMPS",
        "--trace-config=rate=7",
        "--trace-config=count=7",
        "--trace-config=mode=opentelemetry",
        "--trace-config=triton,file=f",
        "--trace-config=triton,log-frequency=7",
        "--trace-config=opentelemetry,url=http://other/v1",
        "--trace-config=opentelemetry,resource=k=v",
        "--trace-config=opentelemetry,bsp_max_queue_size=7",
        "--trace-config=opentelemetry,bsp_schedule_delay=7",
        "--trace-config=opentelemetry,bsp_max_export_batch_size=7");
  }

  private static List<String> forms() {
    return List.of(
        "--metrics-config=counter_latencies=false",
        "--metrics-config=histogram_latencies=false",
        "--metrics-config=summary_latencies=true",
        "--metrics-config=summary_quantiles=0.1:0.1");
  }

  /** Null: the line is refused. */
  private static Map<String, String> values(List<String> line) {
    SettingsRun run = new SettingsRun(Map.of(), line.toArray(String[]::new));
    if (run.exitCode() != 0) {
      return null;
    }
    try (LogSettings log = run.mixin(LogArguments.class).install()) {
      RepositoryOptions.Builder models =
          run.mixin(ControlArguments.class).options(List.of(), text -> {});
      run.mixin(ShadowArguments.class).apply(models);
      Map<String, String> values = new TreeMap<>();
      put(values, "", run.serve().options(models.build(), log));
      return values;
    } catch (RuntimeException e) {
      return null;
    }
  }

  private static void put(Map<String, String> values, String path, Object value) {
    switch (value) {
      case Record record when record.getClass().getName().startsWith("io.nereid.") -> {
        for (RecordComponent component : record.getClass().getRecordComponents()) {
          put(values, below(path, component), get(component, record));
        }
      }
      case Optional<?> optional when optional.isPresent() -> put(values, path, optional.get());
      case AccessControl access -> values.put(path, access.isOpen() + " " + access.fieldNames());
      case LogSettings log -> values.put(path, log.values() + " " + log.file());
      case HeaderForwarding forwarding -> values.put(path, "there");
      default -> values.put(path, value.toString());
    }
  }

  private static String below(String path, RecordComponent component) {
    return (path.isEmpty() ? "" : path + ".") + component.getName();
  }

  private static Object get(RecordComponent component, Object record) {
    try {
      return component.getAccessor().invoke(record);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** The components of a record, and of those that it holds. */
  private static void leaves(Class<?> record, String path, Set<String> into) {
    for (RecordComponent component : record.getRecordComponents()) {
      Type type = component.getGenericType();
      if (type instanceof ParameterizedType optional && optional.getRawType() == Optional.class) {
        type = optional.getActualTypeArguments()[0];
      }
      if (type instanceof Class<?> held
          && held.isRecord()
          && held.getName().startsWith("io.nereid.")) {
        leaves(held, below(path, component), into);
      } else {
        into.add(below(path, component));
      }
    }
  }

  /** What has another value now; not what went with an Optional that became empty. */
  private static Set<String> changed(Map<String, String> before, Map<String, String> after) {
    Set<String> paths = new TreeSet<>(after.keySet());
    paths.removeIf(path -> after.get(path).equals(before.get(path)));
    return paths;
  }

  @Test
  void eachFlagChangesSomethingAndEachComponentHasAFlag() throws Exception {
    Map<String, String> standard = values(List.of());
    Map<String, List<String>> lines = lines();
    Set<String> all = new HashSet<>();
    List<String> lost = new ArrayList<>();
    for (OptionSpec option :
        Main.commandLine().getSubcommands().get("serve").getCommandSpec().options()) {
      String flag = option.longestName();
      if (option.hidden()
          || option.usageHelp()
          || option.versionHelp()
          || flag.equals("--stacktrace")
          || ELSEWHERE.contains(flag)) {
        continue;
      }
      List<List<String>> tried =
          lines.containsKey(flag)
              ? List.of(lines.get(flag))
              : CANDIDATES.stream().map(value -> List.of(flag + "=" + value)).toList();
      Set<String> changed =
          tried.stream()
              .map(ServeOptionsTest::values)
              .filter(Objects::nonNull)
              .map(values -> changed(standard, values))
              .filter(paths -> !paths.isEmpty())
              .findFirst()
              .orElse(Set.of());
      if (changed.isEmpty()) {
        lost.add(flag);
      }
      all.addAll(changed);
    }
    assertEquals(List.of(), lost, "flags without an effect");
    Set<String> leaves = new TreeSet<>();
    leaves(ServerOptions.class, "", leaves);
    assertTrue(leaves.size() > 60, leaves.toString());
    leaves.removeAll(all);
    assertEquals(new TreeSet<>(WITHOUT_FLAG), leaves, "components without a flag");
  }

  @Test
  void openMetricsBesideProtectedHttpAreWarnedOf() throws Exception {
    Path tokens = Files.writeString(directory.resolve("some"), "0123456789abcdef0123456789\n");
    List<String> tls = List.of("--tls-cert=c", "--tls-key=k");
    List<String> token = List.of("--auth-token-file=" + tokens);
    List<String> statistics = List.of("--http-restricted-api=statistics:a=b");
    for (List<String> line : List.of(tls, token, statistics)) {
      assertEquals(1, warnings(line), line.toString());
      assertEquals(0, warnings(with(line, "--metrics-protected=false")), line.toString());
      assertEquals(0, warnings(with(line, "--metrics-protected")), line.toString());
      assertEquals(0, warnings(with(line, "--allow-metrics=false")), line.toString());
    }
    assertEquals(0, warnings(List.of()));
    assertEquals(0, warnings(List.of("--http-restricted-api=logging:a=b")));
  }

  private static List<String> with(List<String> line, String flag) {
    List<String> longer = new ArrayList<>(line);
    longer.add(flag);
    return longer;
  }

  /** The number of warnings about metrics that a line leads to; it must be accepted. */
  private static int warnings(List<String> line) {
    try (ForwardedLog log = new ForwardedLog(MetricsArguments.class)) {
      assertNotNull(values(line), line.toString());
      return log.lines().size();
    }
  }

  @Test
  void protectedMetricsNeedSomethingThatProtectsThem() {
    assertNull(values(List.of("--metrics-protected")));
  }

  /** What is set is told apart, so no two values are mixed up. */
  @Test
  void numbersReachTheirComponents() {
    Map<String, String> values =
        values(
            List.of(
                "--http-max-input-size=1001",
                "--http-max-header-size=1002",
                "--http-max-chunks=1003",
                "--http-max-json-depth=1004",
                "--http-max-connections=1005",
                "--http-request-timeout-secs=1006",
                "--http-idle-timeout-secs=1007",
                "--grpc-max-input-size=2001",
                "--grpc-max-total-input-size=2002",
                "--grpc-request-timeout-secs=2003",
                "--grpc-max-metadata-size=2004",
                "--grpc-max-concurrent-calls=2005",
                "--grpc-max-connections=2006",
                "--grpc-keepalive-time=3001",
                "--grpc-keepalive-timeout=3002",
                "--grpc-http2-min-recv-ping-interval-without-data=3003",
                "--grpc-max-connection-age=3004",
                "--grpc-max-connection-age-grace=3005"));
    assertEquals(
        "[1001, 1002, 1003, 1004, 1005, PT16M46S, PT16M47S]",
        below(values, "http.limits", HttpLimits.class));
    assertEquals(
        "[2001, 2002, PT33M23S, 2004, 2005, 2006]", below(values, "grpc.limits", GrpcLimits.class));
    assertEquals(
        "[PT3.001S, PT3.002S, PT3.003S, false, PT3.004S, PT3.005S]",
        below(values, "grpc.keepAlive", GrpcKeepAlive.class));
  }

  private static String below(Map<String, String> values, String path, Class<?> record) {
    return Arrays.stream(record.getRecordComponents())
        .map(component -> values.get(below(path, component)))
        .toList()
        .toString();
  }

  @Test
  void withoutFlagsTheDefaultsOfTheRecordsHold() {
    SettingsRun run = new SettingsRun(Map.of());
    try (LogSettings log = run.mixin(LogArguments.class).install()) {
      RepositoryOptions models =
          run.mixin(ControlArguments.class).options(List.of(), text -> {}).build();
      ServerOptions options = run.serve().options(models, log);
      assertEquals(HttpLimits.DEFAULT, options.http().orElseThrow().limits());
      assertEquals(GrpcLimits.DEFAULT, options.grpc().orElseThrow().limits());
      assertEquals(GrpcKeepAlive.DEFAULT, options.grpc().orElseThrow().keepAlive());
      assertEquals(MetricsConfig.DEFAULT, options.metrics().orElseThrow().config());
      assertEquals(TraceOptions.OFF, options.trace());
      assertTrue(options.http().orElseThrow().access().isOpen());
      assertFalse(options.allowClientShm());
    }
  }
}

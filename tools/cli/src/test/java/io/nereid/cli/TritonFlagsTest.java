package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.NereidOptions;
import io.nereid.model.HostPolicy;
import io.nereid.model.PluginOptions;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.ResourceCount;
import io.nereid.server.access.AccessControl;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.metrics.MetricsConfig;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.trace.TraceLevel;
import io.nereid.server.trace.TraceOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Command lines that were written for Triton. */
class TritonFlagsTest {

  @Test
  void flagsWithoutEffectAreAcceptedWithAWarning() {
    CommandSpec serve = Main.commandLine().getSubcommands().get("serve").getCommandSpec();
    int found = 0;
    for (Map.Entry<String, String> flag : TritonFlags.reasons().entrySet()) {
      if (serve.findOption(flag.getKey()).hidden()) {
        String warning = "warning: " + flag.getKey() + " has no effect: " + flag.getValue();
        SettingsRun attached = new SettingsRun(Map.of(), flag.getKey() + "=1");
        SettingsRun apart = new SettingsRun(Map.of(), flag.getKey(), "1", flag.getKey(), "2");
        assertEquals(0, attached.exitCode(), attached.err());
        assertEquals("nereid: " + warning + "\n", attached.err());
        assertEquals("nereid: " + warning + "\n", apart.err());
        found++;
      }
    }
    assertTrue(found > 20, "only " + found);
  }

  /** All that Triton's help lists. */
  private static final String ALL =
      """
      allow-client-shm allow-cpu-metrics allow-gpu-metrics allow-grpc allow-http allow-metrics
      allow-sagemaker allow-vertex-ai backend-config backend-directory
      buffer-manager-thread-count cache-config cache-directory cuda-memory-pool-byte-size
      cuda-virtual-address-size disable-auto-complete-config enable-peer-access exit-on-error
      exit-timeout-secs grpc-address grpc-header-forward-pattern grpc-http2-max-ping-strikes
      grpc-http2-max-pings-without-data grpc-http2-min-recv-ping-interval-without-data
      grpc-infer-allocation-pool-size grpc-infer-response-compression-level
      grpc-infer-thread-count grpc-keepalive-permit-without-calls grpc-keepalive-time
      grpc-keepalive-timeout grpc-max-connection-age grpc-max-connection-age-grace
      grpc-max-response-pool-size grpc-port grpc-restricted-protocol grpc-root-cert
      grpc-server-cert grpc-server-key grpc-use-ssl grpc-use-ssl-mutual host-policy
      http-address http-header-forward-pattern http-max-input-size http-port
      http-restricted-api http-thread-count id load-model log-error log-file log-format
      log-info log-verbose log-warning metrics-address metrics-config metrics-interval-ms
      metrics-port min-supported-compute-capability model-config-name model-control-mode
      model-load-gpu-limit model-load-retry-count model-load-thread-count model-namespacing
      model-repository model-store pinned-memory-pool-byte-size rate-limit rate-limit-resource
      repoagent-directory repository-poll-secs response-cache-byte-size reuse-grpc-port
      reuse-http-port sagemaker-port sagemaker-safe-port-range sagemaker-thread-count
      strict-model-config strict-readiness trace-config trace-count trace-file trace-level
      trace-log-frequency trace-rate vertex-ai-default-model vertex-ai-port
      vertex-ai-thread-count
      """;

  @Test
  void everyFlagOfTritonsIsKnownAndDocumented() throws Exception {
    CommandSpec serve = Main.commandLine().getSubcommands().get("serve").getCommandSpec();
    for (String name : ALL.split("\\s+")) {
      String flag = "--" + name;
      OptionSpec option = serve.findOption(flag);
      assertTrue(option != null, flag);
      boolean told = !option.hidden() || TritonFlags.reasons().containsKey(flag);
      assertTrue(told || isInADocument(flag), flag + " is neither in the help nor documented");
    }
  }

  private static boolean isInADocument(String flag) throws IOException {
    return Files.readString(Path.of("..", "..", "docs", "command-line.md")).contains("`" + flag);
  }

  @Test
  void theDocumentNamesThemAll() throws Exception {
    String document = Files.readString(Path.of("..", "..", "docs", "command-line.md"));
    TritonFlags.reasons()
        .forEach((flag, reason) -> {
          boolean there =
              document
                  .lines()
                  .anyMatch(line -> line.contains("`" + flag + "`") && line.contains(reason));
          assertTrue(there, flag + ", " + reason);
        });
  }

  @Test
  void fromAFileTheWarningNamesThePlace(@TempDir Path directory) throws Exception {
    Path file =
        Files.writeString(directory.resolve("a.yaml"), "http-port: 1\nreuse-http-port: true\n");
    SettingsRun run = new SettingsRun(Map.of(), "--config", file.toString());
    assertTrue(run.err().contains("warning: " + file + ":2: --reuse-http-port has no"), run.err());
  }

  @Test
  void theCommandLineOfADeploymentIsUnderstood() {
    SettingsRun run =
        new SettingsRun(
            Map.of(),
            "--model-store=/models",
            "--http-port=8080",
            "--strict-model-config=false",
            "--exit-on-error=false",
            "--cache-config",
            "local,size=1048576",
            "--pinned-memory-pool-byte-size=268435456",
            "--cuda-memory-pool-byte-size=0:67108864",
            "--min-supported-compute-capability=6.0",
            "--backend-config=onnxruntime,default-max-batch-size=8");
    assertEquals(0, run.exitCode(), run.err());
    assertEquals(3, run.err().lines().count(), run.err());
    assertTrue(
        run.mixin(ControlArguments.class).options(List.of(), text -> {}).build().autoComplete());
    assertEquals("[/models]", run.value("--model-repository"));
    assertEquals(
        1 << 20,
        run.mixin(RuntimeArguments.class).options(false, PluginOptions.builder()).cacheByteLimit());
    assertEquals(
        268_435_456,
        run.mixin(RuntimeArguments.class).options(false, PluginOptions.builder()).poolByteLimit());
  }

  @Test
  void flagsThatTracedBeforeTraceConfigStillDo() {
    SettingsRun run =
        new SettingsRun(
            Map.of(),
            "--trace-file=/tmp/t.json",
            "--trace-level=TIMESTAMPS",
            "--trace-level=TENSORS",
            "--trace-rate=10",
            "--trace-count=5",
            "--trace-log-frequency=1",
            "--trace-config=count=7");
    assertEquals("", run.err());
    TraceOptions expected =
        TraceOptions.OFF
            .withFile("/tmp/t.json")
            .withRate(10)
            .withCount(7)
            .withLogFrequency(1)
            .withLevels(TraceLevel.TIMESTAMPS, TraceLevel.TENSORS);
    assertEquals(expected, run.mixin(TraceArguments.class).options());
  }

  @Test
  void oneLevelOffIsEnough() {
    SettingsRun run =
        new SettingsRun(
            Map.of(), "--trace-config", "level=OFF", "--trace-config", "level=TIMESTAMPS");
    assertEquals(Set.of(), run.mixin(TraceArguments.class).options().levels());
  }

  @Test
  void tensorsThatACollectorDoesNotGetAreWarnedAbout() {
    SettingsRun run =
        new SettingsRun(
            Map.of(),
            "--trace-config=level=TENSORS",
            "--trace-config=level=TIMESTAMPS",
            "--trace-config=mode=opentelemetry");
    TraceOptions options = run.mixin(TraceArguments.class).options();
    assertEquals(Set.of(TraceLevel.TIMESTAMPS), options.levels());
    assertTrue(run.err().contains("warning: --trace-config level=TENSORS has no"), run.err());
  }

  @Test
  void modelsAreFoundAndLoadedAsTheFlagsSay() {
    SettingsRun run =
        new SettingsRun(
            Map.of(),
            "--strict-model-config=true",
            "--model-config-name=h100",
            "--model-namespacing=true",
            "--model-load-retry-count=3");
    assertEquals("", run.err());
    RepositoryOptions options =
        run.mixin(ControlArguments.class).options(List.of(), text -> {}).build();
    assertFalse(options.autoComplete());
    assertEquals("h100", options.configName());
    assertTrue(options.namespacing());
    assertEquals(3, options.loadRetryCount());
  }

  @Test
  void headerFieldsAreForwardedAsTheFlagsSay() {
    SettingsRun run =
        new SettingsRun(
            Map.of(), "--http-header-forward-pattern=X_.*", "--grpc-header-forward-pattern", "^y$");
    assertEquals("", run.err());
    HeaderForwarding http =
        run.mixin(HttpArguments.class)
            .options(Duration.ZERO, Optional.empty(), AccessControl.OPEN, Optional.empty())
            .flatMap(HttpOptions::forwarding)
            .orElseThrow();
    assertTrue(http.matches("x_a") && !http.matches("y"));
    HeaderForwarding grpc =
        run.mixin(GrpcArguments.class)
            .options(Optional.empty(), AccessControl.OPEN)
            .flatMap(GrpcOptions::forwarding)
            .orElseThrow();
    assertTrue(grpc.matches("Y") && !grpc.matches("yy"));
  }

  @Test
  void metricsHaveTheFormsThatTheFlagsSay() {
    MetricsArguments arguments =
        new SettingsRun(
                Map.of(),
                "--metrics-config=summary_latencies=true",
                "--metrics-config",
                "summary_quantiles=0.5:0.05, 0.9:0.01",
                "--metrics-config=counter_latencies=false",
                "--metrics-config=histogram_latencies=false")
            .mixin(MetricsArguments.class);
    assertEquals(
        new MetricsConfig(false, false, true, List.of(0.5, 0.9)),
        arguments
            .options(InetAddress.getLoopbackAddress(), Optional.empty(), AccessControl.OPEN)
            .orElseThrow()
            .config());
  }

  @Test
  void executionsShareWhatTheFlagsSay() {
    SettingsRun run =
        new SettingsRun(
            Map.of(),
            "--rate-limit=execution_count",
            "--rate-limit-resource=R1:10",
            "--rate-limit-resource=R2:5:1",
            "--host-policy=gpu_0,numa-node=1",
            "--host-policy=gpu_0,cpu-cores=0-2,7",
            "--host-policy=cpu,cpu-cores=3");
    assertEquals("", run.err());
    NereidOptions options =
        run.mixin(RuntimeArguments.class).options(false, PluginOptions.builder());
    assertTrue(options.rateLimit());
    assertEquals(
        List.of(
            new ResourceCount("R1", 10, OptionalInt.empty()),
            new ResourceCount("R2", 5, OptionalInt.of(1))),
        options.resources());
    assertEquals(
        Map.of(
            "gpu_0",
            new HostPolicy(OptionalInt.of(1), List.of(0, 1, 2, 7)),
            "cpu",
            new HostPolicy(OptionalInt.empty(), List.of(3))),
        options.hostPolicies());
    NereidOptions standard =
        new SettingsRun(Map.of(), "--rate-limit=off")
            .mixin(RuntimeArguments.class)
            .options(false, PluginOptions.builder());
    assertFalse(standard.rateLimit());
  }

  @Test
  void theOlderFlagOfTheCacheIsTheSame() {
    SettingsRun run = new SettingsRun(Map.of(), "--response-cache-byte-size=5000");
    assertEquals(
        5000,
        run.mixin(RuntimeArguments.class).options(false, PluginOptions.builder()).cacheByteLimit());
    assertEquals(
        0,
        new SettingsRun(Map.of())
            .mixin(RuntimeArguments.class)
            .options(false, PluginOptions.builder())
            .cacheByteLimit());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--rate-limit=on | expected --rate-limit off or execution_count, got 'on'",
        "--rate-limit-resource=R1 | expected --rate-limit-resource NAME:COUNT[:DEVICE], got 'R1'",
        "--rate-limit-resource=:1 | expected --rate-limit-resource NAME:COUNT[:DEVICE], got ':1'",
        "--rate-limit-resource=R1:1:2:3 | expected --rate-limit-resource NAME:COUNT[:DEVICE], got",
        "--rate-limit-resource=R1:x | expected a count for --rate-limit-resource as a whole number",
        "--rate-limit-resource=R1:-1 | expected a count for --rate-limit-resource of 0 or more",
        "--rate-limit-resource=R1:1:x | expected a device for --rate-limit-resource as a whole",
        "--host-policy=cpu | expected --host-policy NAME,SETTING=VALUE, got 'cpu'",
        "--host-policy=cpu,numa-node | expected --host-policy NAME,SETTING=VALUE, got",
        "--host-policy=cpu,nodes=1 | expected numa-node or cpu-cores for --host-policy, got",
        "--host-policy=cpu,numa-node=x | expected a node for --host-policy as a whole number, got",
        "--host-policy=cpu,cpu-cores=3-1 | expected cores for --host-policy, from 0 to 1023, got",
        "--host-policy=cpu,cpu-cores=0-99999 | expected cores for --host-policy, from 0 to 1023",
        "--host-policy=cpu,cpu-cores=0, | expected cores for --host-policy as a whole number, got",
        "--cache-config=redis | local,size=BYTES or NAME,KEY=VALUE, got 'redis'",
        "--backend-config=python | expected --backend-config [NAME,]KEY=VALUE, got 'python'",
        "--backend-config=,a=b | expected --backend-config [NAME,]KEY=VALUE, got ',a=b'",
        "--backend-config=implementation=plugin | NAME,implementation=nereid, got 'plugin' for ''",
        "--backend-config=default-max-batch-size=x | as a whole number, got 'x'",
        "--cache-config=local | expected --cache-config local,size=BYTES or NAME,KEY=VALUE, got"
            + " 'local'",
        "--cache-config=local,size=x | expected --cache-config local,size=BYTES or NAME,KEY=VALUE,"
            + " got",
        "--cache-config=local,size=-1 | expected --cache-config local,size=BYTES or NAME,KEY=VALUE,"
            + " got",
        "--cache-config=local,bytes=1 | expected --cache-config local,size=BYTES or NAME,KEY=VALUE,"
            + " got",
        "--pinned-memory-pool-byte-size=-1 | of 0 or more, got -1",
        "--response-cache-byte-size=-1 | of 0 or more, got -1",
        "--http-header-forward-pattern=( | expression for --http-header-forward-pattern, got '('",
        "--grpc-header-forward-pattern=[ | expression for --grpc-header-forward-pattern, got '['",
        "--metrics-config=latencies=true | of those that --help lists for --metrics-config, got",
        "--metrics-config=summary_latencies | expected true or false for --metrics-config, got",
        "--metrics-config=summary_quantiles=0.5 | expected QUANTILE:ERROR, both from 0 to 1",
        "--metrics-config=summary_quantiles=1.5:0.1 | expected QUANTILE:ERROR, both from 0 to 1",
        "--metrics-config=summary_quantiles=a:b | expected QUANTILE:ERROR, both from 0 to 1",
        "--no-such-flag=1 | Unknown option: '--no-such-flag=1'",
        "--cuda-memory-pool-bite-size=1 | Unknown option: '--cuda-memory-pool-bite-size=1'"
      })
  void wrongFlagsAreNamed(String flag, String message) {
    CommandLineRun run = new CommandLineRun();
    assertEquals(2, run.run("serve", flag));
    assertTrue(run.err().contains(message), run.err());
    assertFalse(run.err().contains("did you mean --cuda"), run.err());
  }
}

package io.nereid.cli;

import io.nereid.server.trace.OtlpOptions;
import io.nereid.server.trace.TraceLevel;
import io.nereid.server.trace.TraceMode;
import io.nereid.server.trace.TraceOptions;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The flags for tracing requests. */
final class TraceArguments extends Arguments {

  @Option(
      names = "--trace-config",
      paramLabel = "[MODE,]SETTING=VALUE",
      description = {
        "Trace requests; repeatable:",
        "level=OFF|TIMESTAMPS|TENSORS; repeatable (OFF)",
        "rate=N: one request of N (1000)",
        "count=N: so many traces, -1: no end (-1)",
        "mode=triton|opentelemetry (triton)",
        "triton,file=PATH",
        "triton,log-frequency=N: traces in a numbered file,",
        "  0: all in one (0)",
        "opentelemetry,url=URL",
        "  (http://localhost:4318/v1/traces)",
        "opentelemetry,resource=KEY=VALUE",
        "opentelemetry,bsp_max_queue_size=N (2048)",
        "opentelemetry,bsp_schedule_delay=MS (5000)",
        "opentelemetry,bsp_max_export_batch_size=N (512)"
      })
  private List<String> settings = List.of();

  // Triton's older flags, before --trace-config.

  @Option(names = "--trace-file", paramLabel = "PATH", hidden = true)
  private String file;

  @Option(names = "--trace-level", paramLabel = "LEVEL", hidden = true)
  private List<String> olderLevels = List.of();

  @Option(names = "--trace-rate", paramLabel = "N", hidden = true)
  private String rate;

  @Option(names = "--trace-count", paramLabel = "N", hidden = true)
  private String count;

  @Option(names = "--trace-log-frequency", paramLabel = "N", hidden = true)
  private String logFrequency;

  // The values of the settings: the last value of each counts, and levels add up.
  private final Set<TraceLevel> levels = EnumSet.noneOf(TraceLevel.class);
  private boolean off;
  private long oneOf = TraceOptions.OFF.rate();
  private long most = TraceOptions.OFF.count();
  private long perFile = TraceOptions.OFF.logFrequency();
  private String path = TraceOptions.OFF.file();
  private TraceMode mode = TraceOptions.OFF.mode();
  private URI url = OtlpOptions.DEFAULT.url();
  private final Map<String, String> resource = new LinkedHashMap<>();
  private int queueSize = OtlpOptions.DEFAULT.queueSize();
  private Duration delay = OtlpOptions.DEFAULT.delay();
  private int batchSize = OtlpOptions.DEFAULT.batchSize();

  TraceOptions options() {
    List<String> all = olderSettings();
    all.addAll(settings);
    for (String setting : all) {
      int equals = setting.indexOf('=');
      if (equals < 1) {
        throw refused("SETTING=VALUE or MODE,SETTING=VALUE", setting);
      }
      apply(setting, setting.substring(0, equals), setting.substring(equals + 1));
    }
    try {
      return new TraceOptions(
          recorded(),
          oneOf,
          most,
          perFile,
          path,
          mode,
          new OtlpOptions(url, resource, queueSize, delay, batchSize));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command().commandLine(), "--trace-config: " + e.getMessage(), e);
    }
  }

  private void apply(String setting, String name, String value) {
    switch (name) {
      case "level" -> level(setting, value);
      case "rate" -> oneOf = number(setting, value);
      case "count" -> most = number(setting, value);
      case "mode" -> mode = mode(setting, value);
      case "triton,file" -> path = value;
      case "triton,log-frequency" -> perFile = number(setting, value);
      case "opentelemetry,url" -> url = url(setting, value);
      case "opentelemetry,resource" -> {
        int equals = value.indexOf('=');
        if (equals < 1) {
          throw refused("opentelemetry,resource=KEY=VALUE", setting);
        }
        resource.put(value.substring(0, equals), value.substring(equals + 1));
      }
      case "opentelemetry,bsp_max_queue_size" -> queueSize = size(setting, value);
      case "opentelemetry,bsp_schedule_delay" -> delay = Duration.ofMillis(size(setting, value));
      case "opentelemetry,bsp_max_export_batch_size" -> batchSize = size(setting, value);
      default ->
          throw refused(
              "a setting of those that --help lists (level, rate, count, mode, triton,file, ...)",
              setting);
    }
  }

  private void level(String setting, String value) {
    if (value.equals(TraceLevel.OFF)) {
      off = true;
      return;
    }
    TraceLevel level = TraceLevel.named(value);
    if (level == null) {
      throw refused("level " + TraceLevel.EXPECTED, setting);
    }
    levels.add(level);
  }

  /** The older flags as settings, which later settings override. */
  private List<String> olderSettings() {
    List<String> older = new ArrayList<>();
    olderLevels.forEach(level -> older.add("level=" + level));
    addOlder(older, "triton,file", file);
    addOlder(older, "rate", rate);
    addOlder(older, "count", count);
    addOlder(older, "triton,log-frequency", logFrequency);
    return older;
  }

  private static void addOlder(List<String> settings, String name, String value) {
    if (value != null) {
      settings.add(name + "=" + value);
    }
  }

  /** The levels to record: none if OFF is among the named ones. */
  private Set<TraceLevel> recorded() {
    if (mode == TraceMode.OPENTELEMETRY && levels.remove(TraceLevel.TENSORS)) {
      command()
          .commandLine()
          .getErr()
          .println(
              "nereid: warning: --trace-config level=TENSORS has no effect with mode="
                  + mode
                  + ": collectors get no contents of tensors");
    }
    return off ? Set.of() : levels;
  }

  private TraceMode mode(String setting, String value) {
    for (TraceMode mode : TraceMode.values()) {
      if (mode.toString().equals(value)) {
        return mode;
      }
    }
    throw refused("mode triton or opentelemetry", setting);
  }

  private long number(String setting, String value) {
    try {
      return Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw refused("a number", setting);
    }
  }

  private int size(String setting, String value) {
    long number = number(setting, value);
    if (number < 0 || number > 1_000_000) {
      throw refused("0 to 1000000", setting);
    }
    return (int) number;
  }

  private URI url(String setting, String value) {
    try {
      return new URI(value);
    } catch (URISyntaxException e) {
      throw refused("a URL", setting);
    }
  }

  private ParameterException refused(String expected, String got) {
    return wrong(expected + " for --trace-config", "'" + got + "'");
  }
}

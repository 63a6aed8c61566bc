package io.nereid.cli;

import io.nereid.perf.compare.TimeOption;
import io.nereid.recording.RecordingOptions;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** The flag for recording requests. */
final class RecordArguments extends Arguments {

  @Option(
      names = "--record",
      paramLabel = "DIR[,SETTING=VALUE]",
      description = {
        "Record requests into files of this directory:",
        "models=NAME: only those of this model; repeatable",
        "share=PART: so many of them (1)",
        "redact=NAME: no values of this input, output or",
        "  parameter; repeatable",
        "outputs=BOOL: with their outputs (false)",
        "max=SIZE: delete the oldest beyond it, 500m, 10g (10g)",
        "age=TIME: delete what is older: 12h, 7d (never)",
        "memory=SIZE: where requests wait for the disk (64m)",
        "start=BOOL: at once, or by 'nereid record start' (true)"
      })
  private String text;

  private boolean atOnce = true;

  /** The options; empty: there is no directory for recordings. */
  Optional<RecordingOptions> options() {
    if (text == null) {
      return Optional.empty();
    }
    String[] parts = text.split(",", -1);
    if (parts[0].isEmpty()) {
      throw wrong("--record DIR[,SETTING=VALUE]", "'" + text + "'");
    }
    RecordingOptions options = RecordingOptions.to(Path.of(parts[0]));
    try {
      for (int i = 1; i < parts.length; i++) {
        int equals = parts[i].indexOf('=');
        options =
            apply(
                options,
                equals < 1 ? "" : parts[i].substring(0, equals),
                parts[i].substring(equals + 1));
      }
    } catch (IllegalArgumentException | TypeConversionException e) {
      throw new ParameterException(command().commandLine(), "--record: " + e.getMessage(), e);
    }
    return Optional.of(options);
  }

  /** True if requests are recorded from the start on; valid after {@link #options}. */
  boolean atOnce() {
    return atOnce;
  }

  private RecordingOptions apply(RecordingOptions options, String name, String value) {
    return switch (name) {
      case "models" -> options.withModels(with(options.models(), value));
      case "redact" -> options.withRedacted(with(options.redacted(), value));
      case "share" -> options.withShare(share(value));
      case "outputs" -> options.withOutputs(truth(name, value));
      case "max" -> options.withRetention(BuildCommand.bytes("max=", value), options.maxAge());
      case "age" ->
          options.withRetention(options.maxBytes(), Optional.of(new TimeOption().convert(value)));
      case "memory" -> options.withMemory(BuildCommand.bytes("memory=", value));
      case "start" -> {
        atOnce = truth(name, value);
        yield options;
      }
      default ->
          throw wrong(
              "models=, share=, redact=, outputs=, max=, age=, memory= or start= for --record",
              "'" + text + "'");
    };
  }

  private static Set<String> with(Set<String> names, String another) {
    Set<String> more = new LinkedHashSet<>(names);
    more.add(another);
    return more;
  }

  private double share(String value) {
    try {
      return Double.parseDouble(value);
    } catch (NumberFormatException e) {
      throw wrong("share=0.1 for --record", "'" + value + "'");
    }
  }

  private boolean truth(String name, String value) {
    if (!value.equals("true") && !value.equals("false")) {
      throw wrong(name + "=true or " + name + "=false for --record", "'" + value + "'");
    }
    return value.equals("true");
  }
}

package io.nereid.cli;

import io.nereid.NereidOptions;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Settings of the runtime under Triton's flags. */
final class RuntimeArguments {

  private static final String CACHE_FORM = "--cache-config local,size=BYTES";

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--pinned-memory-pool-byte-size",
      paramLabel = "BYTES",
      defaultValue = "0",
      description =
          "The most memory of inputs and outputs in use at a time; 0 is the default, 4 GiB.")
  private long poolBytes;

  @Option(
      names = "--page-lock-pool",
      arity = "0..1",
      paramLabel = "BOOL",
      defaultValue = "true",
      fallbackValue = "true",
      description =
          "Page-lock that memory for GPUs once something uses one; ${DEFAULT-VALUE} by default.")
  private boolean pageLockPool;

  @Option(
      names = "--cache-config",
      paramLabel = "local,size=BYTES",
      description =
          "Keep responses of models with response_cache in this much memory; off by default.")
  private List<String> cache = new ArrayList<>();

  /** Triton's flag before --cache-config. */
  @Option(
      names = "--response-cache-byte-size",
      paramLabel = "BYTES",
      description = "The same in another form.")
  private Long cacheBytes;

  /** {@code stageHistograms}: whether something tells them. */
  NereidOptions options(boolean stageHistograms) {
    if (poolBytes < 0) {
      throw wrong("--pinned-memory-pool-byte-size of 0 or more", Long.toString(poolBytes));
    }
    return NereidOptions.builder()
        .poolByteLimit(poolBytes)
        .pageLockPool(pageLockPool)
        .stageHistograms(stageHistograms)
        .cacheByteLimit(cacheBytes())
        .build();
  }

  private long cacheBytes() {
    if (cacheBytes != null && cacheBytes < 0) {
      throw wrong("--response-cache-byte-size of 0 or more", Long.toString(cacheBytes));
    }
    if (cacheBytes != null && !cache.isEmpty()) {
      throw wrong("--cache-config or --response-cache-byte-size", "both");
    }
    long bytes = cacheBytes == null ? 0 : cacheBytes;
    for (String setting : cache) {
      bytes = size(setting);
    }
    return bytes;
  }

  private long size(String setting) {
    String[] parts = setting.split(",", 2);
    if (!parts[0].equals("local")) {
      throw wrong(CACHE_FORM + " (there is no other cache)", "'" + setting + "'");
    }
    String size = parts.length == 2 && parts[1].startsWith("size=") ? parts[1].substring(5) : "";
    try {
      long bytes = Long.parseLong(size);
      if (bytes >= 0) {
        return bytes;
      }
    } catch (NumberFormatException e) {
      // as a negative one
    }
    throw wrong(CACHE_FORM, "'" + setting + "'");
  }

  private ParameterException wrong(String expected, String got) {
    return new ParameterException(command.commandLine(), "expected " + expected + ", got " + got);
  }
}

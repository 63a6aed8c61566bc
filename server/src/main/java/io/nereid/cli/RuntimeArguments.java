package io.nereid.cli;

import io.nereid.NereidOptions;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Triton's flags for the runtime: its memory and its response cache. */
final class RuntimeArguments extends Arguments {

  private static final String CACHE_FORM = "--cache-config local,size=BYTES";

  @Option(
      names = "--pinned-memory-pool-byte-size",
      paramLabel = "BYTES",
      description =
          "The most memory of inputs and outputs in use at a time; 0 is the default, 4 GiB.")
  private long poolBytes;

  @Option(
      names = "--page-lock-pool",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description =
          "Page-lock that memory for GPUs once something uses one; ${DEFAULT-VALUE} by default.")
  private boolean pageLockPool = true;

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
    return NereidOptions.builder()
        .poolByteLimit(atLeast(0, "--pinned-memory-pool-byte-size", poolBytes))
        .pageLockPool(pageLockPool)
        .stageHistograms(stageHistograms)
        .cacheByteLimit(cacheBytes())
        .build();
  }

  private long cacheBytes() {
    long bytes = cacheBytes == null ? 0 : atLeast(0, "--response-cache-byte-size", cacheBytes);
    if (cacheBytes != null && !cache.isEmpty()) {
      throw wrong("--cache-config or --response-cache-byte-size", "both");
    }
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
}

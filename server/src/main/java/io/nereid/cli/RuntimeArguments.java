package io.nereid.cli;

import io.nereid.NereidOptions;
import io.nereid.model.HostPolicy;
import io.nereid.model.ResourceCount;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import picocli.CommandLine.Option;

/** Triton's flags for the runtime: its memory, its response cache, and what executions share. */
final class RuntimeArguments extends Arguments {

  private static final String CACHE_FORM = "--cache-config local,size=BYTES";
  private static final String RESOURCE_FORM = "NAME:COUNT[:DEVICE]";

  /** Linux has a set of so many for a thread. */
  private static final int MOST_CORES = 1024;

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

  @Option(
      names = "--rate-limit",
      paramLabel = "off|execution_count",
      description =
          "Whether executions wait for the resources of their instance groups; off by default.")
  private String rateLimit = "off";

  @Option(
      names = "--rate-limit-resource",
      paramLabel = RESOURCE_FORM,
      description =
          "How much there is of a resource; by default what the instance needs that needs most.")
  private List<String> resources = new ArrayList<>();

  @Option(
      names = "--host-policy",
      paramLabel = "NAME,SETTING=VALUE",
      description = "Threads of instances run on cpu-cores=0-3,7 and take memory of numa-node=0.")
  private List<String> hostPolicies = new ArrayList<>();

  /** {@code stageHistograms}: whether something tells them. */
  NereidOptions options(boolean stageHistograms) {
    NereidOptions.Builder options =
        NereidOptions.builder()
            .poolByteLimit(atLeast(0, "--pinned-memory-pool-byte-size", poolBytes))
            .pageLockPool(pageLockPool)
            .stageHistograms(stageHistograms)
            .cacheByteLimit(cacheBytes())
            .rateLimit(limitsRates());
    resources.forEach(resource -> options.resource(resource(resource)));
    hostPolicies().forEach(options::hostPolicy);
    return options.build();
  }

  private boolean limitsRates() {
    if (!rateLimit.equals("off") && !rateLimit.equals("execution_count")) {
      throw wrong("--rate-limit off or execution_count", "'" + rateLimit + "'");
    }
    return !rateLimit.equals("off");
  }

  private ResourceCount resource(String text) {
    String[] parts = text.split(":", -1);
    if (parts.length < 2 || parts.length > 3 || parts[0].isEmpty()) {
      throw wrong("--rate-limit-resource " + RESOURCE_FORM, "'" + text + "'");
    }
    OptionalInt device =
        parts.length == 2
            ? OptionalInt.empty()
            : OptionalInt.of(number(parts[2], "a device for --rate-limit-resource", text));
    int count = number(parts[1], "a count for --rate-limit-resource", text);
    return new ResourceCount(parts[0], count, device);
  }

  private int number(String digits, String expected, String got) {
    try {
      return atLeast(0, expected, Integer.valueOf(digits));
    } catch (NumberFormatException e) {
      throw wrong(expected + " as a whole number", "'" + got + "'");
    }
  }

  private Map<String, HostPolicy> hostPolicies() {
    Map<String, HostPolicy> policies = new HashMap<>();
    for (String text : hostPolicies) {
      int comma = text.indexOf(',');
      int equal = text.indexOf('=', comma);
      if (comma <= 0 || equal < 0) {
        throw wrong("--host-policy NAME,SETTING=VALUE", "'" + text + "'");
      }
      String value = text.substring(equal + 1);
      HostPolicy before = policies.getOrDefault(text.substring(0, comma), HostPolicy.NONE);
      HostPolicy policy =
          switch (text.substring(comma + 1, equal)) {
            case "numa-node" ->
                new HostPolicy(
                    OptionalInt.of(number(value, "a node for --host-policy", text)),
                    before.cores());
            case "cpu-cores" -> new HostPolicy(before.numaNode(), cores(value, text));
            default -> throw wrong("numa-node or cpu-cores for --host-policy", "'" + text + "'");
          };
      policies.put(text.substring(0, comma), policy);
    }
    return policies;
  }

  /** Numbers and ranges of them, such as 0-3,7. */
  private List<Integer> cores(String value, String text) {
    List<Integer> cores = new ArrayList<>();
    for (String range : value.split(",", -1)) {
      String[] ends = range.split("-", 2);
      int first = number(ends[0], "cores for --host-policy", text);
      int last = number(ends[ends.length - 1], "cores for --host-policy", text);
      if (last < first || last >= MOST_CORES) {
        throw wrong("cores for --host-policy, from 0 to " + (MOST_CORES - 1), "'" + text + "'");
      }
      for (int core = first; core <= last; core++) {
        cores.add(core);
      }
    }
    return cores;
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

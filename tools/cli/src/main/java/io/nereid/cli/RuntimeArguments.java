package io.nereid.cli;

import io.nereid.NereidOptions;
import io.nereid.model.HostPolicy;
import io.nereid.model.PluginOptions;
import io.nereid.model.ResourceCount;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import picocli.CommandLine.Option;

/** Triton's flags for the runtime: its memory, response cache, and resources of executions. */
final class RuntimeArguments extends Arguments {

  private static final String CACHE_FORM = "--cache-config local,size=BYTES or NAME,KEY=VALUE";

  /** The name of Nereid's own cache, unless a plug-in of that name is asked for. */
  private static final String OWN_CACHE = "local";

  /** The setting that asks for a plug-in cache with the name of Nereid's own. */
  private static final String PLUGIN = PluginOptions.IMPLEMENTATION + "=plugin";

  private static final String RESOURCE_FORM = "NAME:COUNT[:DEVICE]";

  /** The most cores in Linux's set for a thread. */
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
      paramLabel = "NAME,KEY=VALUE",
      description =
          "local,size=BYTES: keep responses of models with response_cache in this much memory; off"
              + " by default. Other names, and local,implementation=plugin, are plug-ins.")
  private List<String> cache = new ArrayList<>();

  /** Triton's older flag, before --cache-config. */
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

  /**
   * The runtime's options.
   *
   * @param stageHistograms whether metrics use stage histograms
   * @param plugins the settings of plug-ins, to which those of a cache are added
   */
  NereidOptions options(boolean stageHistograms, PluginOptions.Builder plugins) {
    long cacheBytes = cacheBytes(plugins);
    NereidOptions.Builder options =
        NereidOptions.builder()
            .poolByteLimit(atLeast(0, "--pinned-memory-pool-byte-size", poolBytes))
            .pageLockPool(pageLockPool)
            .stageHistograms(stageHistograms)
            .cacheByteLimit(cacheBytes)
            .plugins(plugins.build())
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

  /** Parses numbers and ranges, such as 0-3,7. */
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

  /** The size of Nereid's own cache; the settings of another go to the plug-ins. */
  private long cacheBytes(PluginOptions.Builder plugins) {
    long bytes = cacheBytes == null ? 0 : atLeast(0, "--response-cache-byte-size", cacheBytes);
    if (cacheBytes != null && !cache.isEmpty()) {
      throw wrong("--cache-config or --response-cache-byte-size", "both");
    }
    String used = null;
    boolean plugin =
        cache.stream().anyMatch(setting -> setting.endsWith("," + PLUGIN))
            || cache.stream().anyMatch(setting -> !name(setting).equals(OWN_CACHE));
    for (String setting : cache) {
      String name = name(setting);
      if (used != null && !used.equals(name)) {
        throw wrong("--cache-config of one cache", "those of '" + used + "' and '" + name + "'");
      }
      used = name;
      if (!plugin) {
        bytes = size(setting);
        continue;
      }
      String rest = setting.substring(Math.min(setting.length(), name.length() + 1));
      int equal = rest.indexOf('=');
      if (name.isEmpty() || equal <= 0) {
        throw wrong(CACHE_FORM, "'" + setting + "'");
      }
      plugins.cache(name, rest.substring(0, equal), rest.substring(equal + 1));
    }
    return bytes;
  }

  private static String name(String setting) {
    return setting.split(",", 2)[0];
  }

  private long size(String setting) {
    String[] parts = setting.split(",", 2);
    String size = parts.length == 2 && parts[1].startsWith("size=") ? parts[1].substring(5) : "";
    try {
      long bytes = Long.parseLong(size);
      if (bytes >= 0) {
        return bytes;
      }
    } catch (NumberFormatException e) {
      // handled as a negative number
    }
    throw wrong(CACHE_FORM, "'" + setting + "'");
  }
}

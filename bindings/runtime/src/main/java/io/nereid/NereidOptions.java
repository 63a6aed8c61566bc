package io.nereid;

import io.nereid.internal.Checks;
import io.nereid.internal.request.NativeRuntime;
import io.nereid.model.HostPolicy;
import io.nereid.model.PluginOptions;
import io.nereid.model.ResourceCount;
import io.nereid.statistics.ModelStatistics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Settings of a {@link Nereid}. Build one with {@link #builder()}.
 *
 * @param poolByteLimit cap on the memory of inputs and outputs; 0: the core's default (4 GiB)
 * @param pageLockPool whether that memory is page-locked for GPUs once a model runs on one
 * @param cacheByteLimit size of the response cache; 0: no cache
 * @param stageHistograms whether models keep {@link ModelStatistics#stages}
 * @param drainTimeout how long unloading, reloading and closing wait for requests to finish
 * @param nativePath the native library; empty: the one inside Nereid's jar
 * @param onnxruntimePath ONNX Runtime's shared library; empty: the one inside the {@code
 *     com.microsoft.onnxruntime:onnxruntime} jar on the class path
 * @param rateLimit whether executions hold the resources that their instance groups name
 * @param resources amounts of some resources; of each other there is as much as the neediest
 *     instance needs
 * @param hostPolicies processors for the threads of instances, by the name of the policy
 * @param plugins the places of plug-ins made for Triton, and their settings
 */
public record NereidOptions(
    long poolByteLimit,
    boolean pageLockPool,
    long cacheByteLimit,
    boolean stageHistograms,
    Duration drainTimeout,
    Optional<Path> nativePath,
    Optional<Path> onnxruntimePath,
    boolean rateLimit,
    List<ResourceCount> resources,
    Map<String, HostPolicy> hostPolicies,
    PluginOptions plugins) {

  /** The options that apply when nothing is set. */
  public static final NereidOptions DEFAULT = builder().build();

  /** Checks the values. */
  public NereidOptions {
    Checks.notNegative(poolByteLimit, "poolByteLimit");
    Checks.notNegative(cacheByteLimit, "cacheByteLimit");
    Checks.notNegative(drainTimeout, "drainTimeout");
    nativePath = Checks.notNull(nativePath, "nativePath").map(Path::toAbsolutePath);
    onnxruntimePath = Checks.notNull(onnxruntimePath, "onnxruntimePath").map(Path::toAbsolutePath);
    resources = List.copyOf(Checks.notNull(resources, "resources"));
    hostPolicies = Map.copyOf(Checks.notNull(hostPolicies, "hostPolicies"));
    Checks.notNull(plugins, "plugins");
    if (cacheByteLimit > 0 && !plugins.caches().isEmpty()) {
      throw new IllegalArgumentException(
          "expected one response cache, got cacheByteLimit and the plug-in "
              + plugins.caches().keySet());
    }
  }

  /** The options that concern the core. */
  NativeRuntime.Settings settings() {
    return new NativeRuntime.Settings(
        poolByteLimit,
        pageLockPool,
        cacheByteLimit,
        stageHistograms,
        nativePath,
        onnxruntimePath,
        rateLimit,
        resources,
        hostPolicies);
  }

  /** A builder with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds a {@link NereidOptions}. */
  public static final class Builder {
    private long poolByteLimit;
    private boolean pageLockPool = true;
    private long cacheByteLimit;
    private boolean stageHistograms;
    private Duration drainTimeout = Duration.ofSeconds(30);
    private Path nativePath;
    private Path onnxruntimePath;
    private boolean rateLimit;
    private final List<ResourceCount> resources = new ArrayList<>();
    private final Map<String, HostPolicy> hostPolicies = new HashMap<>();
    private PluginOptions plugins = PluginOptions.DEFAULT;

    private Builder() {}

    /** Cap on the memory of inputs and outputs. */
    public Builder poolByteLimit(long bytes) {
      poolByteLimit = bytes;
      return this;
    }

    /** True if the pool is page-locked for GPUs once a model runs on one; by default it is. */
    public Builder pageLockPool(boolean locks) {
      pageLockPool = locks;
      return this;
    }

    /** Size of the response cache, which is off by default. */
    public Builder cacheByteLimit(long bytes) {
      cacheByteLimit = bytes;
      return this;
    }

    /**
     * True if models keep {@link ModelStatistics#stages}, which costs each request a few counters
     * more; by default they do not.
     */
    public Builder stageHistograms(boolean kept) {
      stageHistograms = kept;
      return this;
    }

    /** Sets the time that unloading, reloading and closing wait for requests; 30 s by default. */
    public Builder drainTimeout(Duration timeout) {
      drainTimeout = Checks.notNull(timeout, "timeout");
      return this;
    }

    /** The native library to use; the system property {@code nereid.native.path} does the same. */
    public Builder nativePath(Path path) {
      nativePath = path;
      return this;
    }

    /** ONNX Runtime's library; the property {@code nereid.onnxruntime.path} does the same. */
    public Builder onnxruntimePath(Path path) {
      onnxruntimePath = path;
      return this;
    }

    /**
     * True if executions hold the resources that their instance groups name, and wait for them; by
     * default they do not.
     */
    public Builder rateLimit(boolean limits) {
      rateLimit = limits;
      return this;
    }

    /** Sets the amount that there is of a resource; without a device, on each device. */
    public Builder resource(ResourceCount resource) {
      resources.add(Checks.notNull(resource, "resource"));
      return this;
    }

    /** Sets the cores and the node for the threads of instances whose groups name this policy. */
    public Builder hostPolicy(String name, HostPolicy policy) {
      hostPolicies.put(Checks.notNull(name, "name"), Checks.notNull(policy, "policy"));
      return this;
    }

    /** Plug-ins that were made for Triton; by default those in Triton's own directories. */
    public Builder plugins(PluginOptions options) {
      plugins = Checks.notNull(options, "options");
      return this;
    }

    /** The finished value. */
    public NereidOptions build() {
      return new NereidOptions(
          poolByteLimit,
          pageLockPool,
          cacheByteLimit,
          stageHistograms,
          drainTimeout,
          Optional.ofNullable(nativePath),
          Optional.ofNullable(onnxruntimePath),
          rateLimit,
          resources,
          hostPolicies,
          plugins);
    }
  }
}

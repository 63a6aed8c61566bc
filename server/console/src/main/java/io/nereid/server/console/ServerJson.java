package io.nereid.server.console;

import io.nereid.model.ModelStore;
import io.nereid.server.metrics.GpuMetrics;
import io.nereid.server.shared.CpuLoad;
import io.nereid.server.shared.ServerState;
import io.nereid.statistics.CacheStatistics;
import io.nereid.statistics.PoolStatistics;
import io.nereid.statistics.ResourceStatistics;
import java.lang.management.ManagementFactory;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/** Writes the figures of the server itself. Used by the sampling thread. */
final class ServerJson {

  /**
   * The age until which figures are reused: over shorter times the load of processors means little,
   * and reading GPUs takes a while.
   */
  private static final long AGE_NS = TimeUnit.SECONDS.toNanos(2);

  private final ServerState state;
  private final RecentTroubles troubles;
  private final GpuMetrics gpus = new GpuMetrics(AGE_NS);

  ServerJson(ServerState state, RecentTroubles troubles) {
    this.state = state;
    this.troubles = troubles;
  }

  /** The state of the server, in a word. */
  static String word(ServerState state) {
    if (state.health().isFinishing()) {
      return "stopping";
    }
    if (!state.health().isLive()) {
      return "failed";
    }
    if (state.health().isLoading()) {
      return "starting";
    }
    return state.health().isReady() ? "ready" : "not-ready";
  }

  ConsoleJson json(int viewers) {
    Runtime heap = Runtime.getRuntime();
    CpuLoad cpu = CpuLoad.measured(AGE_NS);
    ModelStore store = state.nereid().repository().options().store();
    return new ConsoleJson()
        .with("state", word(state))
        .with("uptime_s", ManagementFactory.getRuntimeMXBean().getUptime() / 1000)
        .with("cpu", (float) cpu.machine())
        .with("process_cpu", (float) cpu.process())
        .with(
            "heap",
            new ConsoleJson()
                .with("used_bytes", heap.totalMemory() - heap.freeMemory())
                .with("max_bytes", heap.maxMemory()))
        .with("pool", pool(state.nereid().poolStatistics()))
        .with("cache", cache(state.nereid().cacheStatistics()))
        .with("connections", state.frontends().connections())
        .with("devices", gpus.readings().stream().map(ServerJson::device).toList())
        .with(
            "resources",
            state.nereid().resourceStatistics().stream().map(ServerJson::resource).toList())
        .with("fetching", store.progress())
        .with("stores", store.status().stream().map(ServerJson::store).toList())
        .with("troubles", troubles.json())
        .with("viewers", viewers);
  }

  private static ConsoleJson pool(PoolStatistics pool) {
    return new ConsoleJson()
        .with("limit_bytes", pool.byteLimit())
        .with("reserved_bytes", pool.reservedBytes())
        .with("live_bytes", pool.liveBytes())
        .with("high_water_bytes", pool.highWaterBytes())
        .with("buffers", pool.liveBuffers())
        .with("failures", pool.failures())
        .with("locked_bytes", pool.lockedBytes());
  }

  private static ConsoleJson cache(CacheStatistics cache) {
    return cache.byteLimit() == 0
        ? null
        : new ConsoleJson()
            .with("limit_bytes", cache.byteLimit())
            .with("bytes", cache.bytes())
            .with("entries", cache.entries())
            .with("hits", cache.hits())
            .with("misses", cache.misses())
            .with("evictions", cache.evictions());
  }

  private static ConsoleJson store(ModelStore.Status store) {
    return new ConsoleJson()
        .with("repository", store.repository())
        .with("reachable", store.reachable())
        .with("fetched_bytes", store.fetchedBytes())
        .with("waiting_bytes", store.waitingBytes())
        .with("faults", store.faultCount())
        .with("waiting", store.waiting());
  }

  private static ConsoleJson device(GpuMetrics.Reading gpu) {
    OptionalDouble utilization = gpu.utilization();
    return new ConsoleJson()
        .with("device", gpu.uuid())
        .with("memory_used_bytes", number(gpu.memoryUsedBytes()))
        .with("memory_total_bytes", number(gpu.memoryTotalBytes()))
        .with("utilization", utilization.isPresent() ? (float) utilization.getAsDouble() : null);
  }

  private static Long number(OptionalLong value) {
    return value.isPresent() ? value.getAsLong() : null;
  }

  private static ConsoleJson resource(ResourceStatistics resource) {
    OptionalInt device = resource.device();
    return new ConsoleJson()
        .with("name", resource.name())
        .with("device", device.isPresent() ? device.getAsInt() : null)
        .with("total", resource.total())
        .with("free", resource.free())
        .with("waiting", resource.waiting());
  }
}

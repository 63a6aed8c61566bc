package io.nereid.server.console;

import io.nereid.server.json.JsonBuffer;
import io.nereid.server.metrics.GpuMetrics;
import io.nereid.server.shared.CpuLoad;
import io.nereid.server.shared.ServerState;
import io.nereid.statistics.CacheStatistics;
import io.nereid.statistics.PoolStatistics;
import io.nereid.statistics.ResourceStatistics;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/** Writes what belongs to the server and to no model. Used by the sampling thread. */
final class ServerJson {

  /** Over shorter times the load of processors says little, and GPUs take a while to tell. */
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

  void write(int viewers, JsonBuffer json) {
    Runtime heap = Runtime.getRuntime();
    json.ascii("{\"state\":\"").ascii(word(state));
    json.ascii("\",\"uptime_s\":").number(ManagementFactory.getRuntimeMXBean().getUptime() / 1000);
    CpuLoad cpu = CpuLoad.measured(AGE_NS);
    json.ascii(",\"cpu\":").number((float) cpu.machine());
    json.ascii(",\"process_cpu\":").number((float) cpu.process());
    json.ascii(",\"heap\":{\"used_bytes\":").number(heap.totalMemory() - heap.freeMemory());
    json.ascii(",\"max_bytes\":").number(heap.maxMemory());
    json.ascii("},\"pool\":");
    pool(state.nereid().poolStatistics(), json);
    json.ascii(",\"cache\":");
    cache(state.nereid().cacheStatistics(), json);
    json.ascii(",\"connections\":{");
    String separator = "";
    for (Map.Entry<String, Long> frontend : state.frontends().connections().entrySet()) {
      json.ascii(separator).string(frontend.getKey()).ascii(":").number(frontend.getValue());
      separator = ",";
    }
    json.ascii("},\"devices\":");
    List<GpuMetrics.Reading> readings = gpus.readings();
    ConsoleJson.array(json, readings, reading -> device(reading, json));
    json.ascii(",\"resources\":");
    ConsoleJson.array(
        json, state.nereid().resourceStatistics(), resource -> resource(resource, json));
    json.ascii(",\"troubles\":");
    troubles.write(json);
    json.ascii(",\"viewers\":").number(viewers).write('}');
  }

  private static void pool(PoolStatistics pool, JsonBuffer json) {
    json.ascii("{\"limit_bytes\":").number(pool.byteLimit());
    json.ascii(",\"reserved_bytes\":").number(pool.reservedBytes());
    json.ascii(",\"live_bytes\":").number(pool.liveBytes());
    json.ascii(",\"high_water_bytes\":").number(pool.highWaterBytes());
    json.ascii(",\"buffers\":").number(pool.liveBuffers());
    json.ascii(",\"failures\":").number(pool.failures());
    json.ascii(",\"locked_bytes\":").number(pool.lockedBytes()).write('}');
  }

  private static void cache(CacheStatistics cache, JsonBuffer json) {
    if (cache.byteLimit() == 0) {
      json.ascii("null");
      return;
    }
    json.ascii("{\"limit_bytes\":").number(cache.byteLimit());
    json.ascii(",\"bytes\":").number(cache.bytes());
    json.ascii(",\"entries\":").number(cache.entries());
    json.ascii(",\"hits\":").number(cache.hits());
    json.ascii(",\"misses\":").number(cache.misses());
    json.ascii(",\"evictions\":").number(cache.evictions()).write('}');
  }

  private static void device(GpuMetrics.Reading gpu, JsonBuffer json) {
    json.ascii("{\"device\":").string(gpu.uuid());
    number(json.ascii(",\"memory_used_bytes\":"), gpu.memoryUsedBytes());
    number(json.ascii(",\"memory_total_bytes\":"), gpu.memoryTotalBytes());
    OptionalDouble utilization = gpu.utilization();
    json.ascii(",\"utilization\":");
    if (utilization.isPresent()) {
      json.number((float) utilization.getAsDouble()).write('}');
    } else {
      json.ascii("null}");
    }
  }

  private static void number(JsonBuffer json, OptionalLong value) {
    if (value.isPresent()) {
      json.number(value.getAsLong());
    } else {
      json.ascii("null");
    }
  }

  private static void resource(ResourceStatistics resource, JsonBuffer json) {
    json.ascii("{\"name\":").string(resource.name()).ascii(",\"device\":");
    if (resource.device().isPresent()) {
      json.number(resource.device().getAsInt());
    } else {
      json.ascii("null");
    }
    json.ascii(",\"total\":").number(resource.total());
    json.ascii(",\"free\":").number(resource.free());
    json.ascii(",\"waiting\":").number(resource.waiting()).write('}');
  }
}

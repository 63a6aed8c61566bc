package io.nereid.server.metrics;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import io.nereid.server.shared.CpuLoad;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** Writes metrics of the JVM, its process and the machine, by their usual names. */
final class ProcessMetrics {

  private static final Path STATUS = Path.of("/proc/self/status");

  private final boolean cpuMetrics;
  private final long intervalNs;
  private final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  ProcessMetrics(boolean cpuMetrics, long intervalNs) {
    this.cpuMetrics = cpuMetrics;
    this.intervalNs = intervalNs;
  }

  synchronized void write(MetricsText text) {
    if (cpuMetrics) {
      machine(text);
    }
    process(text);
    memory(text);
    collections(text);
    text.gauge("jvm_threads_current", "Threads, virtual ones not counted")
        .sample("", ManagementFactory.getThreadMXBean().getThreadCount());
  }

  private void machine(MetricsText text) {
    text.gauge("nv_cpu_utilization", "Utilization of the processors, 0 to 1")
        .sample("", CpuLoad.measured(intervalNs).machine());
    long total = system.getTotalMemorySize();
    text.gauge("nv_cpu_memory_total_bytes", "Memory of the machine or container").sample("", total);
    text.gauge("nv_cpu_memory_used_bytes", "What of it is used")
        .sample("", total - system.getFreeMemorySize());
  }

  private void process(MetricsText text) {
    text.gauge("process_start_time_seconds", "When the process began, since 1970")
        .sample("", ManagementFactory.getRuntimeMXBean().getStartTime() / 1000.0);
    text.counter("process_cpu_seconds_total", "Processor time of the process")
        .sample("", system.getProcessCpuTime() / 1e9);
    OptionalLong resident = residentBytes();
    if (resident.isPresent()) {
      text.gauge("process_resident_memory_bytes", "Memory of the process")
          .sample("", resident.getAsLong());
    }
    if (system instanceof UnixOperatingSystemMXBean unix) {
      text.gauge("process_open_fds", "Open file descriptors")
          .sample("", unix.getOpenFileDescriptorCount());
      text.gauge("process_max_fds", "Most that may be open")
          .sample("", unix.getMaxFileDescriptorCount());
    }
  }

  private static OptionalLong residentBytes() {
    try {
      return Files.readAllLines(STATUS).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
          .findFirst();
    } catch (IOException | NumberFormatException e) {
      return OptionalLong.empty(); // not on this system
    }
  }

  private static void memory(MetricsText text) {
    Map<String, MemoryUsage> areas =
        Map.of(
            MetricsText.label("area", "heap"),
            ManagementFactory.getMemoryMXBean().getHeapMemoryUsage(),
            MetricsText.label("area", "nonheap"),
            ManagementFactory.getMemoryMXBean().getNonHeapMemoryUsage());
    text.gauge("jvm_memory_used_bytes", "Memory of the JVM that is used");
    areas.forEach((area, usage) -> text.sample(area, usage.getUsed()));
    text.gauge("jvm_memory_committed_bytes", "Memory that the JVM has taken");
    areas.forEach((area, usage) -> text.sample(area, usage.getCommitted()));
    text.gauge("jvm_memory_max_bytes", "Most that the JVM may take; -1 for no limit");
    areas.forEach((area, usage) -> text.sample(area, usage.getMax()));
  }

  private static void collections(MetricsText text) {
    List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
    text.summary("jvm_gc_collection_seconds", "Garbage collections and their time");
    for (GarbageCollectorMXBean collector : collectors) {
      text.summarySample(
          MetricsText.label("gc", collector.getName()),
          collector.getCollectionCount(),
          collector.getCollectionTime() / 1000.0);
    }
  }
}

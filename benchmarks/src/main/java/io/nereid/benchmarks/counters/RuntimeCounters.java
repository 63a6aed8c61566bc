package io.nereid.benchmarks.counters;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.model.DynamicBatching;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Counts what requests to the runtime cost the Java heap. */
final class RuntimeCounters {

  private static final int ELEMENTS = 16;
  private static final int THREADS = 8;

  private RuntimeCounters() {}

  static void into(Map<String, Double> counters) throws Exception {
    try (Nereid nereid = Nereid.create()) {
      Model inline = nereid.load(BenchmarkModels.identity(64, ELEMENTS).build());
      counters.put(
          "java.inline.allocated_bytes",
          Allocation.bytes(count -> inferAll(inline, count), 100_000, 20_000));
      Model queued =
          nereid.load(
              BenchmarkModels.identity(64, ELEMENTS)
                  .version(2)
                  .inline(false)
                  .dynamicBatching(DynamicBatching.create())
                  .build());
      counters.put(
          "java.queued.allocated_bytes",
          Allocation.bytes(count -> inferOnThreads(queued, count), 50_000, 20_000));
    }
  }

  private static void inferAll(Model model, int count) {
    for (int i = 0; i < count; i++) {
      try (var request = model.newRequest()) {
        request.allocateInput(BenchmarkModels.INPUT, 1, ELEMENTS);
        request.infer().close();
      }
    }
  }

  private static void inferOnThreads(Model model, int count) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      threads.add(Thread.startVirtualThread(() -> inferAll(model, count / THREADS)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }
}

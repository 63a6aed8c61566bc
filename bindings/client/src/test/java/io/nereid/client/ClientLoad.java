package io.nereid.client;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.nereid.types.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * What a request costs the client: processor time and heap. Not a test; started by hand, beside a
 * server in another process that serves {@code examples/models}:
 *
 * <pre>java ... io.nereid.client.ClientLoad ADDRESS [ELEMENTS [AT ONCE [SECONDS [ROUNDS]]]]</pre>
 */
final class ClientLoad {

  private static final OperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private static final ThreadMXBean THREADS =
      ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

  private ClientLoad() {}

  /** Measures. */
  public static void main(String[] args) throws InterruptedException {
    int elements = number(args, 1, 16);
    int atOnce = number(args, 2, 1);
    int seconds = number(args, 3, 5);
    int rounds = number(args, 4, 3);
    MemorySegment memory = Arena.ofShared().allocate(elements * (long) Float.BYTES, 64);
    InferRequest request =
        InferRequest.builder("identity_fp32")
            .input("INPUT0", Tensor.of(DataType.FP32, memory, 1, elements))
            .build();
    try (InferenceClient client = InferenceClient.connect(args[0])) {
      measure(client, request, atOnce, Math.max(2, seconds)); // warms up
      for (int i = 0; i < rounds; i++) {
        System.out.printf(
            Locale.ROOT,
            "%s, %d FP32, %d at once: %s%n",
            args[0],
            elements,
            atOnce,
            measure(client, request, atOnce, seconds));
      }
    }
  }

  private static int number(String[] args, int index, int otherwise) {
    return index < args.length ? Integer.parseInt(args[index]) : otherwise;
  }

  private static String measure(
      InferenceClient client, InferRequest request, int atOnce, int seconds)
      throws InterruptedException {
    LongAdder done = new LongAdder();
    AtomicReference<RuntimeException> failure = new AtomicReference<>();
    long deadlineNs = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
    long cpuNs = PROCESS.getProcessCpuTime();
    long heapBytes = THREADS.getTotalThreadAllocatedBytes();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < atOnce; i++) {
      threads.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  while (System.nanoTime() < deadlineNs) {
                    client.infer(request).close();
                    done.increment();
                  }
                } catch (RuntimeException e) {
                  failure.set(e);
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw failure.get();
    }
    double count = done.sum();
    return String.format(
        Locale.ROOT,
        "%.0f requests/s, %.1f us CPU, %.0f bytes of heap a request",
        count / seconds,
        (PROCESS.getProcessCpuTime() - cpuNs) / count / 1000,
        (THREADS.getTotalThreadAllocatedBytes() - heapBytes) / count);
  }
}

package io.nereid.server.http;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** Loads a server with clients, each on a thread of its own, and keeps what they find wrong. */
abstract class Soak {

  private static final int MOST_TOLD = 10;

  final LongAdder answered = new LongAdder();
  final LongAdder reloads = new LongAdder();
  private final List<Thread> threads = new ArrayList<>();
  private final List<String> faults = new ArrayList<>();
  private final long startNs = System.nanoTime();

  /** The end of a soak: the figures, and what is wrong with them. */
  record Verdict(String figures, List<String> faults) {

    /** Prints it, and ends the process. */
    void exit() {
      System.out.println(figures);
      faults.forEach(fault -> System.out.println("FAULT: " + fault));
      System.out.println(faults.isEmpty() ? "Passed" : "Failed");
      System.exit(faults.isEmpty() ? 0 : 1);
    }
  }

  /** Has a client converse as long as {@code goesOn} says. */
  final void start(String name, SoakClient client, BooleanSupplier goesOn) {
    threads.add(
        Thread.ofVirtual()
            .name(name)
            .start(() -> {
              while (goesOn.getAsBoolean()) {
                try {
                  client.converse();
                } catch (Exception | AssertionError e) {
                  fault(name + place(client, e) + ": " + e);
                }
              }
            }));
  }

  /** The line of the client's own code that failed. */
  private static String place(SoakClient client, Throwable failure) {
    return Stream.of(failure.getStackTrace())
        .filter(frame -> frame.getClassName().equals(client.getClass().getName()))
        .findFirst()
        .map(frame -> " at " + frame.getMethodName() + ":" + frame.getLineNumber())
        .orElse("");
  }

  /** Waits for the end of all clients. */
  final void join() throws InterruptedException {
    for (Thread thread : threads) {
      thread.join();
    }
  }

  final synchronized void fault(String what) {
    if (faults.size() < MOST_TOLD) {
      faults.add(Duration.ofNanos(System.nanoTime() - startNs).toSeconds() + " s: " + what);
    }
  }

  final synchronized List<String> faults() {
    return List.copyOf(faults);
  }
}

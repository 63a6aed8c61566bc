package io.nereid.stores;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs tasks that wait for the network, on virtual threads. */
final class Parallel {

  /** The task for a number. */
  interface Task {
    void run(int number) throws IOException;
  }

  /** The most tasks of one caller at the same time: others need connections, too. */
  private static final int MAX_TASKS = 8;

  private Parallel() {}

  /** Runs a task for each number below a count, and throws what went wrong first. */
  static void each(int count, Task task) throws IOException {
    if (count == 1) {
      task.run(0);
      return;
    }
    var threads = Thread.ofVirtual().name("nrd-store-", 0).factory();
    int most = Math.min(Math.max(1, count), MAX_TASKS);
    try (var executor = Executors.newFixedThreadPool(most, threads)) {
      List<Future<?>> tasks = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int number = i;
        tasks.add(
            executor.submit(() -> {
              task.run(number);
              return null;
            }));
      }
      try {
        for (Future<?> one : tasks) {
          await(one);
        }
      } catch (IOException e) {
        executor.shutdownNow();
        throw e;
      }
    }
  }

  /** Waits for a task, and throws what went wrong in it. */
  static <T> T await(Future<T> task) throws IOException {
    try {
      return task.get();
    } catch (InterruptedException | ExecutionException e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      throw e.getCause() instanceof IOException cause ? cause : new IOException("stopped", e);
    }
  }
}

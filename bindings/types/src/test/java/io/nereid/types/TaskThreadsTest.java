package io.nereid.types;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

class TaskThreadsTest {

  /** The first task waits for the second one, which so needs a thread of its own. */
  @Test
  void eachTaskHasItsOwnThread() throws Exception {
    Executor executor = TaskThreads.executor("a-task");
    CompletableFuture<Thread> second = new CompletableFuture<>();
    CompletableFuture<Thread> first = CompletableFuture.supplyAsync(second::join, executor);
    executor.execute(() -> second.complete(Thread.currentThread()));
    Thread thread = first.join();
    assertTrue(thread.isDaemon());
    assertEquals("a-task", thread.getName());
    if (Runtime.version().feature() >= 21) {
      assertEquals(true, Thread.class.getMethod("isVirtual").invoke(thread));
    }
  }
}

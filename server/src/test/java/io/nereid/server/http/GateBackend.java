package io.nereid.server.http;

import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.ModelContext;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Copies IN to OUT, one batch for each permit: tests decide when something executes. */
public final class GateBackend implements Backend {

  private final Semaphore entered = new Semaphore(0);
  private final Semaphore permits = new Semaphore(0);

  /** Whether a request was seen as cancelled while its batch was at the gate. */
  volatile boolean sawCancel;

  @Override
  public BackendInstance open(ModelContext context) {
    return this::execute;
  }

  private void execute(Batch batch) throws Exception {
    entered.release();
    long end = System.nanoTime() + TestServer.PATIENCE.toNanos();
    while (!permits.tryAcquire(1, TimeUnit.MILLISECONDS)) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException("nobody opened the gate");
      }
      for (int i = 0; i < batch.requestCount(); i++) {
        sawCancel |= batch.request(i).isCancelled();
      }
    }
    batch.output("OUT", batch.input("IN"));
  }

  /** Waits until a batch is at the gate. */
  public void awaitBatch() throws InterruptedException {
    if (!entered.tryAcquire(TestServer.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("no batch came");
    }
  }

  /** Lets batches through. */
  public void open(int batches) {
    permits.release(batches);
  }

  /** Lets none through from now on, and forgets those that have come. */
  public void close() {
    permits.drainPermits();
    entered.drainPermits();
  }
}

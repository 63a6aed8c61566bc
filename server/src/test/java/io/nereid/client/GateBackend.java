package io.nereid.client;

import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.ModelContext;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Copies IN to OUT, one batch for each permit: tests decide when something executes. */
final class GateBackend implements Backend {

  static final long PATIENCE_SECONDS = 60;

  private final Semaphore entered = new Semaphore(0);
  private final Semaphore permits = new Semaphore(0);

  /** Whether a request was seen as cancelled when its batch was let through. */
  volatile boolean sawCancel;

  @Override
  public BackendInstance open(ModelContext context) {
    return this::execute;
  }

  private void execute(Batch batch) throws Exception {
    entered.release();
    if (!permits.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("nobody opened the gate");
    }
    for (int i = 0; i < batch.requestCount(); i++) {
      sawCancel |= batch.request(i).isCancelled();
    }
    batch.output("OUT", batch.input("IN"));
  }

  /** Waits until a batch is at the gate. */
  void awaitBatch() throws InterruptedException {
    if (!entered.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new AssertionError("no batch came");
    }
  }

  /** Lets batches through. */
  void open(int batches) {
    permits.release(batches);
  }
}

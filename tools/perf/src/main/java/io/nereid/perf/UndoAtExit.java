package io.nereid.perf;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * Undoes something once: when it is closed, or when the process ends before that, as by a signal.
 * Any thread may call.
 */
public final class UndoAtExit implements AutoCloseable {

  private final Thread hook;

  @GuardedBy("this")
  private Runnable task; // null: it has run

  /** For a task that throws nothing. */
  public UndoAtExit(Runnable task) {
    this.task = task;
    hook = new Thread(this::run, "nrd-undo");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private synchronized void run() {
    if (task != null) {
      task.run();
      task = null;
    }
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The process ends: the hook runs it, or this does.
    }
    run();
  }
}

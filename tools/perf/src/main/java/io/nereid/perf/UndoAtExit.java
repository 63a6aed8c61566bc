package io.nereid.perf;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * Undoes something once: when it is closed, or when the process ends before that, as by a signal.
 * Any thread may call.
 */
public final class UndoAtExit implements AutoCloseable {

  private final Thread hook;

  @GuardedBy("this")
  private Runnable task; // null: it has run, or is too late

  /** For a task that throws nothing, and may run before there is something to undo. */
  public UndoAtExit(Runnable task) {
    this.task = task;
    hook = new Thread(this::run, "nrd-undo");
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException e) {
      this.task = null; // the process ends
    }
  }

  /** Does what is to be undone. An end of the process waits for it. */
  public interface Action<E extends Exception> {
    /** Does it. */
    void run() throws E;
  }

  /** Does what the task undoes; false: it was not done, since the process ends. */
  public synchronized <E extends Exception> boolean attempt(Action<E> action) throws E {
    if (task == null) {
      return false;
    }
    action.run();
    return true;
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

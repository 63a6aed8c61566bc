package io.nereid.cli;

import io.nereid.server.NereidServer;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.CountDownLatch;

/**
 * Handles SIGTERM, and SIGINT as Ctrl-C sends it, while it is open: they stop the server, if it has
 * started, and end the process with 0; by default the JVM would end with 128 plus the signal's
 * number. The signal runs on its own thread, {@code nrd-stop}; the main thread waits.
 */
final class StopSignal implements AutoCloseable {

  private final PrintWriter out;
  private final PrintWriter err;
  private final Thread hook = new Thread(this::stopAndHalt, "nrd-stop");
  private volatile NereidServer server;

  StopSignal(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
    Runtime.getRuntime().addShutdownHook(hook);
    InterruptSignal.accept();
  }

  /** Sets the server, which the signal stops, before it takes a request. */
  void started(NereidServer running) {
    server = running;
  }

  /** Waits for the signal, which ends the process from its own thread. */
  void await() throws InterruptedException {
    new CountDownLatch(1).await();
  }

  private void stopAndHalt() {
    int exitCode = 1;
    try {
      NereidServer running = server;
      if (running == null) {
        // Halts at once: no request was answered, and loading may take long.
        out.println("Stopped before it was ready");
      } else {
        out.println("Stopping: requests that have begun are finished first");
        boolean finished = running.stop(); // also ends the threads for logs and traces
        out.println(finished ? "Stopped" : "Stopped; not all requests were finished");
      }
      exitCode = 0;
    } catch (RuntimeException e) {
      err.println("nereid: " + e.getMessage());
    } finally {
      out.flush();
      err.flush();
      Runtime.getRuntime().halt(exitCode);
    }
  }

  /** Stops handling signals; if one came before, waits for the end of the process. */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      awaitEnd();
    }
  }

  private void awaitEnd() {
    boolean ended = false;
    while (!ended) {
      try {
        hook.join(); // the hook halts the process
        ended = true;
      } catch (InterruptedException e) {
        // Nothing else can be done.
      }
    }
  }

  /**
   * Accepts SIGINT in a process that was started with it ignored, as shells start background
   * commands of scripts. The JVM leaves an ignored signal ignored although it has a handler, so
   * that a SIGINT to this process would have no effect.
   */
  private static final class InterruptSignal {

    private static final int SIGINT = 2;
    private static final int SIGTERM = 15;

    /** SIG_IGN, in place of a handler's address at the start of {@code sigaction}. */
    private static final long IGNORED = 1;

    /** More than the structure has in any C library. */
    private static final int ACTION_BYTES = 512;

    private InterruptSignal() {}

    /** Makes an ignored SIGINT act like SIGTERM. */
    @SuppressWarnings("restricted") // sigaction only accesses the memory of its arguments
    static void accept() {
      MethodHandle sigaction =
          Linker.nativeLinker()
              .downcallHandle(
                  Linker.nativeLinker().defaultLookup().findOrThrow("sigaction"),
                  FunctionDescriptor.of(
                      ValueLayout.JAVA_INT,
                      ValueLayout.JAVA_INT,
                      ValueLayout.ADDRESS,
                      ValueLayout.ADDRESS));
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment action = arena.allocate(ACTION_BYTES, Long.BYTES);
        int failed = (int) sigaction.invokeExact(SIGINT, MemorySegment.NULL, action);
        if (failed == 0 && action.get(ValueLayout.JAVA_LONG, 0) == IGNORED) {
          failed = (int) sigaction.invokeExact(SIGTERM, MemorySegment.NULL, action);
          if (failed == 0) {
            failed = (int) sigaction.invokeExact(SIGINT, action, MemorySegment.NULL);
          }
        }
      } catch (Throwable e) {
        throw new IllegalStateException("sigaction cannot be called", e);
      }
    }
  }
}

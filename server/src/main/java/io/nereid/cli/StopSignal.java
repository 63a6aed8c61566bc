package io.nereid.cli;

import io.nereid.server.NereidServer;
import java.io.PrintWriter;
import java.util.concurrent.CountDownLatch;

/**
 * SIGTERM, and SIGINT as Ctrl-C sends it, while this is open: they stop the server, if there is one
 * by then, and end the process with 0. By itself the JVM would end with 128 plus the signal's
 * number.
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

  /** From now on there is a server to be stopped. */
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
        // No model has answered anything: nothing is lost, and loading may take long.
        out.println("Stopped before it was ready");
      } else {
        out.println("Stopping: requests that have begun are finished first");
        boolean finished = running.stop(); // also ends what writes logs and traces
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

  /** From now on the process ends by other means; waits where the signal came before that. */
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
        hook.join(); // it halts the process
        ended = true;
      } catch (InterruptedException e) {
        // There is nothing else to do.
      }
    }
  }
}

package io.nereid.cli;

import io.nereid.perf.UndoAtExit;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Shows changing lines on a terminal and reads keys; without a terminal the lines follow each
 * other. For one thread; the terminal is restored even if a signal ends the process.
 */
final class LiveScreen implements AutoCloseable {

  private static final String ENTER = "\033[?1049h\033[?25l"; // another screen, without a cursor
  private static final String LEAVE = "\033[?25h\033[?1049l";
  private static final String BEGIN = "\033[H";
  private static final String CLEAR_LINE = "\033[K";
  private static final String CLEAR_REST = "\033[J";

  /** The time for which a size is reused, since asking for it starts a process. */
  private static final long SIZE_NS = TimeUnit.SECONDS.toNanos(1);

  /** The rows of a terminal of unknown size. */
  private static final int USUAL_ROWS = 24;

  private final PrintWriter out;
  private boolean live;
  private UndoAtExit restore; // set before the terminal is changed
  private boolean first = true;
  private int rows; // 0: not asked yet
  private long rowsNs;

  private LiveScreen(PrintWriter out) {
    this.out = out;
  }

  /** Opens the screen on the process's terminal, if it can read single keys. */
  static LiveScreen open(PrintWriter out) {
    LiveScreen screen = new LiveScreen(out);
    if (System.console() != null && System.console().isTerminal()) {
      screen.restore = new UndoAtExit(screen::leave);
      screen.restore.attempt(screen::enter);
    }
    return screen;
  }

  /** Changes the terminal; a signal meanwhile restores it after that. */
  private void enter() {
    // With these settings, a read returns with a key, or empty after half a second.
    live = isDone("-icanon", "-echo", "min", "0", "time", "5");
    if (live) {
      out.print(ENTER);
      out.flush();
    }
  }

  static LiveScreen none(PrintWriter out) {
    return new LiveScreen(out);
  }

  /** True on a terminal, whose lines may have colours. */
  boolean isLive() {
    return live;
  }

  void show(List<String> lines) {
    if (!live) {
      if (!first && lines.size() > 1) {
        out.println();
      }
      first = false;
      lines.forEach(out::println);
      out.flush();
      return;
    }
    StringBuilder screen = new StringBuilder(BEGIN);
    for (String line : lines.subList(0, Math.min(lines.size(), rows() - 1))) {
      screen.append(line).append(CLEAR_LINE).append('\n');
    }
    out.print(screen.append(CLEAR_REST));
    out.flush();
  }

  /** Returns a key; -1: none came in the time, or none can come. */
  int readKey(long mostNs) throws IOException, InterruptedException {
    if (live) {
      return System.in.read();
    }
    TimeUnit.NANOSECONDS.sleep(mostNs);
    return -1;
  }

  private int rows() {
    long nowNs = System.nanoTime();
    if (rows == 0 || nowNs - rowsNs > SIZE_NS) {
      rows = askedRows();
      rowsNs = nowNs;
    }
    return rows;
  }

  private static int askedRows() {
    try {
      Process stty = stty(ProcessBuilder.Redirect.PIPE, "size");
      String size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      int rows = Integer.parseInt(size.strip().split(" ")[0]);
      return rows < 2 ? USUAL_ROWS : rows;
    } catch (IOException | NumberFormatException e) {
      return USUAL_ROWS;
    }
  }

  private static boolean isDone(String... settings) {
    try {
      return stty(ProcessBuilder.Redirect.DISCARD, settings).waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static Process stty(ProcessBuilder.Redirect output, String... settings)
      throws IOException {
    List<String> command = new ArrayList<>(List.of("stty"));
    command.addAll(List.of(settings));
    return new ProcessBuilder(command)
        .redirectInput(ProcessBuilder.Redirect.INHERIT)
        .redirectOutput(output)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private void leave() {
    if (live) {
      out.print(LEAVE);
      out.flush();
      isDone("sane");
    }
  }

  @Override
  public void close() {
    if (restore != null) {
      restore.close();
    }
  }
}

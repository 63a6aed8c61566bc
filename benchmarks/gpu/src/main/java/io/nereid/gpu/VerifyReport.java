package io.nereid.gpu;

import io.nereid.perf.report.Json;
import io.nereid.tensorrt.Gpu;
import io.nereid.tensorrt.TensorRtLibrary;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Prints all rows as they come and keeps them in a file of JSON, which is written anew with each: a
 * machine that is taken away in the middle leaves what was seen.
 */
final class VerifyReport {

  private static final String LINE = "%-4s  %-14s %-42s %-40s %s%n";

  private final PrintWriter out;
  private final Optional<Path> json;
  private final Map<String, Object> machine = new LinkedHashMap<>();
  private final List<Row> rows = new ArrayList<>();
  private String check = "";
  private boolean rehearsal;
  private long sinceNs = System.nanoTime();

  VerifyReport(PrintWriter out, Optional<Path> json) {
    this.out = out;
    this.json = json;
  }

  /** A fact about the machine, for the head of the JSON. */
  synchronized void machine(String key, Object value) {
    machine.put(key, value);
  }

  /** Says that there is no GPU: what is measured is the processor that stands in for one. */
  synchronized void rehearse() {
    rehearsal = true;
    machine("rehearsal", "no GPU was used");
    out.println("REHEARSAL: no GPU is used, this machine's processor stands in for one");
  }

  /** Says what the suite runs on. */
  void describeMachine() {
    TensorRtLibrary library = TensorRtLibrary.load();
    begin("machine");
    if (Workbench.isRehearsal()) {
      rehearse();
    }
    for (Gpu device : library.cuda().devices()) {
      String text =
          "%s, compute capability %s, %s MiB"
              .formatted(device.name(), device.computeCapability(), device.memoryBytes() >> 20);
      machine("gpu_" + device.number(), text);
      info("GPU " + device.number(), text);
    }
    machine("driver_cuda", library.cuda().driverVersion());
    machine("tensorrt", library.version().toString());
    machine("java", Runtime.version().toString());
    machine("processors", Runtime.getRuntime().availableProcessors());
    machine("kernel", System.getProperty("os.version"));
    info("driver's CUDA", library.cuda().driverVersion());
    info("TensorRT", library.version() + " from " + library.location());
    info("CUDA runtime", "from " + library.cuda().location());
  }

  /** The rows that follow belong to this check. */
  synchronized void begin(String name) {
    check = name;
    sinceNs = System.nanoTime();
  }

  void info(String what, String measured) {
    add(what, Outcome.INFO, measured, "");
  }

  void skip(String what, String reason) {
    add(what, Outcome.SKIP, reason, "");
  }

  void fail(String what, String measured, String expected) {
    add(what, Outcome.FAIL, measured, expected);
  }

  /** A row that passes if the condition holds. */
  void verify(String what, boolean holds, String measured, String expected) {
    add(what, holds ? Outcome.PASS : Outcome.FAIL, measured, expected);
  }

  /** The same for a bar that only a GPU can be held to: without one the row is only told. */
  void verifySpeed(String what, boolean holds, String measured, String expected) {
    if (rehearsal) {
      info(what, measured + "; no GPU, so it is not held to: " + expected);
    } else {
      verify(what, holds, measured, expected);
    }
  }

  private synchronized void add(String what, Outcome outcome, String measured, String expected) {
    long nowNs = System.nanoTime();
    Row row = new Row(check, what, outcome, measured, expected, (nowNs - sinceNs) / 1e9);
    sinceNs = nowNs;
    if (rows.isEmpty()) {
      out.printf(Locale.ROOT, LINE, "", "CHECK", "WHAT", "MEASURED", "EXPECTED");
    }
    rows.add(row);
    out.printf(Locale.ROOT, LINE, outcome, check, what, measured, expected);
    out.flush();
    try {
      write();
    } catch (IOException e) {
      out.println("The results could not be written to " + json.orElseThrow() + ": " + e);
    }
  }

  synchronized long count(Outcome outcome) {
    return rows.stream().filter(row -> row.outcome() == outcome).count();
  }

  synchronized List<Row> rows() {
    return List.copyOf(rows);
  }

  /** The last line. */
  synchronized void close() {
    out.printf(
        Locale.ROOT,
        "%d passed, %d failed, %d skipped%s%n",
        count(Outcome.PASS),
        count(Outcome.FAIL),
        count(Outcome.SKIP),
        rehearsal ? ", in a rehearsal: no GPU was used" : "");
    json.ifPresent(file -> out.println("Results: " + file));
    out.flush();
  }

  private void write() throws IOException {
    if (json.isEmpty()) {
      return;
    }
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("machine", machine);
    List<Object> list = new ArrayList<>();
    for (Row row : rows) {
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("check", row.check());
      entry.put("what", row.what());
      entry.put("outcome", row.outcome().name());
      entry.put("measured", row.measured());
      entry.put("expected", row.expected());
      entry.put("seconds", Math.round(row.seconds() * 1000) / 1e3);
      list.add(entry);
    }
    all.put("rows", list);
    Files.writeString(json.get(), Json.text(all));
  }

  /** The results that a row may have. */
  enum Outcome {
    PASS,
    FAIL,
    /** It could not be looked at here, and {@code measured} says why. */
    SKIP,
    /** A number without a bar. */
    INFO
  }

  /**
   * A line of the report.
   *
   * @param check the check that it belongs to
   * @param what what was looked at
   * @param outcome how it went
   * @param measured what was seen, with numbers and units
   * @param expected what would have been right; empty where a number is only told
   * @param seconds since the check began, or since its last row
   */
  record Row(
      String check,
      String what,
      Outcome outcome,
      String measured,
      String expected,
      double seconds) {}
}

package io.nereid.gpu;

import io.nereid.gpu.Row.Outcome;
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
import tools.jackson.jr.ob.JSON;

/**
 * All rows, printed as they come and kept in a file of JSON that is written anew with each: a
 * machine that is taken away in the middle leaves what was seen.
 */
final class Report {

  private static final String LINE = "%-4s  %-14s %-42s %-40s %s%n";

  private final PrintWriter out;
  private final Optional<Path> json;
  private final Map<String, Object> machine = new LinkedHashMap<>();
  private final List<Row> rows = new ArrayList<>();
  private String check = "";
  private boolean rehearsal;
  private long sinceNs = System.nanoTime();

  Report(PrintWriter out, Optional<Path> json) {
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
    Files.writeString(
        json.get(), JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(all) + "\n");
  }
}

package io.nereid.server.console;

import io.nereid.perf.LoadTest;
import io.nereid.perf.ModelInfo;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.shared.Frontends;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Load tests that pages start: one at a time, on a thread of its own, over the server's own port
 * like anybody's requests. Any thread may start, stop and watch them.
 */
final class LoadTests {

  private static final long TICK_NS = TimeUnit.SECONDS.toNanos(1);
  private static final int KEPT_RESULTS = 10;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // ---- Guarded by the lock ---------------------------------------------------------------------

  private final Deque<Test> results = new ArrayDeque<>(); // the newest first
  private Test current; // null: none runs
  private long count;
  private long changes = 1;
  private boolean closed;

  /** One test; its thread fills it in with the lock. */
  private static final class Test {
    private final String id;
    private final LoadPlan plan;
    private final long startMs = System.currentTimeMillis();
    private final List<Second> seconds = new ArrayList<>();
    private LoadTest.Figures total; // null: nothing was sent yet
    private long elapsedMs;
    private boolean stopping;
    private String outcome; // null: it runs
    private String error;

    Test(String id, LoadPlan plan) {
      this.id = id;
      this.plan = plan;
    }
  }

  private record Second(long atMs, double perSecond, LoadTest.Figures figures) {}

  /**
   * Begins a test.
   *
   * @param model what it sends requests to
   * @param server where this server listens
   * @param headers what the caller may ask with
   * @return which one it is
   */
  String start(
      LoadPlan plan, ModelInfo model, Frontends.Place server, Map<String, String> headers) {
    String url =
        plan.protocol + (server.certificate().isPresent() ? "s://" : "://") + server.local();
    LoadTest.Plan wanted =
        new LoadTest.Plan(
            url,
            server.certificate(),
            headers,
            model,
            plan.version,
            "random",
            plan.batchSize,
            plan.concurrency,
            plan.ratePerSecond,
            plan.poisson,
            LoadPlan.MOST_CONCURRENCY);
    lock.lock();
    try {
      if (closed) {
        throw new NereidException(StatusCode.UNAVAILABLE, "Server is stopping");
      }
      if (current != null) {
        throw new NereidException(
            StatusCode.FAILED_PRECONDITION,
            "expected no load test to run, got test " + current.id + " that does");
      }
      Test test = new Test(Long.toString(++count), plan);
      current = test;
      changes++;
      changed.signalAll();
      Thread.ofPlatform().daemon().name("nrd-console-load").start(() -> run(test, wanted));
      return test.id;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the test that runs, if one does. */
  void stop() {
    lock.lock();
    try {
      if (current != null) {
        current.stopping = true;
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the test that runs, and begins none: the server stops. */
  void close() {
    lock.lock();
    closed = true;
    lock.unlock();
    stop();
  }

  /** The number of changes so far. */
  long changes() {
    lock.lock();
    try {
      return changes;
    } finally {
      lock.unlock();
    }
  }

  // ---- The test's thread -----------------------------------------------------------------------

  private void run(Test test, LoadTest.Plan wanted) {
    String outcome = "failed";
    String error = null;
    try (LoadTest load = LoadTest.start(wanted)) {
      outcome = watch(test, load);
      error = load.firstError().orElse(null);
    } catch (IOException | RuntimeException e) {
      error = String.valueOf(e.getMessage());
    }
    lock.lock();
    try {
      test.outcome = outcome;
      test.error = error;
      current = null;
      results.addFirst(test);
      if (results.size() > KEPT_RESULTS) {
        results.removeLast();
      }
      changes++;
    } finally {
      lock.unlock();
    }
  }

  /** Looks at the test once a second, until it is over. */
  private String watch(Test test, LoadTest load) {
    long startNs = System.nanoTime();
    long lastNs = startNs;
    long endNs = startNs + TimeUnit.SECONDS.toNanos(test.plan.seconds);
    while (true) {
      boolean stopped = await(test, Math.min(lastNs + TICK_NS, endNs));
      LoadTest.Figures figures = load.next();
      LoadTest.Figures total = load.total();
      long nowNs = System.nanoTime();
      lock.lock();
      try {
        test.elapsedMs = TimeUnit.NANOSECONDS.toMillis(nowNs - startNs);
        test.total = total;
        double perSecond = figures.requests() / ((nowNs - lastNs) / 1e9);
        test.seconds.add(new Second(test.elapsedMs, perSecond, figures));
        changes++;
      } finally {
        lock.unlock();
      }
      lastNs = nowNs;
      if (stopped || nowNs - endNs >= 0) {
        return stopped ? "stopped" : "finished";
      }
    }
  }

  private boolean await(Test test, long untilNs) {
    lock.lock();
    try {
      while (!test.stopping && untilNs - System.nanoTime() > 0) {
        changed.awaitNanos(untilNs - System.nanoTime());
      }
      return test.stopping;
    } catch (InterruptedException e) {
      return true; // nobody else has this thread
    } finally {
      lock.unlock();
    }
  }

  // ---- What is told ----------------------------------------------------------------------------

  void write(JsonBuffer json) {
    lock.lock();
    try {
      String state = current == null ? "idle" : current.total == null ? "starting" : "running";
      json.ascii("{\"seq\":").number(changes);
      json.ascii(",\"state\":\"").ascii(state).ascii("\",\"current\":");
      if (current == null) {
        json.ascii("null");
      } else {
        write(current, json);
      }
      json.ascii(",\"results\":");
      ConsoleJson.array(json, List.copyOf(results), result -> write(result, json));
      json.write('}');
    } finally {
      lock.unlock();
    }
  }

  private static void write(Test test, JsonBuffer json) {
    LoadPlan plan = test.plan;
    boolean closedLoop = plan.concurrency > 0;
    json.ascii("{\"id\":\"").ascii(test.id);
    json.ascii("\",\"model\":").string(plan.model);
    json.ascii(",\"version\":").string(plan.version);
    json.ascii(",\"protocol\":\"").ascii(plan.protocol);
    json.ascii("\",\"loop\":\"").ascii(closedLoop ? "closed" : "open");
    ConsoleJson.decimal(
        json.ascii("\",\"concurrency\":"), closedLoop ? plan.concurrency : Double.NaN);
    ConsoleJson.decimal(
        json.ascii(",\"rate_per_s\":"), closedLoop ? Double.NaN : plan.ratePerSecond);
    ConsoleJson.bool(json.ascii(",\"poisson\":"), plan.poisson);
    json.ascii(",\"batch_size\":").number(plan.batchSize);
    json.ascii(",\"duration_s\":").number(plan.seconds);
    json.ascii(",\"elapsed_ms\":").number(test.elapsedMs);
    json.ascii(",\"start_ms\":").number(test.startMs);
    ConsoleJson.text(json.ascii(",\"outcome\":"), test.outcome);
    ConsoleJson.text(json.ascii(",\"error\":"), test.error);
    LoadTest.Figures total = test.total;
    boolean any = total != null && total.requests() > 0;
    json.ascii(",\"requests\":").number(total == null ? 0 : total.requests());
    json.ascii(",\"errors\":").number(total == null ? 0 : total.errors());
    double perSecond = total == null ? 0 : total.requests() * 1e3 / Math.max(1, test.elapsedMs);
    OverviewJson.rate("requests", perSecond, json);
    ConsoleJson.decimal(json.ascii(",\"mean_us\":"), any ? total.meanUs() : Double.NaN);
    ConsoleJson.decimal(json.ascii(",\"p50_us\":"), any ? total.p50Us() : Double.NaN);
    ConsoleJson.decimal(json.ascii(",\"p90_us\":"), any ? total.p90Us() : Double.NaN);
    ConsoleJson.decimal(json.ascii(",\"p95_us\":"), any ? total.p95Us() : Double.NaN);
    ConsoleJson.decimal(json.ascii(",\"p99_us\":"), any ? total.p99Us() : Double.NaN);
    ConsoleJson.decimal(json.ascii(",\"max_us\":"), any ? total.maxUs() : Double.NaN);
    json.ascii(",\"seconds\":");
    ConsoleJson.array(json, test.seconds, second -> write(second, json));
    json.write('}');
  }

  private static void write(Second second, JsonBuffer json) {
    boolean any = second.figures.requests() > 0;
    json.ascii("{\"at_ms\":").number(second.atMs);
    OverviewJson.rate("requests", second.perSecond, json);
    ConsoleJson.decimal(json.ascii(",\"p50_us\":"), any ? second.figures.p50Us() : Double.NaN);
    ConsoleJson.decimal(json.ascii(",\"p99_us\":"), any ? second.figures.p99Us() : Double.NaN);
    json.ascii(",\"errors\":").number(second.figures.errors()).write('}');
  }
}

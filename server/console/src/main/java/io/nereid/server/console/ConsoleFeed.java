package io.nereid.server.console;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.Model;
import io.nereid.model.ModelIndexEntry;
import io.nereid.server.shared.ServerState;
import io.nereid.types.NereidException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/**
 * Samples the models once a second while the console is open in a browser, and gives the snapshots
 * to all pages. Otherwise there is no thread and nothing is kept. Any thread may open a view and
 * wait for snapshots.
 */
final class ConsoleFeed {

  private static final Logger LOGGER = System.getLogger(ConsoleFeed.class.getName());

  private static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);

  /**
   * The samples after the last view was closed, so that a reader who changes pages finds the kept
   * figures.
   */
  private static final int LINGERING_LOOKS = 5;

  /** The number of samples for each search of the disk for models that were never loaded. */
  private static final int LOOKS_PER_INDEX = 5;

  private final ServerState state;
  private final RecentTroubles troubles;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  @GuardedBy("lock")
  private int viewers;

  @GuardedBy("lock")
  private boolean closed;

  @GuardedBy("lock")
  private Thread thread; // null: there are no views

  @GuardedBy("lock")
  private Snapshot latest; // null: none yet

  // ---- Used by the sampling thread alone -------------------------------------------------------

  private Map<Model, ModelSeries> series = new HashMap<>();
  private List<String> unloaded = List.of();
  private ServerJson server;

  ConsoleFeed(ServerState state, RecentTroubles troubles) {
    this.state = state;
    this.troubles = troubles;
  }

  /** Opens a view; sampling goes on until it is closed. */
  View open() {
    lock.lock();
    try {
      viewers++;
      if (thread == null && !closed) {
        state.tracing().watch(true);
        thread = Thread.ofPlatform().daemon().name("nrd-console").start(this::run);
      }
      return new View();
    } finally {
      lock.unlock();
    }
  }

  /** Ends all views when the server stops. */
  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The view of one page. Its owner waits for snapshots; any thread may wake it. */
  final class View implements AutoCloseable {

    @GuardedBy("lock")
    private boolean woken;

    /**
     * Waits for a newer snapshot than the last one; returns the same again if there is none for a
     * while.
     *
     * @param seen the number of the last one; 0: none
     * @return null: the view has ended, because the server stops or the view was woken
     */
    Snapshot next(long seen) throws InterruptedException {
      long leftNs = 2 * INTERVAL_NS;
      lock.lock();
      try {
        while (!closed && !woken && (latest == null || (latest.seq() <= seen && leftNs > 0))) {
          leftNs = changed.awaitNanos(Math.max(leftNs, 1));
        }
        return closed || woken ? null : latest;
      } finally {
        lock.unlock();
      }
    }

    /** Makes the waiting thread give up. */
    void wake() {
      lock.lock();
      try {
        woken = true;
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void close() {
      lock.lock();
      try {
        viewers--;
      } finally {
        lock.unlock();
      }
    }
  }

  // ---- The sampling thread ---------------------------------------------------------------------

  private void run() {
    int idle = 0;
    long nextNs = System.nanoTime();
    for (long looks = 0; ; looks++) {
      try {
        look(looks);
      } catch (RuntimeException | Error e) { // the next sample may succeed
        LOGGER.log(Level.WARNING, "the console could not look at the models", e);
      }
      nextNs = Math.max(nextNs + INTERVAL_NS, System.nanoTime());
      lock.lock();
      try {
        while (!closed && nextNs - System.nanoTime() > 0) {
          changed.awaitNanos(nextNs - System.nanoTime());
        }
        idle = viewers == 0 ? idle + 1 : 0;
        if (closed || idle > LINGERING_LOOKS) {
          thread = null;
          latest = null;
          series = new HashMap<>();
          state.tracing().watch(false);
          return;
        }
      } catch (InterruptedException e) {
        // No other code can interrupt this thread.
      } finally {
        lock.unlock();
      }
    }
  }

  private void look(long looks) {
    if (server == null) {
      server = new ServerJson(state, troubles);
    }
    long nowNs = System.nanoTime();
    List<Model> models = state.nereid().models();
    long cacheBytes = state.nereid().options().cacheByteLimit();
    List<ModelFigures> figures = new ArrayList<>();
    for (Model model : models) {
      ModelSeries its = series.computeIfAbsent(model, key -> new ModelSeries());
      figures.add(its.look(model, state.shadows().verdict(model), cacheBytes, nowNs));
    }
    series.keySet().retainAll(Set.copyOf(models));
    if (looks % LOOKS_PER_INDEX == 0) {
      unloaded = unloaded();
    }
    Set<String> known = models.stream().map(Model::name).collect(Collectors.toSet());
    unloaded.stream()
        .filter(name -> !known.contains(name))
        .forEach(name -> figures.add(ModelFigures.unknown(name)));
    publish(figures);
  }

  private List<String> unloaded() {
    try {
      return state.nereid().repository().index().stream()
          .filter(entry -> entry.state() == ModelIndexEntry.State.UNKNOWN)
          .map(ModelIndexEntry::name)
          .collect(
              Collectors.collectingAndThen(Collectors.toCollection(TreeSet::new), List::copyOf));
    } catch (NereidException e) {
      return List.of(); // the repository cannot be read now, as the log says
    }
  }

  private void publish(List<ModelFigures> figures) {
    int looking;
    Snapshot before;
    lock.lock();
    try {
      looking = viewers;
      before = latest;
    } finally {
      lock.unlock();
    }
    long nowMs = System.currentTimeMillis();
    long intervalMs = before == null ? 0 : nowMs - before.timeMs();
    Snapshot snapshot = new Snapshot(before, nowMs, intervalMs, server.json(looking), figures);
    lock.lock();
    try {
      latest = snapshot;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}

package io.nereid.server.trace;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.server.trace.SlowRequest.Phase;
import io.nereid.statistics.Timings;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * The slowest requests of the last minutes, and those that failed: a few of each ten seconds, so
 * that one bad moment does not hide all others. Every request checks whether it is among them,
 * mostly by reading one field. Any thread may call.
 */
public final class TraceRing {

  /** The most requests that are returned. */
  static final int MOST_TOLD = 100;

  private static final int SLOTS = 30;
  private static final int KEPT_PER_SLOT = 16;
  private static final long SLOT_NS = TimeUnit.SECONDS.toNanos(10);

  /** A kept request; requests of one batch are recognised by equal execution times. */
  private record Kept(SlowRequest request, Timings timings, long computeStartNs) {

    boolean isMateOf(Kept other) {
      return this != other
          && timings != null
          && other.timings != null
          && request.batchSize() == other.request.batchSize()
          && request.batchSize() > 1
          && request.model().equals(other.request.model())
          && request.version() == other.request.version()
          && timings.computeInferNs() == other.timings.computeInferNs()
          && timings.computeInputNs() == other.timings.computeInputNs()
          && Math.abs(computeStartNs - other.computeStartNs) <= SLOT_NS;
    }
  }

  private static final class Slot {
    @GuardedBy("this")
    private final PriorityQueue<Kept> slowest =
        new PriorityQueue<>(Comparator.comparingLong(kept -> kept.request.durationNs()));

    /** The last that failed and were not slow. */
    @GuardedBy("this")
    private final ArrayDeque<Kept> failed = new ArrayDeque<>();

    private volatile long number; // number of its ten seconds

    /** A request has to take longer than this; written with the slot's lock. */
    private volatile long floorNs = Long.MIN_VALUE;
  }

  private final Slot[] slots = new Slot[SLOTS];
  private final long startNs = System.nanoTime();
  private final long startMs = System.currentTimeMillis();
  private final AtomicLong ids = new AtomicLong();
  private final LongAdder seen = new LongAdder();

  TraceRing() {
    for (int i = 0; i < SLOTS; i++) {
      slots[i] = new Slot();
    }
  }

  /** The time since which requests are watched. */
  public long sinceMs() {
    return startMs;
  }

  /** The number of requests that were watched. */
  public long seen() {
    return seen.sum();
  }

  /** A counter that grows with each kept request. */
  public long changes() {
    return ids.get();
  }

  /** Keeps a finished request, if it was slow or failed. */
  void add(Trace trace) {
    seen.increment();
    long durationNs = trace.endNs - trace.receiveStartNs;
    long number = (trace.endNs - startNs) / SLOT_NS;
    Slot slot = slots[(int) (number % SLOTS)];
    boolean failed = trace.error != null;
    if (!failed && durationNs <= slot.floorNs && number <= slot.number) {
      return;
    }
    synchronized (slot) {
      if (slot.number < number) {
        slot.slowest.clear();
        slot.failed.clear();
        slot.number = number;
        slot.floorNs = Long.MIN_VALUE;
      }
      if (slot.number == number && durationNs > slot.floorNs) {
        slot.slowest.add(kept(trace));
        if (slot.slowest.size() > KEPT_PER_SLOT) {
          slot.slowest.remove();
        }
        slot.floorNs =
            slot.slowest.size() < KEPT_PER_SLOT
                ? Long.MIN_VALUE
                : slot.slowest.element().request.durationNs();
      } else if (slot.number == number && failed) {
        slot.failed.add(kept(trace));
        if (slot.failed.size() > KEPT_PER_SLOT) {
          slot.failed.remove();
        }
      }
    }
  }

  /** Returns the kept requests: the slowest, followed by quick ones that failed. */
  public List<SlowRequest> slowest() {
    long oldest = (System.nanoTime() - startNs) / SLOT_NS - SLOTS;
    List<Kept> slow = new ArrayList<>();
    List<Kept> failed = new ArrayList<>();
    for (Slot slot : slots) {
      synchronized (slot) {
        if (slot.number > oldest) {
          slow.addAll(slot.slowest);
          failed.addAll(slot.failed);
        }
      }
    }
    slow.sort(Comparator.comparingLong((Kept kept) -> kept.request.durationNs()).reversed());
    failed.sort(Comparator.comparingLong((Kept kept) -> kept.request.startMs()).reversed());
    List<Kept> told = new ArrayList<>(slow.subList(0, Math.min(MOST_TOLD, slow.size())));
    told.addAll(failed.subList(0, Math.min(MOST_TOLD, failed.size())));
    return told.stream()
        .map(kept ->
            kept.request.with(
                told.stream().filter(kept::isMateOf).map(mate -> mate.request.id()).toList()))
        .toList();
  }

  private Kept kept(Trace trace) {
    long computeStartNs = trace.timings == null ? 0 : trace.stages().computeStartNs();
    SlowRequest request =
        new SlowRequest(
            ids.incrementAndGet(),
            trace.requestId,
            trace.protocol.name(),
            trace.modelName,
            Math.max(0, trace.modelVersion),
            TimeUnit.NANOSECONDS.toMillis(trace.receiveStartNs + trace.epochOffsetNs),
            trace.endNs - trace.receiveStartNs,
            trace.error,
            trace.timings == null ? 0 : trace.batchSize,
            List.of(),
            trace.inline,
            trace.cacheHit,
            phases(trace));
    return new Kept(request, trace.timings, computeStartNs);
  }

  private static List<Phase> phases(Trace trace) {
    Phases phases = new Phases(trace.receiveStartNs);
    phases.until("read", trace.headEndNs);
    phases.until("parse", trace.receiveEndNs);
    if (trace.requestEndNs != 0 && trace.timings != null) {
      Trace.Stages stages = trace.stages();
      phases.until("queue", stages.computeStartNs());
      phases.until("copy-in", stages.inputEndNs());
      phases.until("compute", stages.outputStartNs());
      phases.until("copy-out", stages.computeEndNs());
      phases.until("wake", trace.requestEndNs);
    } else {
      phases.until("execute", trace.requestEndNs);
    }
    phases.until("encode", trace.sendStartNs);
    phases.until("write", trace.endNs);
    return phases.list;
  }

  /** Collects phases, each of which begins where the previous one ended. */
  private static final class Phases {
    private final List<Phase> list = new ArrayList<>();
    private final long startNs;
    private long atNs;

    Phases(long startNs) {
      this.startNs = startNs;
      atNs = startNs;
    }

    /** Ends a phase; 0, or an earlier time, means that there was none. */
    void until(String name, long endNs) {
      if (endNs != 0 && endNs - atNs > 0) {
        list.add(new Phase(name, atNs - startNs, endNs - atNs));
        atNs = endNs;
      }
    }
  }
}

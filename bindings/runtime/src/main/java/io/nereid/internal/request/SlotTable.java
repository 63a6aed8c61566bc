package io.nereid.internal.request;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.ffi.PoolMemory;
import io.nereid.internal.ffi.RequestRecord;
import io.nereid.internal.ffi.RequestUpcalls;
import io.nereid.model.RequestObserver;
import io.nereid.model.TracedActivity;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

/**
 * The state that all requests of one runtime share: their slots by id, which is also the tag that
 * the core gives back on completion, the memory of the pool, the thread that watches deadlines, and
 * those that submit requests to models whose answers a plug-in may have.
 */
public final class SlotTable implements RequestUpcalls.Receiver {

  private static final int CHUNK_SHIFT = 8;
  private static final int CHUNK_SIZE = 1 << CHUNK_SHIFT;

  /** The threads that wait for a plug-in's cache; one of a millisecond answers 64 000 a second. */
  private static final int MOST_LOOKUPS = 64;

  private final PoolMemory memory = new PoolMemory();

  /** The pools of models with records, from load until the last record went back to the core. */
  private final Set<SlotPool> pools = ConcurrentHashMap.newKeySet();

  // Chunks are only added, with the lock of this held.
  private volatile AtomicReferenceArray<Slot>[] chunks = chunks(0);

  @GuardedBy("this")
  private final ArrayDeque<Integer> freeIds = new ArrayDeque<>();

  /** Submits requests that a plug-in's cache may hold up. */
  private final ThreadPoolExecutor lookups = newLookups();

  /** Runs tasks when deadlines of asynchronous requests pass. */
  @GuardedBy("this")
  private ScheduledThreadPoolExecutor deadlines;

  private volatile long poolByteLimit; // set before the first model is loaded

  private final AtomicReference<RequestObserver> observer = new AtomicReference<>();

  private static ThreadPoolExecutor newLookups() {
    ThreadFactory threads = Thread.ofPlatform().daemon().name("nrd-cache-", 0).factory();
    ThreadPoolExecutor made =
        new ThreadPoolExecutor(
            MOST_LOOKUPS, MOST_LOOKUPS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
    made.allowCoreThreadTimeOut(true);
    return made;
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static AtomicReferenceArray<Slot>[] chunks(int count) {
    return new AtomicReferenceArray[count];
  }

  /** The memory that inputs and outputs come from. */
  public PoolMemory memory() {
    return memory;
  }

  long poolByteLimit() {
    return poolByteLimit;
  }

  void poolByteLimit(long value) {
    poolByteLimit = value;
  }

  /** Holds the observer of the requests that are sent from now on; null: there is none. */
  AtomicReference<RequestObserver> observer() {
    return observer;
  }

  /** Adds an observer, and returns a task that removes it. */
  public Runnable observe(RequestObserver one) {
    observer.updateAndGet(now -> ObserverGroup.with(now, one));
    return () -> observer.updateAndGet(now -> ObserverGroup.without(now, one));
  }

  /** The slot with this id, or null. */
  public Slot slot(int id) {
    return chunks[id >>> CHUNK_SHIFT].get(id & (CHUNK_SIZE - 1));
  }

  /** The content of the request with this tag, as its sender gave it; null: a plug-in sent it. */
  public RequestContent sender(long tag) {
    return tag < 0 ? null : slot((int) tag).content();
  }

  /** Tells the listener of the request with this tag, while the core has the request. */
  public void traced(long tag, TracedActivity activity) {
    Consumer<TracedActivity> tracer = sender(tag).tracer();
    if (tracer != null) {
      tracer.accept(activity);
    }
  }

  @Override
  public void complete(long tag) {
    slot((int) tag).completeAndWake();
  }

  @Override
  public void respond(long tag, RequestUpcalls.Outputs outputs) {
    // The core has the record, so the slot cannot have moved on to another request.
    ResponseReceiver receiver = slot((int) tag).receiver();
    if (receiver != null) {
      receiver.respond(outputs);
    }
  }

  @Override
  public void awaitRoom(long tag) {
    ResponseReceiver receiver = slot((int) tag).receiver();
    if (receiver != null) {
      receiver.awaitRoom();
    }
  }

  /**
   * Submits a request on a thread that may wait as long as a plug-in does: not an event loop, and
   * not a virtual thread, which would keep its carrier.
   */
  int submitAside(Slot slot) {
    lookups.execute(() -> {
      if (slot.record().submit() != RequestRecord.PENDING) {
        slot.completeAndWake();
      }
    });
    return RequestRecord.PENDING;
  }

  /** Completes futures, which runs users' code, on a thread for that. */
  void dispatch(Runnable completion) {
    Thread.startVirtualThread(completion);
  }

  /** Runs a task later, which must neither block nor run users' code. */
  synchronized Future<?> schedule(Runnable task, long delayNs) {
    if (deadlines == null) {
      deadlines =
          new ScheduledThreadPoolExecutor(
              1, run -> Thread.ofPlatform().daemon().name("nrd-deadlines").unstarted(run));
      deadlines.setRemoveOnCancelPolicy(true);
    }
    return deadlines.schedule(task, delayNs, TimeUnit.NANOSECONDS);
  }

  synchronized void stopThreads() {
    lookups.shutdown();
    if (deadlines != null) {
      deadlines.shutdownNow();
    }
  }

  // ---- Pools ----------------------------------------------------------------------------------

  Set<SlotPool> pools() {
    return pools;
  }

  void add(SlotPool pool) {
    pools.add(pool);
  }

  /** Forgets a pool whose model has no request left. May be called twice. */
  void remove(SlotPool pool) {
    pools.remove(pool);
  }

  synchronized Slot add(RequestRecord record, SlotPool pool) {
    if (freeIds.isEmpty()) {
      addChunk();
    }
    int id = freeIds.pop();
    Slot slot = new Slot(id, record, pool);
    chunks[id >>> CHUNK_SHIFT].set(id & (CHUNK_SIZE - 1), slot);
    return slot;
  }

  synchronized void remove(int id) {
    chunks[id >>> CHUNK_SHIFT].set(id & (CHUNK_SIZE - 1), null);
    freeIds.push(id);
  }

  @GuardedBy("this")
  private void addChunk() {
    int count = chunks.length;
    AtomicReferenceArray<Slot>[] grown = Arrays.copyOf(chunks, count + 1);
    grown[count] = new AtomicReferenceArray<>(CHUNK_SIZE);
    for (int i = 0; i < CHUNK_SIZE; i++) {
      freeIds.add(count * CHUNK_SIZE + i);
    }
    chunks = grown;
  }
}

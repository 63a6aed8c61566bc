package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandles;

/**
 * The function that the core asks which requests go together, while the queue of their model is
 * locked. It is made once and lives as long as the process; batchers go to the core by number.
 */
public final class BatcherUpcalls {

  /** A batcher for one load of a model; one thread at a time calls it. */
  public interface Policy {

    /** True if the next request may join; an exception counts as no. */
    boolean includes(Requests chosen, Request next);

    /** Takes the exception of the first call that failed. */
    void failed(Throwable t);
  }

  /** A request in the queue, valid during the call. */
  public static final class Request {
    private long address;

    /** Input {@code index} of the model. */
    public TensorRecord input(int index) {
      return RequestRecord.input(address, index);
    }

    /** The request's tag; for a step of an ensemble, the tag of the ensemble's request. */
    public long tag() {
      return RequestRecord.tag(address);
    }

    /** The priority that the request was given. */
    public int priority() {
      return RequestRecord.priorityOf(address);
    }

    /** The request's deadline; 0 or less: none. */
    public long deadlineNs() {
      return RequestRecord.deadlineOf(address);
    }
  }

  /** The requests that were chosen, valid during the call. */
  public static final class Requests {
    private long array;
    private int count;

    /** The number of chosen requests. */
    public int count() {
      return count;
    }

    /** Makes {@code view} show one of the requests. */
    public void look(int index, Request view) {
      view.address = Memory.readLong(array + (long) index * Long.BYTES);
    }
  }

  private static final class Entry {
    private final Policy policy;
    private final Requests chosen = new Requests(); // reused by each call, as is the next field
    private final Request next = new Request();
    private boolean failed;

    Entry(Policy policy) {
      this.policy = policy;
    }
  }

  private static final Registry<Entry> POLICIES = new Registry<>();

  static final long INCLUDES =
      NativeCalls.upcall(
          MethodHandles.lookup(),
          "includes",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));

  private BatcherUpcalls() {}

  /** Registers a batcher and returns its number. */
  public static long add(Policy policy) {
    return POLICIES.add(new Entry(policy));
  }

  /** Forgets a batcher, whose model was released; 0 stands for no batcher and does nothing. */
  public static void remove(long number) {
    POLICIES.remove(number);
  }

  static int includes(long context, long chosen, int count, long next) {
    Entry entry = POLICIES.find(context);
    entry.chosen.array = chosen;
    entry.chosen.count = count;
    entry.next.address = next;
    try {
      return entry.policy.includes(entry.chosen, entry.next) ? 1 : 0;
    } catch (Throwable t) {
      if (!entry.failed) {
        entry.failed = true;
        entry.policy.failed(t);
      }
      return 0;
    }
  }
}

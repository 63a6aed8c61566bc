package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandles;

/**
 * The function that the core asks which requests go together, with the queue of their model locked.
 * It is made once and lives as long as the process; batchers go to the core by number.
 */
public final class BatcherUpcalls {

  /** A batcher for one load of a model, which is asked by one thread at a time. */
  public interface Policy {

    /** Whether the next may join; what is thrown counts as no. */
    boolean includes(Requests chosen, long next);

    /** What the first call that failed threw. */
    void failed(Throwable t);
  }

  /** Requests by their addresses, valid during the call. */
  public static final class Requests {
    private long array;
    private int count;

    /** How many there are. */
    public int count() {
      return count;
    }

    /** The address of one. */
    public long get(int index) {
      return Memory.readLong(array + (long) index * Long.BYTES);
    }
  }

  private static final class Entry {
    private final Policy policy;
    private final Requests chosen = new Requests(); // used again with each call
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

  /** The number of a batcher, until it is removed. */
  public static long add(Policy policy) {
    return POLICIES.add(new Entry(policy));
  }

  /** Forgets a batcher, whose model was released; does nothing for 0, the number of none. */
  public static void remove(long number) {
    POLICIES.remove(number);
  }

  static int includes(long context, long chosen, int count, long next) {
    Entry entry = POLICIES.find(context);
    entry.chosen.array = chosen;
    entry.chosen.count = count;
    try {
      return entry.policy.includes(entry.chosen, next) ? 1 : 0;
    } catch (Throwable t) {
      if (!entry.failed) {
        entry.failed = true;
        entry.policy.failed(t);
      }
      return 0;
    }
  }
}

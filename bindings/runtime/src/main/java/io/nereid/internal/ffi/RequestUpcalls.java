package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandles;

/**
 * The functions that the core calls about requests, on its own threads. They are made once and live
 * as long as the process; which runtime is meant comes as the context.
 */
public final class RequestUpcalls {

  /** It hears of the requests of one runtime, which the core names by their tags. */
  public interface Receiver {

    /** The core gave the record of the request back. */
    void complete(long tag);

    /** The request has a response besides its last. May block, unless it is an ensemble's. */
    void respond(long tag, Outputs outputs);

    /** A response of an ensemble's request is about to set out. May block. */
    void awaitRoom(long tag);
  }

  /** The outputs of one response, which are the core's and valid while they are received. */
  public static final class Outputs {
    private final long address;
    private final int count;

    private Outputs(long address, int count) {
      this.address = address;
      this.count = count;
    }

    /** The number of outputs: as many as the model has, some of which may have no memory. */
    public int count() {
      return count;
    }

    /** Output {@code index} of the model. */
    public TensorRecord get(int index) {
      return TensorRecord.at(address, index);
    }
  }

  private static final Registry<Receiver> RECEIVERS = new Registry<>();

  /** An {@code nrd_complete_fn}. */
  static final long COMPLETE =
      NativeCalls.upcall(
          MethodHandles.lookup(),
          "complete",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT));

  /** An {@code nrd_respond_fn}. */
  static final long RESPOND =
      NativeCalls.upcall(
          MethodHandles.lookup(),
          "respond",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));

  private RequestUpcalls() {}

  /** The number of a receiver, until it is removed: what a runtime is created with. */
  public static long add(Receiver receiver) {
    return RECEIVERS.add(receiver);
  }

  /** Forgets a receiver, whose runtime is no more. */
  public static void remove(long number) {
    RECEIVERS.remove(number);
  }

  static void complete(long context, long tags, int count) {
    for (int i = 0; i < count; i++) {
      try {
        RECEIVERS.find(context).complete(Memory.readLong(tags + (long) i * Long.BYTES));
      } catch (Throwable t) {
        CoreLog.logQuietly("a completion could not be delivered", t);
      }
    }
  }

  static void respond(long context, long tag, long outputs, int count) {
    try {
      Receiver receiver = RECEIVERS.find(context);
      if (outputs == 0) {
        receiver.awaitRoom(tag);
      } else {
        receiver.respond(tag, new Outputs(outputs, count));
      }
    } catch (Throwable t) {
      CoreLog.logQuietly("a response could not be delivered", t);
    }
  }
}

package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandles;

/**
 * The functions that the core calls about requests, on its own threads. They are made once and live
 * as long as the process; the context that comes with a call names the runtime.
 */
public final class RequestUpcalls {

  /** Hears of the requests of one runtime, which the core names by their tags. */
  public interface Receiver {

    /** Called when the core gives the record of a request back. */
    void complete(long tag);

    /** Called with a response that is not the request's last. May block, except for an ensemble. */
    void respond(long tag, Outputs outputs);

    /** Called before a response of an ensemble's request is made. May block until there is room. */
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

  /** The address of an {@code nrd_complete_fn}. */
  static final long COMPLETE =
      NativeCalls.upcall(
          MethodHandles.lookup(),
          "complete",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT));

  /** The address of an {@code nrd_respond_fn}. */
  static final long RESPOND =
      NativeCalls.upcall(
          MethodHandles.lookup(),
          "respond",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));

  private RequestUpcalls() {}

  /** Registers a receiver and returns its number, with which a runtime is created. */
  public static long add(Receiver receiver) {
    return RECEIVERS.add(receiver);
  }

  /** Forgets a receiver, whose runtime was released. */
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

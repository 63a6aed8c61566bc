package io.nereid.triton;

import static io.nereid.triton.PluginLibrary.STRING;
import static io.nereid.triton.PluginLibrary.text;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.ffi.ActivityRecord;
import io.nereid.internal.ffi.CoreLog;
import io.nereid.internal.ffi.NativeCalls;
import io.nereid.internal.ffi.Registry;
import io.nereid.internal.ffi.RequestRecord;
import io.nereid.internal.ffi.RuntimeHandle;
import io.nereid.internal.ffi.ValueRecord;
import io.nereid.model.SequenceId;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.function.UnaryOperator;

/**
 * The functions of {@code nrt_host}, which plug-ins call through their library on any thread. They
 * are made once and live as long as the process; one runtime at a time answers.
 */
final class PluginUpcalls {

  /** A function of the library that passes a text to a callback. */
  interface Giver {
    void give(long taker, long take) throws Throwable;
  }

  private static final MemoryLayout L = JAVA_LONG;
  private static final MemoryLayout I = JAVA_INT;

  private static final int CHECKED = 1; // NRT_HOST_CHECKED

  /** The {@code nrt_found_model}: a model, a pin, a version, and whether it is decoupled. */
  private static final MemoryLayout FOUND = MemoryLayout.sequenceLayout(4, JAVA_LONG);

  /** The texts being received, by the callback's number. */
  private static final Registry<StringBuilder> TEXTS = new Registry<>();

  /** The functions that take completed configurations, by the load's number. */
  private static final Registry<UnaryOperator<String>> LOADS = new Registry<>();

  private static volatile PluginHost host; // null: no runtime uses plug-ins

  private static final long TAKE =
      upcall("take", FunctionDescriptor.ofVoid(L, PluginLibrary.BYTES, L));

  private PluginUpcalls() {}

  private static long upcall(String name, FunctionDescriptor type) {
    return NativeCalls.upcall(MethodHandles.lookup(), name, type);
  }

  /**
   * Makes a function that returns a status, and takes an {@code nrd_error} behind the parameters.
   */
  private static long fallible(String name, MemoryLayout... parameters) {
    FunctionDescriptor type = FunctionDescriptor.ofVoid(parameters);
    return NativeCalls.fallibleUpcall(
        MethodHandles.lookup(), name, type, "what a plug-in asked for");
  }

  /** The addresses of the functions, made at the first use. */
  private static final class Addresses {
    static final long LOG = upcall("log", FunctionDescriptor.ofVoid(L, I, STRING, I, STRING));
    static final long ACQUIRE =
        fallible("acquire", L, STRING, L, L, STRING, I, NativeCalls.pointer(FOUND));
    static final long RELEASE = upcall("release", FunctionDescriptor.ofVoid(L, L));
    static final long READY = fallible("ready", L, STRING, L, NativeCalls.pointer(I));
    static final long LOAD = fallible("load", L, STRING, ADDRESS, I);
    static final long UNLOAD = fallible("unload", L, STRING, I);
    static final long DOCUMENT = fallible("document", L, I, STRING, L, L, ADDRESS);
    static final long LIVE = upcall("live", FunctionDescriptor.of(JAVA_INT, L));
    static final long SERVER_READY = upcall("serverReady", FunctionDescriptor.of(JAVA_INT, L));
    static final long COMPLETED = fallible("completed", L, L, STRING);
    static final long TRACED = upcall("traced", FunctionDescriptor.ofVoid(L, ADDRESS));
    static final long ALLOCATE = fallible("allocate", L, I, L, NativeCalls.pointer(L));
    static final long FREE = upcall("free", FunctionDescriptor.ofVoid(L, I, L));

    /** Calls an {@code nrt_take_fn}. */
    static final MethodHandle GIVE =
        NativeCalls.downcall(FunctionDescriptor.ofVoid(L, PluginLibrary.BYTES, L));

    private Addresses() {}
  }

  /** Sets the host that answers from now on; null: none, because the runtime closes. */
  static void answer(PluginHost now) {
    host = now;
  }

  /** Registers a load whose backend may complete its configuration, and returns its number. */
  static long addLoad(UnaryOperator<String> completed) {
    return LOADS.add(completed);
  }

  /** Forgets a load. */
  static void removeLoad(long number) {
    LOADS.remove(number);
  }

  /** The {@code nrt_host} in memory of the arena. */
  static MemorySegment record(Arena arena, RuntimeHandle runtime, boolean checked, boolean gpus) {
    MemorySegment record =
        arena.allocateFrom(
            JAVA_LONG,
            0, // struct_size, flags
            0, // context
            runtime.address(),
            Addresses.LOG,
            Addresses.ACQUIRE,
            Addresses.RELEASE,
            Addresses.READY,
            Addresses.LOAD,
            Addresses.UNLOAD,
            Addresses.DOCUMENT,
            Addresses.LIVE,
            Addresses.SERVER_READY,
            Addresses.COMPLETED,
            Addresses.TRACED,
            gpus ? Addresses.ALLOCATE : 0,
            gpus ? Addresses.FREE : 0);
    record.setAtIndex(JAVA_INT, 0, (int) record.byteSize());
    record.setAtIndex(JAVA_INT, 1, checked ? CHECKED : 0);
    return record;
  }

  /** Returns the text that a function of the library passes. */
  static String taken(Giver giver) {
    StringBuilder text = new StringBuilder();
    long taker = TEXTS.add(text);
    try {
      giver.give(taker, TAKE);
      return text.toString();
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    } finally {
      TEXTS.remove(taker);
    }
  }

  // ---- Called by plug-ins ----------------------------------------------------------------------

  private static PluginHost host() {
    PluginHost answering = host;
    if (answering == null) {
      throw new NereidException(StatusCode.UNAVAILABLE, "the server is closing");
    }
    return answering;
  }

  static void take(long taker, MemorySegment bytes, long size) {
    try {
      TEXTS.find(taker).append(text(bytes, size));
    } catch (Throwable t) {
      CoreLog.logQuietly("a text of a plug-in was lost", t);
    }
  }

  static void log(long context, int level, MemorySegment file, int line, MemorySegment message) {
    try {
      host().log(CoreLog.level(level), text(file), line, text(message));
    } catch (Throwable t) {
      // The failure cannot be reported any more.
    }
  }

  static void acquire(
      long context,
      MemorySegment name,
      long version,
      long sequence,
      MemorySegment sequenceName,
      int flags,
      MemorySegment out) {
    SequenceId id = new SequenceId(sequence, text(sequenceName));
    boolean starts = (flags & RequestRecord.SEQUENCE_START) != 0;
    PluginHost.Found found = host().acquire(text(name), version, id, starts);
    out.setAtIndex(JAVA_LONG, 0, found.model().handle().address());
    out.setAtIndex(JAVA_LONG, 1, found.pin());
    out.setAtIndex(JAVA_LONG, 2, found.version());
    out.setAtIndex(JAVA_LONG, 3, found.model().spec().decoupled() ? 1 : 0);
  }

  static void release(long context, long pin) {
    try {
      host().release(pin);
    } catch (Throwable t) {
      CoreLog.logQuietly("a plug-in could not give a model back", t);
    }
  }

  static void ready(long context, MemorySegment name, long version, MemorySegment out) {
    out.set(JAVA_INT, 0, host().isReady(text(name), version) ? 1 : 0);
  }

  static void load(long context, MemorySegment name, MemorySegment values, int count) {
    host().load(text(name), ValueRecord.readContents(values, count));
  }

  static void unload(long context, MemorySegment name, int withDependents) {
    host().unload(text(name), withDependents != 0);
  }

  static void document(
      long context, int kind, MemorySegment name, long version, long taker, MemorySegment take)
      throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment json = PluginLibrary.string(arena, host().document(kind, text(name), version));
      Addresses.GIVE.invokeExact(
          take, taker, json.get(PluginLibrary.BYTES, 0), json.get(JAVA_LONG, Long.BYTES));
    }
  }

  static int live(long context) {
    return host == null ? 0 : 1;
  }

  static int serverReady(long context) {
    try {
      return host().isServerReady() ? 1 : 0;
    } catch (Throwable t) {
      return 0;
    }
  }

  static void completed(long context, long load, MemorySegment json) {
    UnaryOperator<String> taker = LOADS.find(load);
    if (taker == null) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "a configuration can be completed only while its model is opened");
    }
    PluginLibrary.configure(load, taker.apply(text(json)));
  }

  static void traced(long context, MemorySegment activity) {
    try (Arena arena = Arena.ofConfined()) {
      host().traced(ActivityRecord.tag(activity), ActivityRecord.read(activity, arena));
    } catch (Throwable t) {
      CoreLog.logQuietly("a plug-in could not tell what it does", t);
    }
  }

  static void allocate(long context, int device, long byteSize, MemorySegment out) {
    out.set(JAVA_LONG, 0, host().allocate(device, byteSize));
  }

  static void free(long context, int device, long memory) {
    try {
      host().free(device, memory);
    } catch (Throwable t) {
      CoreLog.logQuietly("memory of a GPU could not be given back", t);
    }
  }
}

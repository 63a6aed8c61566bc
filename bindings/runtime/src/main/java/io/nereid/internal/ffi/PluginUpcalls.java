package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.STRING;
import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.model.SequenceId;
import io.nereid.model.TracedActivity;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * The functions of {@code nrt_host}, which plug-ins call through their library on whatever threads
 * they have. They are made once and live as long as the process; one runtime at a time answers.
 */
public final class PluginUpcalls {

  /**
   * The host answers the questions that plug-ins ask of the server. A plug-in is told of each
   * exception that a method of the host throws.
   */
  public interface Host {

    /** Writes a line into the log. */
    void log(System.Logger.Level level, String file, int line, String message);

    /**
     * Finds a model that takes requests, and keeps it loaded until {@link #release}.
     *
     * @param version -1: the one that a client gets who names none
     * @param sequence the request's, which decides between two loads of a model
     * @param starts whether the request starts that sequence
     */
    Found acquire(String name, long version, SequenceId sequence, boolean starts);

    /** Ends what {@link #acquire} began. */
    void release(long pin);

    /** True if a model takes requests, and its instances are ready. */
    boolean isReady(String name, long version);

    /** Loads a model; settings as the load endpoint takes them, each with its content. */
    void load(String name, Map<String, byte[]> settings);

    /** Unloads a model. */
    void unload(String name, boolean withDependents);

    /** A document in JSON; the kinds are {@code NRT_*_METADATA} and so on. */
    String document(int kind, String name, long version);

    /** True if the server takes requests. */
    boolean isServerReady();

    /** A backend tells what it does for the request with this tag. */
    void traced(long tag, TracedActivity activity);

    /** Memory of a GPU: its address. */
    long allocate(int device, long byteSize);

    /** Gives the memory back. */
    void free(int device, long memory);
  }

  /** A model that a plug-in found. */
  public record Found(ModelHandle model, long pin, long version, boolean decoupled) {}

  /** A function of the library that gives a text to a taker. */
  interface Giver {
    void give(long taker, long take) throws Throwable;
  }

  private static final MemoryLayout L = JAVA_LONG;
  private static final MemoryLayout I = JAVA_INT;

  private static final int CHECKED = 1; // NRT_HOST_CHECKED

  private static final StructLayout HOST =
      Memory.struct(
          "int struct_size, flags; long context, runtime, log, model_acquire, model_release, "
              + "model_ready, model_load, model_unload, document, server_live, server_ready, "
              + "config_completed, trace_activity, device_allocate, device_free");

  private static final StructLayout FOUND =
      Memory.struct("long model, pin, version; int decoupled, reserved");

  private static final int OK = 0;
  private static final String WHO = "what a plug-in asked for";

  /** Texts that are being taken, by the taker's number. */
  private static final Registry<StringBuilder> TEXTS = new Registry<>();

  /** The functions that take completed configurations, by the load's number. */
  private static final Registry<UnaryOperator<String>> LOADS = new Registry<>();

  private static volatile Host host; // null: no runtime has plug-ins

  private static final long TAKE = upcall("take", FunctionDescriptor.ofVoid(L, L, L));

  private PluginUpcalls() {}

  private static long upcall(String name, FunctionDescriptor type) {
    return NativeCalls.upcall(MethodHandles.lookup(), name, type);
  }

  /** Makes the addresses of the functions when they are first needed. */
  private static final class Addresses {
    static final long LOG = upcall("log", FunctionDescriptor.ofVoid(L, I, STRING, I, STRING));
    static final long ACQUIRE =
        upcall("acquire", FunctionDescriptor.of(JAVA_INT, L, STRING, L, L, STRING, I, L, L));
    static final long RELEASE = upcall("release", FunctionDescriptor.ofVoid(L, L));
    static final long READY = upcall("ready", FunctionDescriptor.of(JAVA_INT, L, STRING, L, L, L));
    static final long LOAD = upcall("load", FunctionDescriptor.of(JAVA_INT, L, STRING, L, I, L));
    static final long UNLOAD = upcall("unload", FunctionDescriptor.of(JAVA_INT, L, STRING, I, L));
    static final long DOCUMENT =
        upcall("document", FunctionDescriptor.of(JAVA_INT, L, I, STRING, L, L, L, L));
    static final long LIVE = upcall("live", FunctionDescriptor.of(JAVA_INT, L));
    static final long SERVER_READY = upcall("serverReady", FunctionDescriptor.of(JAVA_INT, L));
    static final long COMPLETED =
        upcall("completed", FunctionDescriptor.of(JAVA_INT, L, L, STRING, L));
    static final long TRACED = upcall("traced", FunctionDescriptor.ofVoid(L, L));
    static final long ALLOCATE = upcall("allocate", FunctionDescriptor.of(JAVA_INT, L, I, L, L, L));
    static final long FREE = upcall("free", FunctionDescriptor.ofVoid(L, I, L));

    /** Calls an {@code nrt_take_fn}. */
    static final MethodHandle GIVE = give();

    private Addresses() {}

    @SuppressWarnings("restricted")
    private static MethodHandle give() {
      return Linker.nativeLinker().downcallHandle(FunctionDescriptor.ofVoid(L, L, L));
    }
  }

  /** Sets the host that answers from now on; null: none does, because the runtime closes. */
  public static void answer(Host now) {
    host = now;
  }

  /** The number of a load whose backend may complete its configuration, until it is removed. */
  public static long addLoad(UnaryOperator<String> completed) {
    return LOADS.add(completed);
  }

  /** Forgets a load. */
  public static void removeLoad(long number) {
    LOADS.remove(number);
  }

  /** An {@code nrt_host} in memory of the arena. */
  static long record(Arena arena, long runtime, boolean checked, boolean gpus) {
    MemorySegment record = Memory.sized(arena, HOST);
    record.set(JAVA_INT, offset(HOST, "flags"), checked ? CHECKED : 0);
    set(record, "runtime", runtime);
    set(record, "log", Addresses.LOG);
    set(record, "model_acquire", Addresses.ACQUIRE);
    set(record, "model_release", Addresses.RELEASE);
    set(record, "model_ready", Addresses.READY);
    set(record, "model_load", Addresses.LOAD);
    set(record, "model_unload", Addresses.UNLOAD);
    set(record, "document", Addresses.DOCUMENT);
    set(record, "server_live", Addresses.LIVE);
    set(record, "server_ready", Addresses.SERVER_READY);
    set(record, "config_completed", Addresses.COMPLETED);
    set(record, "trace_activity", Addresses.TRACED);
    if (gpus) {
      set(record, "device_allocate", Addresses.ALLOCATE);
      set(record, "device_free", Addresses.FREE);
    }
    return record.address();
  }

  private static void set(MemorySegment record, String field, long value) {
    record.set(JAVA_LONG, offset(HOST, field), value);
  }

  /** The text that a function of the library gives. */
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

  private static Host host() {
    Host answering = host;
    if (answering == null) {
      throw new NereidException(StatusCode.UNAVAILABLE, "the server is closing");
    }
    return answering;
  }

  private static String text(MemorySegment string) {
    return Memory.readString(string.get(JAVA_LONG, 0), string.get(JAVA_LONG, Long.BYTES));
  }

  static void take(long taker, long text, long size) {
    try {
      TEXTS.find(taker).append(Memory.readString(text, size));
    } catch (Throwable t) {
      CoreLog.logQuietly("a text of a plug-in was lost", t);
    }
  }

  static void log(long context, int level, MemorySegment file, int line, MemorySegment message) {
    try {
      host().log(CoreLog.level(level), text(file), line, text(message));
    } catch (Throwable t) {
      // There is nowhere left to report it.
    }
  }

  static int acquire(
      long context,
      MemorySegment name,
      long version,
      long sequence,
      MemorySegment sequenceName,
      int flags,
      long out,
      long error) {
    try {
      SequenceId id = new SequenceId(sequence, text(sequenceName));
      boolean starts = (flags & RequestRecord.SEQUENCE_START) != 0;
      Found found = host().acquire(text(name), version, id, starts);
      Memory.writeLong(out + offset(FOUND, "model"), found.model().address());
      Memory.writeLong(out + offset(FOUND, "pin"), found.pin());
      Memory.writeLong(out + offset(FOUND, "version"), found.version());
      Memory.writeInt(out + offset(FOUND, "decoupled"), found.decoupled() ? 1 : 0);
      return OK;
    } catch (Throwable t) {
      return ErrorRecord.report(t, error, WHO);
    }
  }

  static void release(long context, long pin) {
    try {
      host().release(pin);
    } catch (Throwable t) {
      CoreLog.logQuietly("a plug-in could not give a model back", t);
    }
  }

  static int ready(long context, MemorySegment name, long version, long out, long error) {
    try {
      Memory.writeInt(out, host().isReady(text(name), version) ? 1 : 0);
      return OK;
    } catch (Throwable t) {
      return ErrorRecord.report(t, error, WHO);
    }
  }

  static int load(long context, MemorySegment name, long values, int count, long error) {
    try {
      host().load(text(name), ValueRecord.readContents(values, count));
      return OK;
    } catch (Throwable t) {
      return ErrorRecord.report(t, error, WHO);
    }
  }

  static int unload(long context, MemorySegment name, int withDependents, long error) {
    try {
      host().unload(text(name), withDependents != 0);
      return OK;
    } catch (Throwable t) {
      return ErrorRecord.report(t, error, WHO);
    }
  }

  static int document(
      long context, int kind, MemorySegment name, long version, long taker, long take, long error) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment json = PluginLibrary.string(arena, host().document(kind, text(name), version));
      Addresses.GIVE.invokeExact(
          MemorySegment.ofAddress(take),
          taker,
          json.get(JAVA_LONG, 0),
          json.get(JAVA_LONG, Long.BYTES));
      return OK;
    } catch (Throwable t) {
      return ErrorRecord.report(t, error, WHO);
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

  static int completed(long context, long load, MemorySegment json, long error) {
    try {
      UnaryOperator<String> taker = LOADS.find(load);
      if (taker == null) {
        throw new NereidException(
            StatusCode.FAILED_PRECONDITION,
            "a configuration can be completed only while its model is opened");
      }
      PluginLibrary.configure(load, taker.apply(text(json)));
      return OK;
    } catch (Throwable t) {
      return ErrorRecord.report(t, error, WHO);
    }
  }

  static void traced(long context, long activity) {
    try (Arena arena = Arena.ofConfined()) {
      host().traced(ActivityRecord.tag(activity), ActivityRecord.read(activity, arena));
    } catch (Throwable t) {
      CoreLog.logQuietly("a plug-in could not tell what it does", t);
    }
  }

  static int allocate(long context, int device, long byteSize, long out, long error) {
    try {
      Memory.writeLong(out, host().allocate(device, byteSize));
      return OK;
    } catch (Throwable t) {
      return ErrorRecord.report(t, error, WHO);
    }
  }

  static void free(long context, int device, long memory) {
    try {
      host().free(device, memory);
    } catch (Throwable t) {
      CoreLog.logQuietly("memory of a GPU could not be given back", t);
    }
  }
}

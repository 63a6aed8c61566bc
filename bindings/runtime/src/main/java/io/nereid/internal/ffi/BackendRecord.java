package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.charset.StandardCharsets;

/** An {@code nrd_backend}: the functions of a backend, filled in by the core or by Java. */
public final class BackendRecord {

  private static final int OWN_THREAD = 1; // NRD_BACKEND_OWN_THREAD
  private static final int GATHERS = 2; // NRD_BACKEND_GATHERS
  private static final int DEVICE_TENSORS = 4; // NRD_BACKEND_DEVICE_TENSORS
  private static final int OWN_STATES = 32; // NRD_BACKEND_OWN_STATES

  static final StructLayout LAYOUT =
      Memory.struct(
          "int struct_size, flags; long context, open_model, describe, configure, "
              + "memory_read, open_instance, execute, close_instance, close_model, release_state");

  private final MemorySegment record;

  private BackendRecord(Arena arena) {
    record = Memory.sized(arena, LAYOUT);
  }

  /** The record's own address. */
  public long address() {
    return record.address();
  }

  /** An empty record in memory of the arena. */
  public static BackendRecord empty(Arena arena) {
    return new BackendRecord(arena);
  }

  /** True if the core has a backend of this name. */
  public static boolean isThere(String name) {
    try (Arena arena = Arena.ofConfined()) {
      return new BackendRecord(arena).find(arena, name, 0) == StatusCode.OK.number();
    }
  }

  /** The core's backend of this name, in memory of the arena; throws when there is none. */
  public static BackendRecord get(Arena arena, String name) {
    BackendRecord record = new BackendRecord(arena);
    NativeCalls.check(error -> record.find(arena, name, error));
    return record;
  }

  /**
   * The core's backend of this name, for models of this runtime that run in processes of their own.
   */
  public static BackendRecord isolated(Arena arena, RuntimeHandle runtime, String name) {
    BackendRecord record = new BackendRecord(arena);
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    long text = arena.allocateFrom(JAVA_BYTE, bytes).address();
    NativeCalls.check(error ->
        (int)
            Handles.OfIsolation.BACKEND_ISOLATE.invokeExact(
                runtime.address(), text, (long) bytes.length, record.address(), error));
    return record;
  }

  private int find(Arena arena, String name, long error) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    MemorySegment text = arena.allocateFrom(JAVA_BYTE, bytes);
    try {
      return (int)
          Handles.BACKEND_FIND.invokeExact(text.address(), (long) bytes.length, address(), error);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /**
   * A backend in Java, which {@link BackendUpcalls} knows by number.
   *
   * @param gathers whether the backend reads the inputs of each request by itself
   */
  public static BackendRecord ofJava(
      Arena arena,
      long number,
      boolean ownThread,
      boolean gathers,
      boolean deviceTensors,
      boolean ownStates) {
    BackendRecord backend = new BackendRecord(arena);
    int flags =
        (ownThread ? OWN_THREAD : 0)
            | (gathers || deviceTensors ? GATHERS : 0)
            | (deviceTensors ? DEVICE_TENSORS : 0)
            | (ownStates ? OWN_STATES : 0);
    backend.record.set(JAVA_INT, offset(LAYOUT, "flags"), flags);
    backend.set("context", number);
    backend.set("open_model", BackendUpcalls.OPEN_MODEL);
    backend.set("memory_read", BackendUpcalls.MEMORY_READ);
    backend.set("open_instance", BackendUpcalls.OPEN_INSTANCE);
    backend.set("execute", BackendUpcalls.EXECUTE);
    backend.set("close_instance", BackendUpcalls.CLOSE_INSTANCE);
    backend.set("close_model", BackendUpcalls.CLOSE_MODEL);
    backend.set("release_state", BackendUpcalls.RELEASE_STATE);
    return backend;
  }

  /** The record of the backend in a child process, with the child's functions about models. */
  static BackendRecord ofChild(
      Arena arena, long openModel, long describe, long configure, long closeModel) {
    BackendRecord backend = ofJava(arena, 0, true, false, false, false);
    backend.set("open_model", openModel);
    backend.set("describe", describe);
    backend.set("configure", configure);
    backend.set("close_model", closeModel);
    return backend;
  }

  private void set(String field, long value) {
    record.set(JAVA_LONG, offset(LAYOUT, field), value);
  }
}

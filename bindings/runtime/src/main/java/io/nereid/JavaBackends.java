package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.backend.Backend;
import io.nereid.backend.BackendInstance;
import io.nereid.backend.ModelContext;
import io.nereid.internal.ffi.ErrorRecord;
import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.ModelLayout;
import io.nereid.internal.ffi.NativeLibrary;
import io.nereid.internal.request.Registry;
import io.nereid.statistics.MemoryUsage;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The functions that the core calls about backends written in Java, made once and living as long as
 * the process. Backends and their instances go to the core by number. Nothing may be thrown out of
 * these functions: an exception that escapes one ends the process.
 */
final class JavaBackends {

  /** A load of a model; its open instances are there by number. */
  private record Entry(
      Backend backend,
      Signature signature,
      NativeRuntime runtime,
      List<InstancePlacement> placements,
      Map<Long, Instance> instances,
      AtomicReference<Throwable> failure) {}

  /** An instance with what its batches need, and the number of the load that it belongs to. */
  record Instance(
      long load,
      BackendInstance backend,
      Signature signature,
      NativeRuntime runtime,
      BatchScratch scratch) {}

  private static final Registry<Entry> BACKENDS = new Registry<>();
  private static final Registry<Instance> INSTANCES = new Registry<>();

  private static final int OK = 0;

  private static final long OPEN_MODEL = upcall("openModel", int.class, "LLLL");
  private static final long MEMORY_READ = upcall("memoryRead", void.class, "LLL");
  private static final long OPEN_INSTANCE = upcall("openInstance", int.class, "LILL");
  private static final long EXECUTE = upcall("execute", int.class, "LLL");
  private static final long CLOSE_INSTANCE = upcall("closeInstance", void.class, "L");
  private static final long CLOSE_MODEL = upcall("closeModel", void.class, "L");

  private JavaBackends() {}

  private static long upcall(String name, Class<?> result, String parameters) {
    ValueLayout[] layouts = new ValueLayout[parameters.length()];
    Class<?>[] types = new Class<?>[parameters.length()];
    for (int i = 0; i < layouts.length; i++) {
      boolean isLong = parameters.charAt(i) == 'L';
      layouts[i] = isLong ? JAVA_LONG : JAVA_INT;
      types[i] = isLong ? long.class : int.class;
    }
    try {
      return NativeLibrary.upcall(
          MethodHandles.lookup()
              .findStatic(JavaBackends.class, name, MethodType.methodType(result, types)),
          result == void.class
              ? FunctionDescriptor.ofVoid(layouts)
              : FunctionDescriptor.of(JAVA_INT, layouts));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** The number of a backend for one load of a model, until it is removed. */
  static long add(
      Backend backend,
      Signature signature,
      NativeRuntime runtime,
      List<InstancePlacement> placements) {
    return BACKENDS.add(
        new Entry(
            backend,
            signature,
            runtime,
            placements,
            new ConcurrentHashMap<>(),
            new AtomicReference<>()));
  }

  /** What opening an instance threw, of the load with this number; null: nothing. */
  static Throwable failure(long number) {
    Entry entry = BACKENDS.find(number);
    return entry == null ? null : entry.failure().get();
  }

  static void remove(long number) {
    BACKENDS.remove(number);
  }

  /** Fills in an {@code nrd_backend} for the backend with this number. */
  static void write(MemorySegment table, long number, Backend backend) {
    table.set(
        JAVA_INT,
        ModelLayout.BACKEND_FLAGS,
        (backend.ownThread() ? ModelLayout.BACKEND_OWN_THREAD : 0)
            | (backend.gathers() ? ModelLayout.BACKEND_GATHERS : 0)
            | (backend.takesDeviceTensors()
                ? ModelLayout.BACKEND_GATHERS | ModelLayout.BACKEND_DEVICE_TENSORS
                : 0));
    table.set(JAVA_LONG, ModelLayout.BACKEND_CONTEXT, number);
    table.set(JAVA_LONG, ModelLayout.BACKEND_OPEN_MODEL, OPEN_MODEL);
    table.set(JAVA_LONG, ModelLayout.BACKEND_MEMORY_READ, MEMORY_READ);
    table.set(JAVA_LONG, ModelLayout.BACKEND_OPEN_INSTANCE, OPEN_INSTANCE);
    table.set(JAVA_LONG, ModelLayout.BACKEND_EXECUTE, EXECUTE);
    table.set(JAVA_LONG, ModelLayout.BACKEND_CLOSE_INSTANCE, CLOSE_INSTANCE);
    table.set(JAVA_LONG, ModelLayout.BACKEND_CLOSE_MODEL, CLOSE_MODEL);
  }

  // ---- Called by the core ----------------------------------------------------------------------

  /** The model's state is the backend's own number. */
  static int openModel(long context, long options, long stateOut, long error) {
    Memory.writeLong(stateOut, context);
    return OK;
  }

  /** All instances together. */
  static void memoryRead(long state, long weightBytesOut, long workingBytesOut) {
    long weights = 0;
    long working = 0;
    try {
      for (Instance instance : BACKENDS.find(state).instances().values()) {
        MemoryUsage usage = instance.backend().memoryUsage();
        weights += usage.weights();
        working += usage.working();
      }
    } catch (Throwable t) {
      RuntimeUpcalls.logQuietly("a backend failed to tell what memory it uses", t);
    }
    Memory.writeLong(weightBytesOut, weights);
    Memory.writeLong(workingBytesOut, working);
  }

  static int openInstance(long state, int index, long instanceOut, long error) {
    Entry entry = BACKENDS.find(state);
    try {
      ModelSpec spec = entry.signature().spec();
      ModelContext model = new ModelContext(spec, index, entry.placements().get(index));
      BackendInstance backend = entry.backend().open(model);
      if (backend == null) {
        throw new NereidException(StatusCode.INTERNAL, "open returned null");
      }
      Instance instance =
          new Instance(state, backend, entry.signature(), entry.runtime(), new BatchScratch());
      long number = INSTANCES.add(instance);
      entry.instances().put(number, instance);
      Memory.writeLong(instanceOut, number);
      return OK;
    } catch (Throwable t) {
      entry.failure().set(t);
      return report(t, error, null);
    }
  }

  static int execute(long number, long batch, long error) {
    JavaBatch view = null;
    try {
      Instance instance = INSTANCES.find(number);
      view = new JavaBatch(instance, batch);
      instance.backend().execute(view);
      return OK;
    } catch (Throwable t) {
      return report(t, error, view);
    } finally {
      if (view != null) {
        view.end();
      }
    }
  }

  static void closeInstance(long number) {
    try {
      Instance instance = INSTANCES.remove(number);
      BACKENDS.find(instance.load()).instances().remove(number);
      instance.backend().close();
    } catch (Throwable t) {
      RuntimeUpcalls.logQuietly("a backend failed to close", t);
    }
  }

  static void closeModel(long state) {
    // Its number is removed by who added it, also when loading failed before this could be called.
  }

  /** Of an execution, {@code batch} is what failed. */
  private static int report(Throwable t, long error, JavaBatch batch) {
    int code = StatusCode.INTERNAL.number();
    try {
      if (batch != null) {
        batch.failed(t);
      }
      if (t instanceof NereidException e && e.code() != StatusCode.OK) {
        code = e.code().number();
        ErrorRecord.write(error, code, String.valueOf(e.getMessage()));
      } else {
        ErrorRecord.write(error, code, "the backend threw " + t);
        RuntimeUpcalls.LOGGER.log(Level.WARNING, "a backend failed", t);
      }
    } catch (Throwable second) {
      // Out of memory or stack, or a broken toString: the code says enough.
    }
    return code;
  }
}

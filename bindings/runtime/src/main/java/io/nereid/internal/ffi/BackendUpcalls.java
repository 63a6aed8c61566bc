package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.statistics.MemoryUsage;
import io.nereid.tensor.DeviceMemory;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandles;

/**
 * The functions that the core calls about backends written in Java, on its own threads and on those
 * that send requests. They are made once and live as long as the process; backends and their
 * instances go to the core by number.
 */
public final class BackendUpcalls {

  /** A backend for one load of a model. */
  public interface Load {

    /** Opens an instance; what is thrown makes the load fail. */
    Instance open(int index) throws Throwable;

    /** The memory that all open instances occupy together. */
    MemoryUsage memoryUsage();

    /** Takes back a state that was kept in the backend's own memory. */
    void releaseState(DeviceMemory state);
  }

  /** An open instance, which is called by one thread at a time. */
  public interface Instance {

    /** Executes a batch; what is thrown fails its requests. */
    void execute(BatchRecord batch) throws Throwable;

    /** Closes the instance, as the model is unloaded. */
    void close();
  }

  private record Opened(Instance instance, BatchRecord batch) {}

  private static final Registry<Load> LOADS = new Registry<>();
  private static final Registry<Opened> INSTANCES = new Registry<>();

  private static final int OK = 0;

  private static final MemoryLayout L = JAVA_LONG;

  static final long OPEN_MODEL = upcall("openModel", FunctionDescriptor.of(JAVA_INT, L, L, L, L));
  static final long MEMORY_READ = upcall("memoryRead", FunctionDescriptor.ofVoid(L, L, L));
  static final long OPEN_INSTANCE =
      upcall("openInstance", FunctionDescriptor.of(JAVA_INT, L, JAVA_INT, L, L));
  static final long EXECUTE = upcall("execute", FunctionDescriptor.of(JAVA_INT, L, L, L));
  static final long CLOSE_INSTANCE = upcall("closeInstance", FunctionDescriptor.ofVoid(L));
  static final long CLOSE_MODEL = upcall("closeModel", FunctionDescriptor.ofVoid(L));
  static final long RELEASE_STATE = upcall("releaseState", FunctionDescriptor.ofVoid(L, L));

  private BackendUpcalls() {}

  private static long upcall(String name, FunctionDescriptor type) {
    return NativeCalls.upcall(MethodHandles.lookup(), name, type);
  }

  /** Registers a load and returns its number, with which its {@link BackendRecord} is made. */
  public static long add(Load load) {
    return LOADS.add(load);
  }

  /** Forgets a load, whose instances are closed. */
  public static void remove(long number) {
    LOADS.remove(number);
  }

  /** The load with this number, or null. */
  public static Load find(long number) {
    return LOADS.find(number);
  }

  /** The model's state is the backend's own number. */
  static int openModel(long context, long options, long stateOut, long error) {
    Memory.writeLong(stateOut, context);
    return OK;
  }

  static void memoryRead(long state, long weightBytesOut, long workingBytesOut) {
    MemoryUsage usage = MemoryUsage.UNKNOWN;
    try {
      usage = LOADS.find(state).memoryUsage();
    } catch (Throwable t) {
      CoreLog.logQuietly("a backend failed to tell what memory it uses", t);
    }
    Memory.writeLong(weightBytesOut, usage.weights());
    Memory.writeLong(workingBytesOut, usage.working());
  }

  static int openInstance(long state, int index, long instanceOut, long error) {
    try {
      Instance instance = LOADS.find(state).open(index);
      Memory.writeLong(instanceOut, INSTANCES.add(new Opened(instance, new BatchRecord())));
      return OK;
    } catch (Throwable t) {
      return ErrorRecord.report(t, error, "a backend");
    }
  }

  static int execute(long number, long batch, long error) {
    try {
      Opened opened = INSTANCES.find(number);
      opened.instance().execute(opened.batch().wrap(batch));
      return OK;
    } catch (Throwable t) {
      return ErrorRecord.report(t, error, "a backend");
    }
  }

  static void closeInstance(long number) {
    try {
      INSTANCES.remove(number).instance().close();
    } catch (Throwable t) {
      CoreLog.logQuietly("a backend failed to close", t);
    }
  }

  static void closeModel(long state) {
    // The code that added the number removes it, since this is not called when loading fails.
  }

  static void releaseState(long state, long tensor) {
    try {
      LOADS.find(state).releaseState(TensorRecord.at(tensor, 0).deviceMemory());
    } catch (Throwable t) {
      CoreLog.logQuietly("a backend failed to take a state back", t);
    }
  }
}

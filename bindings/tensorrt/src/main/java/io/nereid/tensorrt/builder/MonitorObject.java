package io.nereid.tensorrt.builder;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.nereid.tensorrt.NativeInterface;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.bytedeco.tensorrt.nvinfer.IProgressMonitor;

/** Passes TensorRT's progress of a build to a {@link BuildProgress}. */
final class MonitorObject implements AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger("io.nereid.tensorrt.builder");

  private static final NativeInterface.Type TYPE =
      new NativeInterface.Type("IProgressMonitor", "_ZTIN8nvinfer15v_1_016IProgressMonitorE", 1, 0);

  private static final long LONGEST_NAME = 1 << 16;

  private final BuildProgress progress;
  private final NativeInterface object;

  MonitorObject(BuildProgress progress) {
    this.progress = progress;
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    object =
        new NativeInterface(
            TYPE,
            NativeInterface.function(
                lookup, this, "started", FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, JAVA_INT)),
            NativeInterface.function(
                lookup, this, "step", FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS, JAVA_INT)),
            NativeInterface.function(lookup, this, "finished", FunctionDescriptor.ofVoid(ADDRESS)));
  }

  /** The object for TensorRT, valid until this is closed. */
  IProgressMonitor object() {
    return new IProgressMonitor(object.address());
  }

  long address() {
    return object.address().address();
  }

  @Override
  public void close() {
    object.close();
  }

  // ---- Called by TensorRT on its own threads: these must not throw ----------------------------

  private void started(MemorySegment phase, MemorySegment parent, int steps) {
    safely(() -> {
      boolean outermost = parent.equals(MemorySegment.NULL);
      progress.started(
          text(phase), outermost ? Optional.empty() : Optional.of(text(parent)), steps);
      return true;
    });
  }

  private boolean step(MemorySegment phase, int step) {
    return safely(() -> progress.step(text(phase), step));
  }

  private void finished(MemorySegment phase) {
    safely(() -> {
      progress.finished(text(phase));
      return true;
    });
  }

  /** Calls the listener; its failure must not fail the build. */
  private static boolean safely(BooleanSupplier call) {
    try {
      return call.getAsBoolean();
    } catch (Throwable t) {
      LOGGER.log(System.Logger.Level.WARNING, "showing a build's progress failed", t);
      return true;
    }
  }

  @SuppressWarnings("restricted")
  private static String text(MemorySegment string) {
    return string.reinterpret(LONGEST_NAME).getString(0);
  }
}

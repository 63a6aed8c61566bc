package io.nereid.internal.ffi;

/** Calls that concern a model and its backend. Every pointer is an address. */
public final class ModelCalls {

  private ModelCalls() {}

  public static int backendFind(long name, long nameSize, long backendOut, long errorOut) {
    try {
      return (int) Handles.BACKEND_FIND.invokeExact(name, nameSize, backendOut, errorOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int sourceOpen(long runtime, long options, long sourceOut, long errorOut) {
    try {
      return (int) Handles.SOURCE_OPEN.invokeExact(runtime, options, sourceOut, errorOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int sourceTensor(long source, int kind, int index, long specOut) {
    try {
      return (int) Handles.SOURCE_TENSOR.invokeExact(source, kind, index, specOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void sourceRelease(long source) {
    try {
      Handles.SOURCE_RELEASE.invokeExact(source);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int load(long runtime, long options, long source, long modelOut, long errorOut) {
    try {
      return (int) Handles.MODEL_LOAD.invokeExact(runtime, options, source, modelOut, errorOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int drain(long model, long deadlineNs, long errorOut) {
    try {
      return (int) Handles.MODEL_DRAIN.invokeExact(model, deadlineNs, errorOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void release(long model) {
    try {
      Handles.MODEL_RELEASE.invokeExact(model);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void statsRead(long model, long statsOut) {
    try {
      Handles.MODEL_STATS_READ.invokeExact(model, statsOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void memoryRead(long model, long statsOut) {
    try {
      Handles.MODEL_MEMORY_READ.invokeExact(model, statsOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void batchStatsRead(long model, long statsOut, int capacity, long countOut) {
    try {
      Handles.MODEL_BATCH_STATS_READ.invokeExact(model, statsOut, capacity, countOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int histogramRead(long model, int histogram, long countsOut, int capacity) {
    try {
      return (int) Handles.MODEL_HISTOGRAM_READ.invokeExact(model, histogram, countsOut, capacity);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }
}

package io.nereid.internal.ffi;

/** Calls that concern a runtime, its pool and its cache. Every pointer is an address. */
public final class RuntimeCalls {

  private RuntimeCalls() {}

  public static void handleCountsRead(long countsOut) {
    try {
      Handles.HANDLE_COUNTS_READ.invokeExact(countsOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int create(long options, long runtimeOut, long errorOut) {
    try {
      return (int) Handles.RUNTIME_CREATE.invokeExact(options, runtimeOut, errorOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int release(long runtime, long errorOut) {
    try {
      return (int) Handles.RUNTIME_RELEASE.invokeExact(runtime, errorOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int lockPages(long runtime, long context, long lock, long unlock, long errorOut) {
    try {
      return (int) Handles.RUNTIME_LOCK_PAGES.invokeExact(runtime, context, lock, unlock, errorOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void poolStats(long runtime, long statsOut) {
    try {
      Handles.RUNTIME_POOL_STATS.invokeExact(runtime, statsOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void cacheStats(long runtime, long statsOut) {
    try {
      Handles.RUNTIME_CACHE_STATS.invokeExact(runtime, statsOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void bufferRetain(long buffer) {
    try {
      Handles.BUFFER_RETAIN.invokeExact(buffer);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void bufferRelease(long buffer) {
    try {
      Handles.BUFFER_RELEASE.invokeExact(buffer);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int histogramBucketCount() {
    try {
      return (int) Handles.HISTOGRAM_BUCKET_COUNT.invokeExact();
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static long histogramBucketNs(int bucket) {
    try {
      return (long) Handles.HISTOGRAM_BUCKET_NS.invokeExact(bucket);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }
}

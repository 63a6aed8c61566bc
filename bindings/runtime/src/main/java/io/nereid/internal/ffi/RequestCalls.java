package io.nereid.internal.ffi;

/** Calls that concern one request record or one batch. Every pointer is an address. */
public final class RequestCalls {

  private RequestCalls() {}

  public static int acquire(long model, long requestOut, long errorOut) {
    try {
      return (int) Handles.REQUEST_ACQUIRE.invokeExact(model, requestOut, errorOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void reset(long request) {
    try {
      Handles.REQUEST_RESET.invokeExact(request);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void release(long request) {
    try {
      Handles.REQUEST_RELEASE.invokeExact(request);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void dropInputs(long request) {
    try {
      Handles.REQUEST_DROP_INPUTS.invokeExact(request);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void dropOutputs(long request) {
    try {
      Handles.REQUEST_DROP_OUTPUTS.invokeExact(request);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int inputAlloc(long request, int index) {
    try {
      return (int) Handles.REQUEST_INPUT_ALLOC.invokeExact(request, index);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int submit(long request) {
    try {
      return (int) Handles.REQUEST_SUBMIT.invokeExact(request);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int warmUp(long request) {
    try {
      return (int) Handles.REQUEST_WARM_UP.invokeExact(request);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int cancel(long request) {
    try {
      return (int) Handles.REQUEST_CANCEL.invokeExact(request);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int isCancelled(long request) {
    try {
      return (int) Handles.REQUEST_IS_CANCELLED.invokeExact(request);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int batchOutput(
      long batch,
      int index,
      int datatype,
      int rank,
      long shape,
      long byteSize,
      long dataOut,
      long errorOut) {
    try {
      return (int)
          Handles.BATCH_OUTPUT.invokeExact(
              batch, index, datatype, rank, shape, byteSize, dataOut, errorOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int batchRequestOutput(
      long batch,
      int requestIndex,
      int index,
      int datatype,
      int rank,
      long shape,
      long byteSize,
      long dataOut,
      long errorOut) {
    try {
      return (int)
          Handles.BATCH_REQUEST_OUTPUT.invokeExact(
              batch, requestIndex, index, datatype, rank, shape, byteSize, dataOut, errorOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static int batchRequestRespond(long batch, int requestIndex, long errorOut) {
    try {
      return (int) Handles.BATCH_REQUEST_RESPOND.invokeExact(batch, requestIndex, errorOut);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }

  public static void batchRequestFail(
      long batch, int requestIndex, int code, long message, long messageSize) {
    try {
      Handles.BATCH_REQUEST_FAIL.invokeExact(batch, requestIndex, code, message, messageSize);
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
  }
}

package io.nereid.tensorrt;

import org.bytedeco.cuda.cudart.CUevent_st;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.global.cudart;

/** A stream of work for the device, with the wait for its end. One thread at a time. */
final class CudaStream implements AutoCloseable {

  private final CUstream_st stream = new CUstream_st();
  private final CUevent_st event = new CUevent_st();
  private final NativePointer to = new NativePointer();
  private final NativePointer from = new NativePointer();
  private final long spinNs;

  /**
   * Makes a stream on the calling thread's device.
   *
   * @param spinUs how long {@link #finish} spins before it sleeps
   */
  CudaStream(TensorRtOptions.Priority priority, long spinUs) {
    spinNs = spinUs * 1000;
    CudaRuntime.check(
        cudart.cudaStreamCreateWithPriority(stream, cudart.cudaStreamNonBlocking, number(priority)),
        "cudaStreamCreateWithPriority");
    int flags = cudart.cudaEventBlockingSync | cudart.cudaEventDisableTiming;
    int result = cudart.cudaEventCreateWithFlags(event, flags);
    if (result != cudart.cudaSuccess) {
      cudart.cudaStreamDestroy(stream);
      CudaRuntime.check(result, "cudaEventCreateWithFlags");
    }
  }

  /** CUDA's number for a priority, smaller for more urgent ones. */
  private static int number(TensorRtOptions.Priority priority) {
    int[] least = new int[1];
    int[] greatest = new int[1];
    CudaRuntime.check(
        cudart.cudaDeviceGetStreamPriorityRange(least, greatest),
        "cudaDeviceGetStreamPriorityRange");
    return switch (priority) {
      case MAX -> greatest[0];
      case MIN -> least[0];
      case DEFAULT -> 0; // the default of streams
    };
  }

  CUstream_st handle() {
    return stream;
  }

  /** Copies to the device; the source must not change until {@link #finish} has returned. */
  void copyIn(long device, long host, long byteSize) {
    copy(device, host, byteSize, cudart.cudaMemcpyHostToDevice);
  }

  /** Copies on the device; the source must not change until {@link #finish} has returned. */
  void copyWithin(long target, long source, long byteSize) {
    copy(target, source, byteSize, cudart.cudaMemcpyDeviceToDevice);
  }

  /** Fills memory of the device with zeros. */
  void clear(long device, long byteSize) {
    CudaRuntime.check(
        cudart.cudaMemsetAsync(to.at(device), 0, byteSize, stream), "cudaMemsetAsync");
  }

  /** Copies from the device; the bytes are there when {@link #finish} has returned. */
  void copyOut(long host, long device, long byteSize) {
    copy(host, device, byteSize, cudart.cudaMemcpyDeviceToHost);
  }

  private void copy(long target, long source, long byteSize, int kind) {
    CudaRuntime.check(
        cudart.cudaMemcpyAsync(to.at(target), from.at(source), byteSize, kind, stream),
        "cudaMemcpyAsync");
  }

  /** Waits until all work in the stream is done. */
  void finish() {
    CudaRuntime.check(cudart.cudaEventRecord(event, stream), "cudaEventRecord");
    long startNs = System.nanoTime();
    int result = cudart.cudaEventQuery(event);
    boolean waited = result == cudart.cudaErrorNotReady;
    while (result == cudart.cudaErrorNotReady && System.nanoTime() - startNs < spinNs) {
      Thread.onSpinWait();
      result = cudart.cudaEventQuery(event);
    }
    if (result == cudart.cudaErrorNotReady) {
      result = cudart.cudaEventSynchronize(event);
    }
    if (waited) {
      // "Not ready" is no error, but would stay as the thread's last error, which TensorRT reads.
      cudart.cudaGetLastError();
    }
    CudaRuntime.check(result, "executing on the device");
  }

  /** Waits, ignoring failures, so that the device uses no memory any more. */
  void settle() {
    cudart.cudaStreamSynchronize(stream);
    cudart.cudaGetLastError();
  }

  @Override
  public void close() {
    cudart.cudaEventDestroy(event);
    cudart.cudaStreamDestroy(stream);
  }
}

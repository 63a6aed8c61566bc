package io.nereid.benchmarks.peers;

import static org.bytedeco.tritonserver.global.tritonserver.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_InferenceRequest;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_InferenceResponse;

/**
 * A request of Triton's that is sent again and again, with memory of its own for input and output,
 * so that nothing is allocated for an answer.
 */
final class TritonRequest {

  private static final long ALIGNMENT = 64;

  /** The answer, and the request itself: both must be back before it is sent again. */
  private static final int PARTS = 2;

  private final TritonServer triton;
  private final Stamped stamped;
  private final MemorySegment output;
  private final Pointer outputPointer;
  private final Pointer number;
  private final Runnable done;
  private final TRITONSERVER_InferenceRequest request = new TRITONSERVER_InferenceRequest(null);
  private final AtomicInteger missing = new AtomicInteger();
  private volatile RuntimeException failure;

  /**
   * Makes a request.
   *
   * @param done called on a thread of Triton's when the answer is there and the request is back
   */
  TritonRequest(TritonServer triton, Workload workload, Runnable done) {
    this.triton = triton;
    this.done = done;
    stamped = new Stamped(workload);
    MemorySegment input = stamped.input();
    output = Arena.ofAuto().allocate(input.byteSize(), ALIGNMENT);
    outputPointer = new TritonCallbacks.Address(output.address());
    number = TritonCallbacks.register(this);
    TritonServer.check(
        TRITONSERVER_InferenceRequestNew(request, triton.server(), IdentityModel.NAME, -1));
    long[] shape = {1, workload.elements()};
    TritonServer.check(
        TRITONSERVER_InferenceRequestAddInput(
            request, IdentityModel.INPUT, TRITONSERVER_TYPE_FP32, shape, shape.length));
    TritonServer.check(
        TRITONSERVER_InferenceRequestAppendInputData(
            request,
            IdentityModel.INPUT,
            new TritonCallbacks.Address(input.address()),
            input.byteSize(),
            TRITONSERVER_MEMORY_CPU,
            0));
    TritonServer.check(
        TRITONSERVER_InferenceRequestSetReleaseCallback(request, TritonCallbacks.RELEASE, number));
  }

  void send() {
    stamped.next();
    missing.set(PARTS);
    // The core forgets it with each answer.
    TritonServer.check(
        TRITONSERVER_InferenceRequestSetResponseCallback(
            request, triton.allocator(), number, TritonCallbacks.COMPLETE, number));
    TritonServer.check(TRITONSERVER_ServerInferAsync(triton.server(), request, null));
  }

  /** Looks at the answer; from {@code done} on. */
  void check() {
    if (failure != null) {
      throw failure;
    }
    stamped.check(output);
  }

  Pointer outputFor(long byteSize) {
    if (byteSize != output.byteSize()) {
      failure =
          new IllegalStateException(
              "expected an output of " + output.byteSize() + " bytes, Triton asks for " + byteSize);
    }
    return outputPointer;
  }

  void completed(TRITONSERVER_InferenceResponse response) {
    try {
      TritonServer.check(TRITONSERVER_InferenceResponseError(response));
      TritonServer.check(TRITONSERVER_InferenceResponseDelete(response));
    } catch (RuntimeException e) {
      failure = e;
    }
    part();
  }

  void released() {
    part();
  }

  private void part() {
    if (missing.decrementAndGet() == 0) {
      done.run();
    }
  }

  void close() {
    TritonServer.check(TRITONSERVER_InferenceRequestDelete(request));
  }
}

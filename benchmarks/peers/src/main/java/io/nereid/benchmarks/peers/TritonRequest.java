package io.nereid.benchmarks.peers;

import static org.bytedeco.tritonserver.global.tritonserver.*;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_InferenceRequest;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_InferenceResponse;

/** A request of Triton's that is sent again and again, with an input of its own. */
final class TritonRequest {

  /** The answer, and the request itself: both must be back before it is sent again. */
  private static final int PARTS = 2;

  private final TritonServer triton;
  private final TritonOutputs outputs;
  private final Stamped stamped;
  private final Pointer number;
  private final Runnable done;
  private final TRITONSERVER_InferenceRequest request = new TRITONSERVER_InferenceRequest(null);
  private final AtomicInteger missing = new AtomicInteger();

  // Written by Triton's thread, read by whoever is told that all parts are there.
  private TritonOutputs.Output output;
  private TRITONSERVER_InferenceResponse response;

  /**
   * Makes a request.
   *
   * @param done called on a thread of Triton's when the answer is there and the request is back
   */
  TritonRequest(TritonServer triton, TritonOutputs outputs, Workload workload, Runnable done) {
    this.triton = triton;
    this.outputs = outputs;
    this.done = done;
    stamped = new Stamped(workload);
    number = TritonCallbacks.register(this);
    TritonServer.check(
        TRITONSERVER_InferenceRequestNew(request, triton.server(), IdentityModel.NAME, -1));
    long[] shape = {1, workload.elements()};
    TritonServer.check(
        TRITONSERVER_InferenceRequestAddInput(
            request, IdentityModel.INPUT, TRITONSERVER_TYPE_FP32, shape, shape.length));
    MemorySegment input = stamped.input();
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

  /** Looks at the answer and gives it back; once after each {@code done}. */
  void finish() {
    try {
      TritonServer.check(TRITONSERVER_InferenceResponseError(response));
      stamped.check(output.segment());
    } finally {
      TritonServer.check(TRITONSERVER_InferenceResponseDelete(response));
      if (output != null) {
        outputs.give(output);
        output = null;
      }
    }
  }

  Pointer outputFor(long byteSize) {
    output = outputs.take(byteSize);
    return output.pointer();
  }

  void completed(TRITONSERVER_InferenceResponse completed) {
    response = completed;
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

package io.nereid.benchmarks.peers;

import static org.bytedeco.tritonserver.global.tritonserver.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_InferenceRequest;

/**
 * A request of Triton's that is sent again and again, with an input of its own. The two classes
 * that extend it say how it is sent and how its answer comes back.
 */
abstract class TritonRequest {

  /** The most requests that a process can have. */
  private static final int CAPACITY = 8192;

  /** The answer, and the request itself: both must be back before it is sent again. */
  private static final int PARTS = 2;

  /** The requests, by the number that Triton passes back as user pointer. */
  private static final AtomicReferenceArray<TritonRequest> REQUESTS =
      new AtomicReferenceArray<>(CAPACITY);

  private static final AtomicInteger LAST_NUMBER = new AtomicInteger();

  private final Outputs outputs;
  private final IdentityRequest stamped;
  private final Runnable done;
  private final long number = LAST_NUMBER.incrementAndGet();
  private final TRITONSERVER_InferenceRequest request = new TRITONSERVER_InferenceRequest(null);
  private final AtomicInteger missing = new AtomicInteger();

  /** Written by Triton's thread, read by whoever is told that all parts are there. */
  private Outputs.Output output;

  /**
   * Makes a request.
   *
   * @param done called on a thread of Triton's when the answer is there and the request is back
   */
  TritonRequest(TritonServer triton, Outputs outputs, Workload workload, Runnable done) {
    this.outputs = outputs;
    this.done = done;
    stamped = new IdentityRequest(workload);
    TritonServer.check(
        TRITONSERVER_InferenceRequestNew(request, triton.server(), IdentityRequest.NAME, -1));
    long[] shape = {1, workload.elements()};
    TritonServer.check(
        TRITONSERVER_InferenceRequestAddInput(
            request, IdentityRequest.INPUT, TRITONSERVER_TYPE_FP32, shape, shape.length));
    MemorySegment input = stamped.input();
    TritonServer.check(
        TRITONSERVER_InferenceRequestAppendInputData(
            request,
            IdentityRequest.INPUT,
            new Address(input.address()),
            input.byteSize(),
            TRITONSERVER_MEMORY_CPU,
            0));
  }

  /** A pointer to memory of somebody else's, or a number that passes for one. */
  static final class Address extends Pointer {
    Address(long address) {
      this.address = address;
    }
  }

  /** Last in a constructor: from then on Triton's calls find it. */
  final void register() {
    REQUESTS.set((int) number, this);
  }

  static TritonRequest numbered(long number) {
    return REQUESTS.getPlain((int) number);
  }

  final long number() {
    return number;
  }

  final TRITONSERVER_InferenceRequest request() {
    return request;
  }

  final void send() {
    stamped.next();
    missing.set(PARTS);
    submit();
  }

  /** Looks at the answer and gives it back; once after each {@code done}. */
  final void finish() {
    try {
      checkResponse();
      stamped.check(output.segment());
    } finally {
      deleteResponse();
      if (output != null) {
        outputs.give(output);
        output = null;
      }
    }
  }

  /** Tells the core where the answer goes, which it forgets each time, and sends. */
  abstract void submit();

  /** Throws what the response says is wrong. */
  abstract void checkResponse();

  abstract void deleteResponse();

  final Outputs.Output takeOutput(long byteSize) {
    output = outputs.take(byteSize);
    return output;
  }

  /** The response, or the request, is back. */
  final void part() {
    if (missing.decrementAndGet() == 0) {
      done.run();
    }
  }

  final void close() {
    TritonServer.check(TRITONSERVER_InferenceRequestDelete(request));
    REQUESTS.set((int) number, null);
  }

  /**
   * Memory for Triton's outputs. Memory that was given back last is given out first, because the
   * processor's caches still have it.
   */
  static final class Outputs {

    private static final long ALIGNMENT = 64;

    /** The same memory for Java and for JavaCPP. */
    record Output(MemorySegment segment, Pointer pointer) {}

    private final long byteSize;
    private final ArrayDeque<Output> free = new ArrayDeque<>();

    Outputs(Workload workload) {
      byteSize = (long) workload.elements() * Float.BYTES;
    }

    Output take(long wantedByteSize) {
      if (wantedByteSize != byteSize) {
        throw new IllegalStateException(
            "expected outputs of %d bytes, Triton asks for %d".formatted(byteSize, wantedByteSize));
      }
      synchronized (free) {
        if (!free.isEmpty()) {
          return free.pop();
        }
      }
      MemorySegment segment = Arena.ofAuto().allocate(byteSize, ALIGNMENT);
      return new Output(segment, new TritonRequest.Address(segment.address()));
    }

    void give(Output output) {
      synchronized (free) {
        free.push(output);
      }
    }
  }
}

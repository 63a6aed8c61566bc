package io.nereid.benchmarks.peers;

import static org.bytedeco.tritonserver.global.tritonserver.TRITONSERVER_MEMORY_CPU;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.bytedeco.javacpp.IntPointer;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_Error;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_InferenceRequest;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_InferenceRequestReleaseFn_t;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_InferenceResponse;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_InferenceResponseCompleteFn_t;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_ResponseAllocator;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_ResponseAllocatorAllocFn_t;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_ResponseAllocatorReleaseFn_t;

/**
 * What Triton's core calls, on its own threads. JavaCPP has room for few functions of a kind, so
 * there is one of each; the number that a request gives as user pointer says whose call it is.
 */
final class TritonCallbacks {

  static final Allocate ALLOCATE = new Allocate();
  static final Free FREE = new Free();
  static final Complete COMPLETE = new Complete();
  static final Release RELEASE = new Release();

  /** How many requests a process can have. */
  private static final int CAPACITY = 4096;

  private static final AtomicReferenceArray<TritonRequest> REQUESTS =
      new AtomicReferenceArray<>(CAPACITY);
  private static final AtomicInteger LAST = new AtomicInteger();

  private TritonCallbacks() {}

  /** The user pointer for the calls of a request; for good. */
  static Pointer register(TritonRequest request) {
    int number = LAST.incrementAndGet();
    REQUESTS.set(number, request);
    return new Address(number);
  }

  private static TritonRequest request(Pointer userData) {
    return REQUESTS.getPlain((int) userData.address());
  }

  /** A pointer to memory of somebody else's, or a number that passes for one. */
  static final class Address extends Pointer {
    Address(long address) {
      this.address = address;
    }
  }

  static final class Allocate extends TRITONSERVER_ResponseAllocatorAllocFn_t {
    @Override
    @SuppressWarnings("rawtypes") // as JavaCPP declares it
    public TRITONSERVER_Error call(
        TRITONSERVER_ResponseAllocator allocator,
        String tensorName,
        long byteSize,
        int memoryType,
        long memoryTypeId,
        Pointer userData,
        PointerPointer buffer,
        PointerPointer bufferUserData,
        IntPointer actualMemoryType,
        LongPointer actualMemoryTypeId) {
      buffer.put(0, request(userData).outputFor(byteSize));
      actualMemoryType.put(0, TRITONSERVER_MEMORY_CPU);
      actualMemoryTypeId.put(0, 0);
      return null;
    }
  }

  /** Whoever deletes a response gives its output back; see {@link TritonRequest#finish}. */
  static final class Free extends TRITONSERVER_ResponseAllocatorReleaseFn_t {
    @Override
    public TRITONSERVER_Error call(
        TRITONSERVER_ResponseAllocator allocator,
        Pointer buffer,
        Pointer bufferUserData,
        long byteSize,
        int memoryType,
        long memoryTypeId) {
      return null;
    }
  }

  static final class Complete extends TRITONSERVER_InferenceResponseCompleteFn_t {
    @Override
    public void call(TRITONSERVER_InferenceResponse response, int flags, Pointer userData) {
      request(userData).completed(response);
    }
  }

  static final class Release extends TRITONSERVER_InferenceRequestReleaseFn_t {
    @Override
    public void call(TRITONSERVER_InferenceRequest request, int flags, Pointer userData) {
      request(userData).released();
    }
  }
}

package io.nereid.benchmarks.peers;

import static org.bytedeco.tritonserver.global.tritonserver.*;

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

/** A request that goes and comes back through JavaCPP's functions. */
final class JavaCppRequest extends TritonRequest {

  // JavaCPP has room for few functions of a kind, so there is one of each.
  private static final Allocate ALLOCATE = new Allocate();
  private static final Free FREE = new Free();
  private static final Complete COMPLETE = new Complete();
  private static final Release RELEASE = new Release();

  private final TritonServer triton;
  private final Pointer userData = new Address(number());
  private TRITONSERVER_InferenceResponse response;

  JavaCppRequest(
      TritonServer triton, TritonRequest.Outputs outputs, Workload workload, Runnable done) {
    super(triton, outputs, workload, done);
    this.triton = triton;
    TritonServer.check(
        TRITONSERVER_InferenceRequestSetReleaseCallback(request(), RELEASE, userData));
    register();
  }

  static TRITONSERVER_ResponseAllocator newAllocator() {
    TRITONSERVER_ResponseAllocator allocator = new TRITONSERVER_ResponseAllocator(null);
    TritonServer.check(TRITONSERVER_ResponseAllocatorNew(allocator, ALLOCATE, FREE, null));
    return allocator;
  }

  @Override
  void submit() {
    TritonServer.check(
        TRITONSERVER_InferenceRequestSetResponseCallback(
            request(), triton.allocator(), userData, COMPLETE, userData));
    TritonServer.check(TRITONSERVER_ServerInferAsync(triton.server(), request(), null));
  }

  @Override
  void checkResponse() {
    TritonServer.check(TRITONSERVER_InferenceResponseError(response));
  }

  @Override
  void deleteResponse() {
    TritonServer.check(TRITONSERVER_InferenceResponseDelete(response));
  }

  // ---- What Triton's core calls, on its own threads ---------------------------------------------

  private static TritonRequest of(Pointer userData) {
    return numbered(userData.address());
  }

  private static final class Allocate extends TRITONSERVER_ResponseAllocatorAllocFn_t {
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
      buffer.put(0, of(userData).takeOutput(byteSize).pointer());
      actualMemoryType.put(0, TRITONSERVER_MEMORY_CPU);
      actualMemoryTypeId.put(0, 0);
      return null;
    }
  }

  /** Does nothing: the code that deletes a response gives its output back; see {@link #finish}. */
  private static final class Free extends TRITONSERVER_ResponseAllocatorReleaseFn_t {
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

  private static final class Complete extends TRITONSERVER_InferenceResponseCompleteFn_t {
    @Override
    public void call(TRITONSERVER_InferenceResponse response, int flags, Pointer userData) {
      JavaCppRequest request = (JavaCppRequest) of(userData);
      request.response = response;
      request.part();
    }
  }

  private static final class Release extends TRITONSERVER_InferenceRequestReleaseFn_t {
    @Override
    public void call(TRITONSERVER_InferenceRequest request, int flags, Pointer userData) {
      of(userData).part();
    }
  }
}

package io.nereid.benchmarks.peers;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.bytedeco.tritonserver.global.tritonserver.TRITONSERVER_MEMORY_CPU;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_Error;
import org.bytedeco.tritonserver.tritonserver.TRITONSERVER_ResponseAllocator;

/** A request that goes and comes back through Java's foreign functions. */
final class ForeignRequest extends TritonRequest {

  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
  private static final long ALLOCATE =
      TritonFunctions.callback(LOOKUP, "allocate", TritonFunctions.ALLOCATE);
  private static final long FREE = TritonFunctions.callback(LOOKUP, "free", TritonFunctions.FREE);
  private static final long COMPLETE =
      TritonFunctions.callback(LOOKUP, "complete", TritonFunctions.TOLD);
  private static final long RELEASE =
      TritonFunctions.callback(LOOKUP, "release", TritonFunctions.TOLD);

  /** For writing where the core says. */
  private static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private final TritonFunctions functions;
  private final long server;
  private final long allocator;
  private final long handle;
  private long response;

  ForeignRequest(
      TritonServer triton,
      TritonFunctions functions,
      TritonRequest.Outputs outputs,
      Workload workload,
      Runnable done) {
    super(triton, outputs, workload, done);
    this.functions = functions;
    server = triton.server().address();
    allocator = triton.allocator().address();
    handle = request().address();
    check(functions.setReleaseCallback(handle, RELEASE, number()));
    register();
  }

  static TRITONSERVER_ResponseAllocator newAllocator(TritonFunctions functions) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      check(functions.allocatorNew(out.address(), ALLOCATE, FREE));
      return new TRITONSERVER_ResponseAllocator(new Address(out.get(JAVA_LONG, 0)));
    }
  }

  private static void check(long error) {
    if (error != 0) {
      TritonServer.check(new TRITONSERVER_Error(new Address(error)));
    }
  }

  @Override
  void submit() {
    check(functions.setResponseCallback(handle, allocator, COMPLETE, number()));
    check(functions.inferAsync(server, handle));
  }

  @Override
  void checkResponse() {
    check(functions.responseError(response));
  }

  @Override
  void deleteResponse() {
    check(functions.responseDelete(response));
  }

  // ---- What Triton's core calls, on its own threads; nothing may be thrown into it --------------

  @SuppressWarnings("unused") // called by name
  private static long allocate(
      long allocator,
      long tensorName,
      long byteSize,
      int memoryType,
      long memoryTypeId,
      long userData,
      long bufferOut,
      long bufferUserDataOut,
      long memoryTypeOut,
      long memoryTypeIdOut) {
    MEMORY.set(JAVA_LONG, bufferOut, numbered(userData).takeOutput(byteSize).pointer().address());
    MEMORY.set(JAVA_LONG, bufferUserDataOut, 0);
    MEMORY.set(JAVA_INT, memoryTypeOut, TRITONSERVER_MEMORY_CPU);
    MEMORY.set(JAVA_LONG, memoryTypeIdOut, 0);
    return 0;
  }

  /** Does nothing: the code that deletes a response gives its output back; see {@link #finish}. */
  @SuppressWarnings("unused") // called by name
  private static long free(
      long allocator,
      long buffer,
      long bufferUserData,
      long byteSize,
      int memoryType,
      long memoryTypeId) {
    return 0;
  }

  @SuppressWarnings("unused") // called by name
  private static void complete(long response, int flags, long userData) {
    ForeignRequest request = (ForeignRequest) numbered(userData);
    request.response = response;
    request.part();
  }

  @SuppressWarnings("unused") // called by name
  private static void release(long request, int flags, long userData) {
    numbered(userData).part();
  }
}

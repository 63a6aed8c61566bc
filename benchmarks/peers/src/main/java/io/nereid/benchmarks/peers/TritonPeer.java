package io.nereid.benchmarks.peers;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.benchmarks.peers.Plan.Workload;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Triton's core with the identity model, set up for speed: no metrics, no logs but errors, no rate
 * limiter; requests that are made once and sent again.
 */
final class TritonPeer implements Peer {

  private static final int EXIT_TIMEOUT_S = 10;
  private static final int FP32 = 11;
  private static final int MEMORY_CPU = 0;

  /** The most requests that a process can have. */
  private static final int CAPACITY = 8192;

  /** The answer, and the request itself: both must be back before it is sent again. */
  private static final int PARTS = 2;

  // Pointers are numbers here, so that no call makes an object.
  private static final MethodHandle SET_RESPONSE_CALLBACK =
      TritonCalls.function("InferenceRequestSetResponseCallback", 5);
  private static final MethodHandle INFER_ASYNC = TritonCalls.function("ServerInferAsync", 3);
  private static final MethodHandle RESPONSE_ERROR =
      TritonCalls.function("InferenceResponseError", 1);
  private static final MethodHandle RESPONSE_DELETE =
      TritonCalls.function("InferenceResponseDelete", 1);

  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
  private static final FunctionDescriptor TOLD =
      FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final long ALLOCATE =
      TritonCalls.callback(
          LOOKUP,
          "allocate",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
              JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final long FREE =
      TritonCalls.callback(
          LOOKUP,
          "free",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
  private static final long COMPLETE = TritonCalls.callback(LOOKUP, "complete", TOLD);
  private static final long RELEASE = TritonCalls.callback(LOOKUP, "release", TOLD);

  /** The requests, by the number that Triton passes back as user pointer. */
  private static final AtomicReferenceArray<Request> REQUESTS =
      new AtomicReferenceArray<>(CAPACITY);

  private static final AtomicInteger LAST_NUMBER = new AtomicInteger();

  private final Workload workload;
  private final long server;
  private final long allocator = TritonCalls.make("ResponseAllocatorNew", ALLOCATE, FREE, 0L);

  /** Outputs given back last are taken first, because the processor's caches still have them. */
  private final ArrayDeque<MemorySegment> outputs = new ArrayDeque<>();

  TritonPeer(Workload workload, Places places) {
    this.workload = workload;
    long options = TritonCalls.make("ServerOptionsNew");
    set(options, "ServerId", TritonCalls.text("peer"));
    set(options, "ModelRepositoryPath", TritonCalls.text(places.repository()));
    set(options, "BackendDirectory", TritonCalls.text(places.backends()));
    set(options, "ModelControlMode", 0); // none
    set(options, "RateLimiterMode", 0); // off
    set(options, "Metrics", false);
    set(options, "GpuMetrics", false);
    set(options, "CpuMetrics", false);
    set(options, "PinnedMemoryPoolByteSize", 0L);
    set(options, "LogInfo", false);
    set(options, "LogWarn", false);
    set(options, "ExitTimeout", EXIT_TIMEOUT_S);
    server = TritonCalls.make("ServerNew", options);
    TritonCalls.call("ServerOptionsDelete", options);
  }

  private static void set(long options, String name, Object value) {
    TritonCalls.call("ServerOptionsSet" + name, options, value);
  }

  @Override
  public Caller waiting() {
    return new Waiting();
  }

  @Override
  public Caller calling(Consumer<Throwable> answered) {
    Request[] request = new Request[1];
    request[0] =
        new Request(() -> {
          try {
            request[0].finish();
          } catch (RuntimeException e) {
            answered.accept(e);
            return;
          }
          answered.accept(null);
        });
    return request[0];
  }

  @Override
  public void close() {
    TritonCalls.call("ServerStop", server);
    TritonCalls.call("ResponseAllocatorDelete", allocator);
    TritonCalls.call("ServerDelete", server);
  }

  private MemorySegment takeOutput(long byteSize) {
    synchronized (outputs) {
      if (!outputs.isEmpty()) {
        return outputs.pop();
      }
    }
    return Question.allocate(byteSize);
  }

  private void giveOutput(MemorySegment output) {
    synchronized (outputs) {
      outputs.push(output);
    }
  }

  private final class Waiting implements Caller {

    private final Request request = new Request(this::wake);
    private Thread caller;
    private volatile boolean pending;

    @Override
    public void send() {
      caller = Thread.currentThread();
      pending = true;
      request.send();
      while (pending) {
        LockSupport.park(this);
      }
      request.finish();
    }

    private void wake() {
      Thread waiting = caller;
      pending = false;
      LockSupport.unpark(waiting);
    }

    @Override
    public void close() {
      request.close();
    }
  }

  /** A request that is sent again and again, with an input of its own. */
  private final class Request implements Caller {

    private final Question question = Question.of(workload);
    private final long number = LAST_NUMBER.incrementAndGet();
    private final long handle =
        TritonCalls.make("InferenceRequestNew", server, TritonCalls.text("identity"), -1L);
    private final AtomicInteger missing = new AtomicInteger();
    private final Runnable done;

    // Written by Triton's thread, read by the one that is told that all parts are there.
    private long response;
    private MemorySegment output;

    /** Makes a request whose {@code done} a thread of Triton's calls when all parts are back. */
    Request(Runnable done) {
      this.done = done;
      Question.Input input = question.inputs().getFirst();
      MemorySegment name = TritonCalls.text(input.name());
      MemorySegment shape = Question.allocate((long) input.shape().length * Long.BYTES);
      MemorySegment.copy(input.shape(), 0, shape, JAVA_LONG, 0, input.shape().length);
      long rank = input.shape().length;
      TritonCalls.call("InferenceRequestAddInput", handle, name, FP32, shape, rank);
      long byteSize = input.data().byteSize();
      TritonCalls.call(
          "InferenceRequestAppendInputData", handle, name, input.data(), byteSize, MEMORY_CPU, 0L);
      TritonCalls.call("InferenceRequestSetReleaseCallback", handle, RELEASE, number);
      REQUESTS.set((int) number, this);
    }

    /** Tells the core where the answer goes, which it forgets each time, and sends. */
    @Override
    public void send() {
      question.next();
      missing.set(PARTS);
      try {
        TritonCalls.check(
            (long) SET_RESPONSE_CALLBACK.invokeExact(handle, allocator, number, COMPLETE, number));
        TritonCalls.check((long) INFER_ASYNC.invokeExact(server, handle, 0L));
      } catch (Throwable t) {
        throw TritonCalls.failed(t);
      }
    }

    /** Looks at the answer and gives it back; once after each {@code done}. */
    void finish() {
      try {
        TritonCalls.check((long) RESPONSE_ERROR.invokeExact(response));
        question.check(output);
        TritonCalls.check((long) RESPONSE_DELETE.invokeExact(response));
      } catch (Throwable t) {
        throw TritonCalls.failed(t);
      }
      giveOutput(output);
    }

    private void part() {
      if (missing.decrementAndGet() == 0) {
        done.run();
      }
    }

    @Override
    public void close() {
      TritonCalls.call("InferenceRequestDelete", handle);
      REQUESTS.set((int) number, null);
    }

    private MemorySegment allocateOutput(long byteSize) {
      output = takeOutput(byteSize);
      return output;
    }
  }

  // ---- What Triton's core calls, on its own threads; nothing may be thrown into it --------------

  private static Request numbered(long number) {
    return REQUESTS.getPlain((int) number);
  }

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
    MemorySegment memory = TritonCalls.MEMORY;
    memory.set(JAVA_LONG, bufferOut, numbered(userData).allocateOutput(byteSize).address());
    memory.set(JAVA_LONG, bufferUserDataOut, 0);
    memory.set(JAVA_INT, memoryTypeOut, MEMORY_CPU);
    memory.set(JAVA_LONG, memoryTypeIdOut, 0);
    return 0;
  }

  /** Does nothing: {@link Request#finish} gives the output back. */
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
    Request request = numbered(userData);
    request.response = response;
    request.part();
  }

  @SuppressWarnings("unused") // called by name
  private static void release(long request, int flags, long userData) {
    numbered(userData).part();
  }
}

package io.nereid.benchmarks.peers;

import java.util.concurrent.locks.LockSupport;

/** Triton's core with the identity model. */
final class TritonIdentity implements Contender {

  /** The functions by which requests reach the core; all else is JavaCPP's in either case. */
  enum Calls {
    JAVACPP,
    FOREIGN
  }

  private final TritonServer triton;
  private final TritonFunctions functions; // null: JavaCPP's
  private final Workload workload;
  private final TritonRequest.Outputs outputs;

  TritonIdentity(Places places, Workload workload, Calls calls) {
    triton = new TritonServer(places);
    functions = calls == Calls.FOREIGN ? new TritonFunctions(places.tritonLibrary()) : null;
    triton.allocateBy(
        functions == null ? JavaCppRequest.newAllocator() : ForeignRequest.newAllocator(functions));
    this.workload = workload;
    outputs = new TritonRequest.Outputs(workload);
  }

  /** A request; {@code done} as in {@link TritonRequest}. */
  private TritonRequest newRequest(Runnable done) {
    return functions == null
        ? new JavaCppRequest(triton, outputs, workload, done)
        : new ForeignRequest(triton, functions, outputs, workload, done);
  }

  @Override
  public Caller caller() {
    return new Waiting();
  }

  @Override
  public Sender sender(Answers answers) {
    return new Resending(answers);
  }

  @Override
  public void close() {
    triton.close();
  }

  private final class Waiting implements Caller {

    private final TritonRequest request = newRequest(this::wake);
    private Thread caller;
    private volatile boolean pending;

    @Override
    public void call() {
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

  private final class Resending implements Sender {

    private final TritonRequest request = newRequest(this::answered);
    private final Answers answers;

    Resending(Answers answers) {
      this.answers = answers;
    }

    private void answered() {
      try {
        request.finish();
      } catch (RuntimeException e) {
        answers.failed(e);
        return;
      }
      answers.answered();
    }

    @Override
    public void send() {
      request.send();
    }

    @Override
    public void close() {
      request.close();
    }
  }
}

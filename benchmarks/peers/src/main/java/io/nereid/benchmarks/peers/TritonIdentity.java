package io.nereid.benchmarks.peers;

import java.util.concurrent.locks.LockSupport;

/** Triton's core with the identity model. */
final class TritonIdentity implements Contender {

  private final TritonServer triton;
  private final Workload workload;
  private final TritonOutputs outputs;

  TritonIdentity(Places places, Workload workload, TritonServer.Calls calls) {
    triton = new TritonServer(places, calls);
    this.workload = workload;
    outputs = new TritonOutputs(workload);
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

    private final TritonRequest request = triton.newRequest(outputs, workload, this::wake);
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

    private final TritonRequest request = triton.newRequest(outputs, workload, this::answered);
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

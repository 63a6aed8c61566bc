package io.nereid.benchmarks.peers;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.ResponseListener;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.nio.file.Path;

/** Nereid with the identity model of a repository that Triton reads as well. */
final class NereidIdentity implements Contender {

  private final Nereid nereid;
  private final Model model;
  private final Workload workload;

  NereidIdentity(Path repository, Workload workload) {
    nereid = Nereid.open(repository);
    model = nereid.model(IdentityRequest.NAME);
    this.workload = workload;
  }

  @Override
  public Caller caller() {
    return new Waiting();
  }

  @Override
  public Sender sender(Answers answers) {
    return new Listening(answers);
  }

  @Override
  public void close() {
    nereid.close();
  }

  private final class Waiting implements Caller {

    private final IdentityRequest stamped = new IdentityRequest(workload);
    private final Tensor input = Tensor.of(DataType.FP32, stamped.input(), 1, workload.elements());

    @Override
    public void call() {
      stamped.next();
      try (var request = model.newRequest().input(IdentityRequest.INPUT, input);
          var response = request.infer()) {
        stamped.check(response.output(IdentityRequest.OUTPUT).segment());
      }
    }

    @Override
    public void close() {}
  }

  private final class Listening implements Sender, ResponseListener {

    private final IdentityRequest stamped = new IdentityRequest(workload);
    private final Tensor input = Tensor.of(DataType.FP32, stamped.input(), 1, workload.elements());
    private final Answers answers;

    Listening(Answers answers) {
      this.answers = answers;
    }

    @Override
    public void send() {
      stamped.next();
      try (InferRequest request = model.newRequest().input(IdentityRequest.INPUT, input)) {
        // Inline, each answer would send the next request from within the sending of its own.
        request.submit(this, false);
      }
    }

    @Override
    public void onResponse(InferResponse response) {
      try (response) {
        stamped.check(response.output(IdentityRequest.OUTPUT).segment());
      } catch (RuntimeException e) {
        answers.failed(e);
        return;
      }
      answers.answered();
    }

    @Override
    public void onFailure(NereidException failure) {
      answers.failed(failure);
    }

    @Override
    public void close() {}
  }
}

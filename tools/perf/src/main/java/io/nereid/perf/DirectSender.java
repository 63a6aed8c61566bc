package io.nereid.perf;

import io.nereid.recording.RecordedCall;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** Sends recorded requests to a runtime of this process, without a wire. */
final class DirectSender extends Sender {

  private final Function<RecordedCall, CompletionStage<?>> runtime;
  private final SendingRun run;
  private RecordedCall call;

  private DirectSender(
      int index, Function<RecordedCall, CompletionStage<?>> runtime, SendingRun run) {
    super(index, new Tally(), null);
    this.runtime = runtime;
    this.run = run;
  }

  void take(RecordedCall next) {
    call = next;
  }

  @Override
  void load(Encoded message, byte[] head) {
    throw new IllegalStateException("a runtime takes requests as they were recorded");
  }

  @Override
  void send() {
    try {
      runtime.apply(call).whenComplete((answer, failure) -> ended(failure));
    } catch (NereidException e) {
      ended(e);
    }
  }

  private void ended(Throwable failure) {
    if (failure == null) {
      run.succeeded(this, System.nanoTime());
      return;
    }
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    StatusCode code = cause instanceof NereidException known ? known.code() : StatusCode.INTERNAL;
    run.failed(this, code.name(), cause.getMessage());
    run.ready(this, System.nanoTime());
  }

  @Override
  void close() {}

  /** Makes as many as are wanted. */
  record Senders(Function<RecordedCall, CompletionStage<?>> runtime) implements LoadRun.Senders {
    @Override
    public Sender open(int index, SendingRun run) {
      return new DirectSender(index, runtime, run);
    }

    @Override
    public List<Tally> tallies() {
      return List.of();
    }

    @Override
    public void close() {}
  }
}

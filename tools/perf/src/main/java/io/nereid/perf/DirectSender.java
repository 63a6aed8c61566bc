package io.nereid.perf;

import io.nereid.recording.RecordedCall;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/** Sends requests to a runtime of this process, without a network. */
final class DirectSender extends Sender {

  private final SendingRun run;
  private final Runnable request;
  private RecordedCall call;

  private DirectSender(int index, Function<DirectSender, Runnable> requests, SendingRun run) {
    super(index, new Tally(), new Requests.Position(index, null));
    this.run = run;
    request = requests.apply(this);
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
      request.run();
    } catch (RuntimeException e) {
      ended(e);
    }
  }

  /** Ends the request, with null if it was answered. */
  void ended(Throwable failure) {
    if (failure == null) {
      run.succeeded(this, System.nanoTime());
      return;
    }
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    StatusCode code = cause instanceof NereidException known ? known.code() : StatusCode.INTERNAL;
    run.failed(this, code.name(), cause.getMessage());
    // On another thread: a request that fails while it is sent would send the next one recursively.
    OPENERS.execute(() -> run.ready(this, System.nanoTime()));
  }

  @Override
  void close() {}

  /** Makes senders, each with the action that sends its requests. */
  record Senders(Function<DirectSender, Runnable> requests, List<Tally> tallies)
      implements LoadRun.Senders {

    Senders(Function<DirectSender, Runnable> requests) {
      this(requests, new CopyOnWriteArrayList<>());
    }

    /** Makes senders of recorded requests. */
    static Senders recorded(Function<RecordedCall, CompletionStage<?>> runtime) {
      return new Senders(sender ->
          () ->
              runtime.apply(sender.call).whenComplete((answer, failure) -> sender.ended(failure)));
    }

    @Override
    public Sender open(int index, SendingRun run) {
      DirectSender sender = new DirectSender(index, requests, run);
      tallies.add(sender.tally());
      return sender;
    }

    @Override
    public void close() {}
  }
}

package io.nereid.perf;

import io.nereid.recording.RecordedCall;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** Sends recorded requests to a runtime of this process, without a wire. */
final class DirectSender extends Sender {

  private final BiConsumer<RecordedCall, Consumer<String>> runtime;
  private final SendingRun run;
  private RecordedCall call;

  private DirectSender(
      int index, BiConsumer<RecordedCall, Consumer<String>> runtime, SendingRun run) {
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
    Consumer<String> ended =
        failure -> {
          if (failure == null) {
            run.succeeded(this, System.nanoTime());
          } else {
            int colon = failure.indexOf(": ");
            run.failed(this, failure.substring(0, colon), failure.substring(colon + 2));
            run.ready(this, System.nanoTime());
          }
        };
    runtime.accept(call, ended);
  }

  @Override
  void close() {}

  /** Makes as many as are wanted. */
  record Senders(BiConsumer<RecordedCall, Consumer<String>> runtime) implements LoadRun.Senders {
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

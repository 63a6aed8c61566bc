package io.nereid.perf;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;

/**
 * Sends requests on its own stream of ModelStreamInfer, each after the previous one's last
 * response. Opens a stream that ended again.
 */
final class GrpcStreamSender extends Sender {

  private final int channel;
  private final GrpcSenders senders;
  private final SendingRun run;
  private ClientCall<RawMessage, RawMessage.StreamReply> call; // null: none is open
  private Encoded loaded;
  private byte[] loadedHead;
  private RawMessage message;
  private boolean awaiting;
  private int responses; // responses to the request under way
  private long lastResponseNs;

  GrpcStreamSender(
      int index, int channel, GrpcSenders senders, SendingRun run, Requests.Position position) {
    super(index, senders.tally(channel), position);
    this.channel = channel;
    this.senders = senders;
    this.run = run;
  }

  @Override
  void load(Encoded encoded, byte[] head) {
    if (loaded != encoded || loadedHead != head) {
      loaded = encoded;
      loadedHead = head;
      message = new RawMessage(head, encoded.tail());
    }
  }

  @Override
  void send() {
    responses = 0;
    awaiting = true;
    if (call == null) {
      call = senders.stream(channel);
      call.start(new Answers(), senders.freshHeaders());
      call.request(1);
    }
    call.sendMessage(message);
  }

  private final class Answers extends ClientCall.Listener<RawMessage.StreamReply> {
    @Override
    public void onMessage(RawMessage.StreamReply reply) {
      call.request(1);
      long nowNs = System.nanoTime();
      if (!awaiting) {
        return; // from a model that answers after its final response
      }
      if (!reply.error().isEmpty()) {
        awaiting = false;
        run.failed(GrpcStreamSender.this, "stream error", ErrorText.of(reply.error()));
        senders.later(() -> run.ready(GrpcStreamSender.this, System.nanoTime()), 0);
        return;
      }
      if (reply.hasOutputs()) {
        count(nowNs);
        String fault = reply.message() == null ? null : senders.fault(reply.message());
        if (fault != null) {
          awaiting = false;
          run.failed(GrpcStreamSender.this, "wrong reply", fault);
          senders.later(() -> run.ready(GrpcStreamSender.this, System.nanoTime()), 0);
          return;
        }
      }
      // A model that is not decoupled answers once, and not every server marks that as final.
      if (reply.saysFinal() ? reply.isFinal() : !senders.decoupled()) {
        awaiting = false;
        run.succeeded(GrpcStreamSender.this, nowNs);
      }
    }

    private void count(long nowNs) {
      if (responses++ == 0) {
        tally().firstResponse(nowNs - intendedNs());
      } else {
        tally().furtherResponse(nowNs - lastResponseNs);
      }
      lastResponseNs = nowNs;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      call = null;
      if (!awaiting) {
        return;
      }
      awaiting = false;
      String code = status.isOk() ? "stream ended" : status.getCode().name();
      run.failed(GrpcStreamSender.this, code, GrpcSenders.text(status));
      senders.later(
          () -> run.ready(GrpcStreamSender.this, System.nanoTime()), GrpcSenders.PAUSE_MS);
    }
  }

  @Override
  void close() {
    ClientCall<RawMessage, RawMessage.StreamReply> open = call;
    if (open != null) {
      open.cancel("the run is over", null);
    }
  }
}

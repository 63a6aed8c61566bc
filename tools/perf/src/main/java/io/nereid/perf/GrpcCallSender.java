package io.nereid.perf;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;

/** Sends one call of ModelInfer after another. Threads of its channel's event loop drive it. */
final class GrpcCallSender extends Sender {

  private final int channel;
  private final GrpcSenders senders;
  private final SendingRun run;
  private RawMessage message;
  private byte[] loadedHead;
  private byte[] loadedTail;

  GrpcCallSender(
      int index, int channel, GrpcSenders senders, SendingRun run, Requests.Position position) {
    super(index, senders.tally(channel), position);
    this.channel = channel;
    this.senders = senders;
    this.run = run;
  }

  @Override
  void load(Encoded encoded, byte[] head) {
    if (loadedHead != head || loadedTail != encoded.tail()) {
      loadedHead = head;
      loadedTail = encoded.tail();
      message = new RawMessage(head, encoded.tail());
    }
  }

  @Override
  void send() {
    ClientCall<RawMessage, byte[]> call = senders.call(channel, allowedNs());
    call.start(new Answer(), senders.freshHeaders());
    call.request(2); // to notice a second reply, which would be a fault
    call.sendMessage(message);
    call.halfClose();
  }

  private final class Answer extends ClientCall.Listener<byte[]> {
    private byte[] reply;

    @Override
    public void onMessage(byte[] received) {
      reply = received;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (status.isOk()) {
        String fault = reply == null ? "it is empty" : senders.fault(reply);
        if (fault == null) {
          run.succeeded(GrpcCallSender.this, System.nanoTime());
          return;
        }
        run.failed(GrpcCallSender.this, "wrong reply", fault);
      } else {
        run.failed(GrpcCallSender.this, status.getCode().name(), GrpcSenders.text(status));
      }
      // Later, as a call that fails at once would recurse.
      senders.later(
          () -> run.ready(GrpcCallSender.this, System.nanoTime()), GrpcSenders.pauseMs(status));
    }
  }

  /** Does nothing: calls under way end with their channel. */
  @Override
  void close() {}
}

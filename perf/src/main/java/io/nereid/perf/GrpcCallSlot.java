package io.nereid.perf;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;

/** One ModelInfer after another. */
final class GrpcCallSlot extends Slot {

  private final int channel;
  private final GrpcSlots slots;
  private final LoadRun run;
  private RawMessage message;
  private byte[] loadedHead;
  private byte[] loadedTail;

  GrpcCallSlot(int index, int channel, GrpcSlots slots, LoadRun run, Requests.Position position) {
    super(index, slots.tally(channel), position);
    this.channel = channel;
    this.slots = slots;
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
    ClientCall<RawMessage, byte[]> call = slots.call(channel);
    call.start(new Answer(), slots.freshHeaders());
    call.request(2); // a second reply would be a fault, and is to be noticed
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
        String fault = reply == null ? "it is empty" : slots.fault(reply);
        if (fault == null) {
          run.succeeded(GrpcCallSlot.this, System.nanoTime());
          return;
        }
        run.failed(GrpcCallSlot.this, "wrong reply", fault);
      } else {
        run.failed(GrpcCallSlot.this, status.getCode().name(), GrpcFailures.text(status));
      }
      // Not here: a call that fails at once would call itself.
      slots.later(
          () -> run.ready(GrpcCallSlot.this, System.nanoTime()), GrpcFailures.pauseMs(status));
    }
  }

  /** Calls that are under way end with their channel. */
  @Override
  void close() {}
}

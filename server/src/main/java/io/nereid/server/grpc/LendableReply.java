package io.nereid.server.grpc;

import io.grpc.Drainable;
import io.nereid.server.wire.LoopStream;

/** A reply that can be sent from where its contents lie. */
interface LendableReply extends Drainable {

  /** Sends it so, behind what is put together in {@code front}; false: it is better copied. */
  boolean lendTo(LoopStream stream, ReplyBytes front);

  /** Bytes of the message. */
  int byteCount();
}

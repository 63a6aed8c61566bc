package io.nereid.client;

import java.lang.foreign.MemorySegment;
import java.net.http.HttpHeaders;

/**
 * A reply over HTTP.
 *
 * @param status its status
 * @param headers its header fields
 * @param text holds the JSON part, or all of the body when it has no other
 * @param textLength how much of that is text
 * @param binary the part behind the JSON; null: there is none
 * @param binarySize how much of that was sent
 */
record HttpReply(
    int status,
    HttpHeaders headers,
    byte[] text,
    int textLength,
    MemoryPool.Lease binary,
    long binarySize) {

  boolean isSuccess() {
    return status / 100 == 2;
  }

  /** The part behind the JSON; empty when there is none. */
  MemorySegment binarySegment() {
    return binary == null
        ? MemorySegment.ofArray(new byte[0])
        : binary.segment().asSlice(0, binarySize).asReadOnly();
  }
}

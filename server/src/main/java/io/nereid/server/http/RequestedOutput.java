package io.nereid.server.http;

import io.nereid.server.memory.RegionSlice;
import io.nereid.server.shared.Classification;

/**
 * In which form a request wants one of its outputs.
 *
 * @param binary whether behind the JSON part; null: as the request says for all
 * @param classification what it is replaced by; null: it is not
 * @param slice where it is to be written; null: it goes into the reply
 */
record RequestedOutput(Boolean binary, Classification classification, RegionSlice slice) {

  /** Nothing was said. */
  static final RequestedOutput PLAIN = new RequestedOutput(null, null, null);
}

package io.nereid.server.http;

import io.nereid.server.memory.RegionSlice;

/**
 * In which form a request wants one of its outputs.
 *
 * @param binary whether behind the JSON part; null: as the request says for all
 * @param slice where it is to be written; null: it goes into the reply
 */
record RequestedOutput(Boolean binary, RegionSlice slice) {

  /** Nothing was said. */
  static final RequestedOutput PLAIN = new RequestedOutput(null, null);
}

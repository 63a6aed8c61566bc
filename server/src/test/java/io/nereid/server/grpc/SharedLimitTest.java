package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** A connection has a part of what all have, and a little in any case. */
class SharedLimitTest {

  @Test
  void callsOfManyConnectionsLeaveOthersAFew() {
    SharedLimit limit = new SharedLimit(64, 2);
    for (int i = 0; i < 10; i++) { // four could have all
      OpenCalls calls = new OpenCalls(limit.share());
      int stream = 1;
      while (calls.begin(stream)) {
        stream += 2;
      }
      assertTrue(stream <= 2 * 16 + 1, "one connection has " + stream / 2 + " calls");
    }
    OpenCalls other = new OpenCalls(limit.share());
    assertTrue(other.begin(1));
    assertTrue(other.begin(3));
    assertFalse(other.begin(5));
    other.data(1);
    assertFalse(other.begin(5));
    other.end(1);
    assertTrue(other.begin(5));
  }
}

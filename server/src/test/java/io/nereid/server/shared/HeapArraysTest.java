package io.nereid.server.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The cost of arrays with a collector that has regions of 1 MiB, and with one that has none. */
class HeapArraysTest {

  private static final int MIB = 1 << 20;

  @Test
  void longOnesTakeWholeRegions() {
    assertEquals(MIB / 4 + 16, HeapArrays.cost(MIB / 4, MIB));
    assertEquals(MIB, HeapArrays.cost(MIB / 2, MIB));
    assertEquals(MIB, HeapArrays.cost(MIB - 16, MIB));
    assertEquals(2 * MIB, HeapArrays.cost(MIB, MIB));
    assertEquals(MIB + 16, HeapArrays.cost(MIB, 0));
  }

  @Test
  void theyGrowToWhatTheyCost() {
    assertEquals(32 << 10, HeapArrays.grown(16 << 10, 1));
    for (int length = 16 << 10; length < 64 * MIB; ) {
      int next = HeapArrays.grown(length, length + 1);
      assertTrue(next >= 2 * length - 32, next + " after " + length);
      assertTrue(HeapArrays.cost(next) - next <= 16, next + " costs " + HeapArrays.cost(next));
      length = next;
    }
    int most = HeapArrays.grown(1_900_000_000, 2_000_000_000);
    assertTrue(most >= 2_000_000_000, "got " + most);
  }
}

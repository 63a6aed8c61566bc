package io.nereid.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The ring under several writers, with messages of all sizes and some that are given up. */
class MessageRingTest {

  private static final int WRITERS = 3;
  private static final int MESSAGES = 50_000;

  @Test
  void messagesArriveWholeAndInTheirWritersOrder() throws InterruptedException {
    MessageRing ring = new MessageRing(1 << 14);
    List<Thread> writers = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      int writer = i;
      writers.add(Thread.ofPlatform().start(() -> write(ring, writer)));
    }
    int[] next = new int[WRITERS];
    int count = 0;
    while (count < WRITERS * MESSAGES) {
      MemorySegment message = ring.peek();
      if (message == null) {
        Thread.yield();
        continue;
      }
      int writer = message.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
      int number = message.get(ValueLayout.JAVA_INT_UNALIGNED, 4);
      assertEquals(next[writer]++, number);
      for (long at = 8; at < message.byteSize(); at++) {
        assertEquals((byte) (writer + number), message.get(ValueLayout.JAVA_BYTE, at));
      }
      ring.release();
      count++;
    }
    for (Thread writer : writers) {
      writer.join();
    }
    assertEquals(null, ring.peek());
  }

  private static void write(MessageRing ring, int writer) {
    SplittableRandom random = new SplittableRandom(writer);
    for (int number = 0; number < MESSAGES; ) {
      int length = 8 + random.nextInt(random.nextInt(1, 3000));
      long claimed = ring.claim(length);
      if (claimed < 0) {
        Thread.yield();
        continue;
      }
      MemorySegment room = ring.room(claimed, length).fill((byte) (writer + number));
      if (random.nextInt(10) == 0) {
        ring.abandon(claimed, length);
        continue;
      }
      room.set(ValueLayout.JAVA_INT_UNALIGNED, 0, writer);
      room.set(ValueLayout.JAVA_INT_UNALIGNED, 4, number++);
      ring.publish(claimed, length);
    }
  }

  @Test
  void messagesLargerThanHalfOfItNeverFit() {
    MessageRing ring = new MessageRing(1 << 12);
    assertEquals(-1, ring.claim(1 << 11));
    assertTrue(ring.claim(1000) >= 0);
    assertTrue(ring.claim(1000) >= 0);
    assertTrue(ring.claim(1900) >= 0);
    assertEquals(-1, ring.claim(1000));
  }
}

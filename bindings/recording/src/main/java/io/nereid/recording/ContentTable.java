package io.nereid.recording;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;

/**
 * The contents that a segment has, by a hash of 128 bits that goes over their size, too. The hash
 * has a secret of its own, so that nobody can make up two contents that collide. Used by one
 * thread.
 */
final class ContentTable {

  /** The most contents of one segment: the table then takes about 24 MiB. */
  static final int MOST = 1 << 18;

  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final long STRIPE = 2 * Long.BYTES;
  private static final int LANES = 4;

  /** A hash. */
  private record Key(long high, long low) {}

  private final long[] secret = new SecureRandom().longs(6).map(each -> each | 1).toArray();
  private final Map<Key, Integer> numbers = new HashMap<>();

  void clear() {
    numbers.clear();
  }

  boolean isFull() {
    return numbers.size() >= MOST;
  }

  /** The number of contents, which the next new one has. */
  int size() {
    return numbers.size();
  }

  /** Returns the number of a content, which is added where there is none like it. */
  int number(MemorySegment content) {
    return numbers.computeIfAbsent(hash(content), key -> numbers.size());
  }

  /**
   * Two chains of 64 by 64 bit products over 16 bytes at a time, each with a secret of its own;
   * four of these pairs in turns, since a product takes longer than the next one's beginning.
   */
  private Key hash(MemorySegment content) {
    long size = content.byteSize();
    long one = size ^ secret[0];
    long two = Long.reverse(size) ^ secret[1];
    long at = 0;
    if (size >= 2 * LANES * STRIPE) {
      long one1 = one;
      long one2 = one + secret[2];
      long one3 = one + secret[3];
      long two1 = two;
      long two2 = two + secret[4];
      long two3 = two + secret[5];
      for (; at + LANES * STRIPE <= size; at += LANES * STRIPE) {
        one = first(one, content, at);
        two = second(two, content, at);
        one1 = first(one1, content, at + STRIPE);
        two1 = second(two1, content, at + STRIPE);
        one2 = first(one2, content, at + 2 * STRIPE);
        two2 = second(two2, content, at + 2 * STRIPE);
        one3 = first(one3, content, at + 3 * STRIPE);
        two3 = second(two3, content, at + 3 * STRIPE);
      }
      one = fold(fold(one ^ secret[0], one1 ^ secret[1]), fold(one2 ^ secret[2], one3 ^ secret[3]));
      two = fold(fold(two ^ secret[5], two1 ^ secret[4]), fold(two2 ^ secret[3], two3 ^ secret[2]));
    }
    for (; at + STRIPE <= size; at += STRIPE) {
      one = first(one, content, at);
      two = second(two, content, at);
    }
    long first = 0;
    long second = 0;
    for (long i = size - 1; i >= at; i--) { // what is left, as two words with zeros behind
      long value = Byte.toUnsignedLong(content.get(ValueLayout.JAVA_BYTE, i));
      int shift = (int) (i - at) * Byte.SIZE;
      first |= shift < Long.SIZE ? value << shift : 0;
      second |= shift >= Long.SIZE ? value << (shift - Long.SIZE) : 0;
    }
    one = fold(one ^ first ^ secret[2], second ^ secret[3]);
    two = fold(two ^ second ^ secret[4], first ^ secret[5]);
    return new Key(fold(one ^ secret[1], two ^ secret[0]), fold(two ^ secret[3], one ^ secret[2]));
  }

  private long first(long chain, MemorySegment content, long at) {
    return fold(
        chain ^ content.get(WORD, at) ^ secret[2], content.get(WORD, at + Long.BYTES) ^ secret[3]);
  }

  private long second(long chain, MemorySegment content, long at) {
    return fold(
        chain ^ content.get(WORD, at + Long.BYTES) ^ secret[4], content.get(WORD, at) ^ secret[5]);
  }

  private static long fold(long a, long b) {
    return Math.multiplyHigh(a, b) ^ (a * b);
  }
}

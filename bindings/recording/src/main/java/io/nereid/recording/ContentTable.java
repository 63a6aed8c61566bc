package io.nereid.recording;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;

/**
 * The contents that a segment has, by a hash of 128 bits and their size. The hash has a secret of
 * its own, so that nobody can make up two contents that collide. Used by one thread.
 */
final class ContentTable {

  /** The most contents of one segment: the table then takes 16 MiB. */
  static final int MOST = 1 << 18;

  private static final int FIRST_SLOTS = 1 << 10;
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final long STRIPE = 2 * Long.BYTES;
  private static final int LANES = 4;

  private final long[] secret = new SecureRandom().longs(6).map(each -> each | 1).toArray();
  private long[] keys; // pairs; 0, 0: free
  private int[] numbers;
  private int count;

  private long high; // of the content that was asked for last
  private long low;

  ContentTable() {
    clear();
  }

  void clear() {
    keys = new long[2 * FIRST_SLOTS];
    numbers = new int[FIRST_SLOTS];
    count = 0;
  }

  boolean isFull() {
    return count >= MOST;
  }

  /** Returns the number of a content that was added before; -1: there is none like it. */
  int find(MemorySegment content) {
    hash(content);
    int slot = slot(keys, high, low);
    return keys[2 * slot] == 0 && keys[2 * slot + 1] == 0 ? -1 : numbers[slot];
  }

  /** Adds the content that was not found; returns its number. */
  int add() {
    if (2 * count >= numbers.length) {
      grow();
    }
    put(keys, numbers, high, low, count);
    return count++;
  }

  private void grow() {
    long[] largerKeys = new long[2 * keys.length];
    int[] largerNumbers = new int[2 * numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      if (keys[2 * i] != 0 || keys[2 * i + 1] != 0) {
        put(largerKeys, largerNumbers, keys[2 * i], keys[2 * i + 1], numbers[i]);
      }
    }
    keys = largerKeys;
    numbers = largerNumbers;
  }

  private static void put(long[] keys, int[] numbers, long high, long low, int number) {
    int slot = slot(keys, high, low);
    keys[2 * slot] = high;
    keys[2 * slot + 1] = low;
    numbers[slot] = number;
  }

  /** The slot that has the key, or the free one where it belongs. */
  private static int slot(long[] keys, long high, long low) {
    int mask = keys.length / 2 - 1;
    int slot = (int) high & mask;
    while ((keys[2 * slot] != high || keys[2 * slot + 1] != low)
        && (keys[2 * slot] != 0 || keys[2 * slot + 1] != 0)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /**
   * Two chains of 64 by 64 bit products over 16 bytes at a time, each with a secret of its own;
   * four of these pairs in turns, since a product takes longer than the next one's beginning.
   */
  private void hash(MemorySegment content) {
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
    high = fold(one ^ secret[1], two ^ secret[0]);
    low = fold(two ^ secret[3], one ^ secret[2]);
    if (high == 0 && low == 0) {
      low = 1; // two zeros mean that a slot is free
    }
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

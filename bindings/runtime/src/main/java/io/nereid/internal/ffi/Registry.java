package io.nereid.internal.ffi;

import java.util.Arrays;

/**
 * Objects that the core knows by number: the core gets a number as the context of a callback, and
 * the callback finds the object by it. Looking up neither locks nor allocates. Numbers start at 1
 * and are reused.
 */
public final class Registry<T> {

  private volatile Object[] entries = new Object[1];

  /** The number of {@code value} until it is removed. */
  public synchronized long add(T value) {
    Object[] now = entries;
    int index = 1;
    while (index < now.length && now[index] != null) {
      index++;
    }
    Object[] after = Arrays.copyOf(now, Math.max(now.length, index + 1));
    after[index] = value;
    entries = after;
    return index;
  }

  /** The object with this number, or null. */
  @SuppressWarnings("unchecked")
  public T find(long number) {
    Object[] now = entries;
    return number > 0 && number < now.length ? (T) now[(int) number] : null;
  }

  /** Forgets the number; returns its object, or null. */
  public synchronized T remove(long number) {
    T value = find(number);
    if (value != null) {
      Object[] after = entries.clone();
      after[(int) number] = null;
      entries = after;
    }
    return value;
  }
}

package io.nereid.server.shared;

/**
 * The best of many scored classes: a heap of fixed size, whose root is the worst of those that are
 * kept. Classes are offered by ascending index.
 */
final class BestClasses {

  private final long[] keys;
  private final int[] indexes;
  private int size;

  BestClasses(int capacity) {
    keys = new long[capacity];
    indexes = new int[capacity];
  }

  /** Takes a class, unless enough others have the same key or a higher one. */
  void offer(long key, int index) {
    if (size < keys.length) {
      int at = size++;
      keys[at] = key;
      indexes[at] = index;
      while (at > 0 && isWorse(at, (at - 1) / 2)) {
        swap(at, (at - 1) / 2);
        at = (at - 1) / 2;
      }
    } else if (size > 0 && key > keys[0]) {
      keys[0] = key;
      indexes[0] = index;
      siftDown();
    }
  }

  /** Removes the worst class and gives its index; there is one. */
  int removeWorst() {
    int worst = indexes[0];
    swap(0, --size);
    siftDown();
    return worst;
  }

  private void siftDown() {
    for (int at = 0, child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && isWorse(child + 1, child)) {
        child++;
      }
      if (!isWorse(child, at)) {
        return;
      }
      swap(at, child);
      at = child;
    }
  }

  /** Of equal keys the higher index is the worse. */
  private boolean isWorse(int one, int other) {
    return keys[one] < keys[other] || (keys[one] == keys[other] && indexes[one] > indexes[other]);
  }

  private void swap(int one, int other) {
    long key = keys[one];
    keys[one] = keys[other];
    keys[other] = key;
    int index = indexes[one];
    indexes[one] = indexes[other];
    indexes[other] = index;
  }
}

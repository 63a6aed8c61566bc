package io.nereid.internal.request;

import java.util.List;

/** Positions by name: a small open-addressed table that is built once and never changes. */
public final class NameTable {

  private final String[] names;
  private final String[] keys;
  private final int[] positions;
  private final int mask;

  /** A table of distinct names; position i belongs to name i. */
  public NameTable(List<String> names) {
    this.names = names.toArray(String[]::new);
    int capacity = Integer.highestOneBit(Math.max(1, names.size()) * 4);
    keys = new String[capacity];
    positions = new int[capacity];
    mask = capacity - 1;
    for (int i = 0; i < this.names.length; i++) {
      int place = place(this.names[i]);
      if (keys[place] != null) {
        throw new IllegalArgumentException("the name '" + this.names[i] + "' is there twice");
      }
      keys[place] = this.names[i];
      positions[place] = i;
    }
  }

  /** Where {@code name} is, or where it would go. At most half of the places are taken. */
  private int place(String name) {
    int hash = name.hashCode();
    int place = (hash ^ (hash >>> 16)) & mask;
    while (keys[place] != null && !keys[place].equals(name)) {
      place = (place + 1) & mask;
    }
    return place;
  }

  /** The position of {@code name}; -1 when it is not there. */
  public int position(String name) {
    int place = place(name);
    return keys[place] == null ? -1 : positions[place];
  }

  /** The name at {@code position}. */
  public String name(int position) {
    return names[position];
  }

  /** How many names there are. */
  public int size() {
    return names.length;
  }
}

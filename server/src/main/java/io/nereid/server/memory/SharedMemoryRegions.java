package io.nereid.server.memory;

import io.nereid.NereidException;
import io.nereid.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The regions of system shared memory that clients registered with one server. From any thread.
 *
 * <p>Off unless the operator turns it on: a client names any segment that the server's user may
 * open, also one of another program.
 */
public final class SharedMemoryRegions implements AutoCloseable {

  /** Most regions at a time; each keeps a file open. */
  public static final int MAX_REGIONS = 1024;

  /** Longest name of a region, in characters. */
  public static final int MAX_NAME_LENGTH = 1024;

  private final boolean enabled;

  /** By name; guarded by this, as are the counts in it. */
  private final Map<String, Registered> regions = new TreeMap<>();

  /** A region, and who uses it. */
  static final class Registered {
    private final SharedMemoryRegion region;
    private final SegmentFile file;
    private int users;
    private boolean leaving; // goes with the last of its users, and gets no more

    private Registered(SharedMemoryRegion region, SegmentFile file) {
      this.region = region;
      this.file = file;
    }

    SharedMemoryRegion region() {
      return region;
    }

    SegmentFile file() {
      return file;
    }
  }

  /** With nothing registered; while it is not enabled that stays so. */
  public SharedMemoryRegions(boolean enabled) {
    this.enabled = enabled;
  }

  /** Whether clients may register regions. */
  public boolean isEnabled() {
    return enabled;
  }

  /**
   * Registers part of a segment, which the client has made before. The segment stays open until the
   * region is unregistered.
   */
  public void register(String name, String key, long offset, long byteSize) {
    checkEnabled();
    if (name.isEmpty() || name.length() > MAX_NAME_LENGTH) {
      throw invalid(
          "expected a name of 1 to "
              + MAX_NAME_LENGTH
              + " characters for a shared memory region, got "
              + name.length());
    }
    if (offset < 0 || byteSize <= 0) {
      throw invalid(
          "expected an offset of 0 or more and a byte size of 1 or more for shared memory region '"
              + name
              + "', got "
              + offset
              + " and "
              + byteSize);
    }
    SegmentFile file = SegmentFile.open(key);
    try {
      long available = file.byteSize();
      if (offset > available || byteSize > available - offset) {
        throw invalidRange(name, offset, byteSize, available);
      }
      add(new Registered(new SharedMemoryRegion(name, key, offset, byteSize), file));
    } catch (RuntimeException e) {
      file.close();
      throw e;
    }
  }

  private synchronized void add(Registered registered) {
    String name = registered.region.name();
    if (regions.containsKey(name)) {
      throw new NereidException(
          StatusCode.ALREADY_EXISTS, "shared memory region '" + name + "' already in manager");
    }
    if (regions.size() == MAX_REGIONS) {
      throw new NereidException(
          StatusCode.RESOURCE_EXHAUSTED,
          "expected at most " + MAX_REGIONS + " shared memory regions at a time");
    }
    regions.put(name, registered);
  }

  /** All regions, by name. */
  public synchronized List<SharedMemoryRegion> status() {
    return regions.values().stream().map(Registered::region).toList();
  }

  /** One region; nothing while this is not enabled. */
  public synchronized List<SharedMemoryRegion> status(String name) {
    if (!enabled) {
      return List.of();
    }
    Registered registered = regions.get(name);
    if (registered == null) {
      throw notFound(name);
    }
    return List.of(registered.region);
  }

  /**
   * Forgets a region; does nothing when there is none with this name. A region that requests use
   * stays known until the last of them is done, and takes no new ones.
   */
  public void unregister(String name) {
    checkEnabled();
    Registered gone;
    synchronized (this) {
      gone = leave(regions.get(name));
    }
    if (gone != null) {
      gone.file.close();
    }
  }

  /** As {@link #unregister}, for all regions. */
  public void unregisterAll() {
    checkEnabled();
    close();
  }

  /** Gives what the caller closes, having left the lock; null: nothing yet. */
  private Registered leave(Registered registered) {
    if (registered == null) {
      return null;
    }
    registered.leaving = true;
    if (registered.users > 0) {
      return null;
    }
    regions.remove(registered.region.name());
    return registered;
  }

  /**
   * A part of a region for a tensor of a request, which closes it when it is done.
   *
   * @param offset where in the region it begins, in bytes
   */
  public synchronized RegionSlice slice(String name, long offset, long byteSize) {
    checkEnabled();
    Registered registered = regions.get(name);
    if (registered == null || registered.leaving) {
      throw notFound(name);
    }
    long available = registered.region.byteSize();
    if (offset < 0 || byteSize < 0 || offset > available || byteSize > available - offset) {
      throw invalidRange(name, offset, byteSize, available);
    }
    registered.users++;
    return new RegionSlice(this, registered, offset, byteSize);
  }

  void release(Registered registered) {
    boolean last;
    synchronized (this) {
      registered.users--;
      last = registered.leaving && leave(registered) != null;
    }
    if (last) {
      registered.file.close();
    }
  }

  /** Unregisters everything. */
  @Override
  public void close() {
    List<Registered> gone = new ArrayList<>();
    synchronized (this) {
      for (Registered registered : List.copyOf(regions.values())) {
        Registered left = leave(registered);
        if (left != null) {
          gone.add(left);
        }
      }
    }
    gone.forEach(registered -> registered.file.close());
  }

  private void checkEnabled() {
    if (!enabled) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "shared memory of clients is not enabled: --allow-client-shm enables it");
    }
  }

  private static NereidException notFound(String name) {
    return new NereidException(
        StatusCode.NOT_FOUND, "Unable to find shared memory region: '" + name + "'");
  }

  private static NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }

  private static NereidException invalidRange(
      String name, long offset, long byteSize, long available) {
    return invalid(
        "Invalid offset + byte size for shared memory region: '"
            + name
            + "': expected at most "
            + available
            + " bytes, got "
            + byteSize
            + " from "
            + offset
            + " on");
  }
}

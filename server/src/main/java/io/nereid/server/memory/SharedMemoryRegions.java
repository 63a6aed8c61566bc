package io.nereid.server.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.server.memory.Region.SystemRegion;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The memory that clients registered with one server, by name: segments of system shared memory,
 * and regions of {@link CudaRegions}. Any thread may call.
 *
 * <p>Off unless the operator turns it on: a client could name any segment that the server's user
 * may open, even another program's.
 */
public final class SharedMemoryRegions implements AutoCloseable {

  /** Most regions at a time; each keeps a file open. */
  public static final int MAX_REGIONS = 1024;

  /** Longest name of a region, in characters. */
  public static final int MAX_NAME_LENGTH = 1024;

  private final boolean enabled;

  /** The regions by name; the lock guards the counts in them, too. */
  @GuardedBy("this")
  private final Map<String, Registered> regions = new TreeMap<>();

  /** A region and the number of its users. */
  static final class Registered {
    private final Region region;
    private final RegionMemory memory;
    private int users;
    private boolean leaving; // unregistered: goes with its last user, and gets no new ones

    private Registered(Region region, RegionMemory memory) {
      this.region = region;
      this.memory = memory;
    }

    Region region() {
      return region;
    }

    RegionMemory memory() {
      return memory;
    }
  }

  /** Makes an empty set of regions; if not enabled, it stays empty. */
  public SharedMemoryRegions(boolean enabled) {
    this.enabled = enabled;
  }

  /** True if clients may register regions. */
  public boolean isEnabled() {
    return enabled;
  }

  /**
   * Registers part of a segment, which the client has made before. The segment stays open until the
   * region is unregistered.
   */
  public void register(String name, String key, long offset, long byteSize) {
    checkEnabled();
    checkName(name);
    if (offset < 0 || byteSize <= 0) {
      throw invalid(
          ("expected an offset of 0 or more and a byte size of 1 or more for shared memory "
                  + "region '%s', got %s and %s")
              .formatted(name, offset, byteSize));
    }
    SegmentFile file = SegmentFile.open(name, key);
    try {
      long available = file.byteSize();
      if (offset > available || byteSize > available - offset) {
        throw invalidRange(name, offset, byteSize, available);
      }
      add(new SystemRegion(name, key, offset, byteSize), file);
    } catch (RuntimeException e) {
      file.close();
      throw e;
    }
  }

  static void checkName(String name) {
    if (name.isEmpty() || name.length() > MAX_NAME_LENGTH) {
      throw invalid(
          "expected a name of 1 to %s characters for a shared memory region, got %s"
              .formatted(MAX_NAME_LENGTH, name.length()));
    }
  }

  /** Throws if the name is taken; another client may still take it first. */
  synchronized void checkFree(String name) {
    if (regions.containsKey(name)) {
      throw new NereidException(
          StatusCode.ALREADY_EXISTS, "shared memory region '" + name + "' already in manager");
    }
  }

  /** Adds a region and takes its memory over, unless this throws. */
  synchronized void add(Region region, RegionMemory memory) {
    String name = region.name();
    checkFree(name);
    if (regions.size() == MAX_REGIONS) {
      throw new NereidException(
          StatusCode.RESOURCE_EXHAUSTED,
          "expected at most " + MAX_REGIONS + " shared memory regions at a time");
    }
    regions.put(name, new Registered(region, memory));
  }

  /** All segments' regions, by name. */
  public List<SystemRegion> status() {
    return status(SystemRegion.class);
  }

  /** One segment's region; an empty list while this is not enabled. */
  public List<SystemRegion> status(String name) {
    return enabled ? status(name, SystemRegion.class) : List.of();
  }

  synchronized <R extends Region> List<R> status(Class<R> kind) {
    return regions.values().stream()
        .map(Registered::region)
        .filter(kind::isInstance)
        .map(kind::cast)
        .toList();
  }

  synchronized <R extends Region> List<R> status(String name, Class<R> kind) {
    Registered registered = regions.get(name);
    if (registered == null || !kind.isInstance(registered.region)) {
      throw notFound(name);
    }
    return List.of(kind.cast(registered.region));
  }

  /**
   * Forgets a segment's region; does nothing when there is none with this name. A region that
   * requests use stays known until the last of them is done, and takes no new ones.
   */
  public void unregister(String name) {
    checkEnabled();
    unregister(name, SystemRegion.class);
  }

  /** Does the same as {@link #unregister}, for the regions of all segments. */
  public void unregisterAll() {
    checkEnabled();
    unregisterAll(SystemRegion.class);
  }

  void unregister(String name, Class<? extends Region> kind) {
    Registered gone;
    synchronized (this) {
      Registered registered = regions.get(name);
      if (registered == null || !kind.isInstance(registered.region)) {
        return;
      }
      gone = leave(registered);
    }
    if (gone != null) {
      gone.memory.close();
    }
  }

  void unregisterAll(Class<? extends Region> kind) {
    List<Registered> gone = new ArrayList<>();
    synchronized (this) {
      for (Registered registered : List.copyOf(regions.values())) {
        Registered left = kind.isInstance(registered.region) ? leave(registered) : null;
        if (left != null) {
          gone.add(left);
        }
      }
    }
    closeAll(gone);
  }

  /** Closes all of them, even when one fails; throws its failure afterwards. */
  private static void closeAll(List<Registered> gone) {
    RuntimeException failure = null;
    for (Registered registered : gone) {
      try {
        registered.memory.close();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Unregisters a region; returns it if the caller is to close it, outside the lock; null: not yet.
   */
  @GuardedBy("this")
  private Registered leave(Registered registered) {
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

  /** Adds a user to a region that has one, which stays meanwhile. */
  synchronized void retain(Registered registered) {
    registered.users++;
  }

  void release(Registered registered) {
    if (endUse(registered)) {
      registered.memory.close();
    }
  }

  /** Does the same as {@link #release}, for threads that must not wait. */
  void releaseAside(Registered registered) {
    if (endUse(registered)) {
      Thread.ofVirtual().name("nrd-shm-close").start(registered.memory::close);
    }
  }

  /** Ends a use; true if the memory is to be closed. */
  private synchronized boolean endUse(Registered registered) {
    registered.users--;
    return registered.leaving && leave(registered) != null;
  }

  /** Unregisters everything. */
  @Override
  public void close() {
    unregisterAll(Region.class);
  }

  private void checkEnabled() {
    if (!enabled) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to"
              + " enable it.");
    }
  }

  private static NereidException notFound(String name) {
    return new NereidException(
        StatusCode.NOT_FOUND, "Unable to find shared memory region: '" + name + "'");
  }

  private static NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }

  static NereidException invalidRange(String name, long offset, long byteSize, long available) {
    return invalid(
        ("Invalid offset + byte size for shared memory region: '%s': expected at most %s "
                + "bytes, got %s from %s on")
            .formatted(name, available, byteSize, offset));
  }
}

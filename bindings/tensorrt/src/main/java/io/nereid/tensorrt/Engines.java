package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.Map;

/**
 * The engines that are loaded, each with how many use it: all instances of a model on a device
 * share one, and so does what asked the plan for its inputs and outputs just before.
 */
final class Engines {

  private static final Map<Key, Entry> LOADED = new HashMap<>();

  /** What two plans must have in common to be one engine. */
  private record Key(
      Path plan,
      Object file,
      Object modified,
      long byteSize,
      int device,
      boolean versionCompatible,
      boolean weightStreaming,
      long weightBudgetBytes) {}

  private static final class Entry {
    private Engine engine;
    private int users;

    /** The use that tells what the engine occupies; null when the next one that is asked does. */
    private Use teller;
  }

  /** A use of an engine, until it is closed. */
  static final class Use implements AutoCloseable {

    private final Key key;
    private final Entry entry;
    private final Engine engine;
    private boolean closed;

    private Use(Key key, Entry entry) {
      this.key = key;
      this.entry = entry;
      engine = entry.engine;
    }

    Engine engine() {
      return engine;
    }

    /** True if what the engine occupies is told by this user: one of those that ask tells it. */
    boolean isTeller() {
      synchronized (LOADED) {
        if (entry.teller == null) {
          entry.teller = this;
        }
        return entry.teller == this;
      }
    }

    @Override
    public void close() {
      synchronized (LOADED) {
        if (closed) {
          return;
        }
        closed = true;
        if (entry.teller == this) {
          entry.teller = null;
        }
        entry.users--;
        if (entry.users > 0) {
          return;
        }
        LOADED.remove(key);
      }
      engine.close();
    }
  }

  private Engines() {}

  /** The engine of a model's plan on a device, loaded unless it is there. */
  static Use use(String model, TensorRtOptions options, Gpu device) {
    Key key = key(model, options, device);
    Entry entry;
    synchronized (LOADED) {
      entry = LOADED.computeIfAbsent(key, absent -> new Entry());
      entry.users++;
    }
    boolean used = false;
    try {
      // Loading takes seconds: only those wait who want the same one.
      synchronized (entry) {
        if (entry.engine == null) {
          entry.engine = Engine.load(model, options, device);
        }
      }
      used = true;
      return new Use(key, entry);
    } finally {
      if (!used) {
        drop(key, entry);
      }
    }
  }

  private static void drop(Key key, Entry entry) {
    synchronized (LOADED) {
      entry.users--;
      if (entry.users == 0) {
        LOADED.remove(key, entry);
      }
    }
  }

  private static Key key(String model, TensorRtOptions options, Gpu device) {
    try {
      Path real = options.plan().toRealPath();
      BasicFileAttributes file = Files.readAttributes(real, BasicFileAttributes.class);
      return new Key(
          real,
          file.fileKey(),
          file.lastModifiedTime(),
          file.size(),
          device.number(),
          options.versionCompatible(),
          options.weightStreaming(),
          options.weightBudgetBytes());
    } catch (IOException e) {
      throw new NereidException(
          StatusCode.NOT_FOUND, "model '" + model + "': cannot read the plan " + options.plan(), e);
    }
  }

  /** How many engines are loaded. */
  static int count() {
    synchronized (LOADED) {
      return LOADED.size();
    }
  }
}

package io.nereid.tensorrt;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The loaded engines, with the number of their users: all instances of a model on a device share
 * one, also with the preceding query for the plan's inputs and outputs.
 */
final class Engines {

  @GuardedBy("LOADED")
  private static final Map<Key, Entry> LOADED = new HashMap<>();

  /** The properties that identify an engine. */
  private record Key(
      Path plan,
      List<Stamp> files,
      Optional<PlanWeights> weights,
      int device,
      boolean versionCompatible,
      boolean weightStreaming,
      long weightBudgetBytes) {}

  /** The state of a file when it was loaded. */
  private record Stamp(Path file, Object identity, Object modified, long byteSize) {

    static Stamp of(Path file) {
      try {
        BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
        return new Stamp(file, now.fileKey(), now.lastModifiedTime(), now.size());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static final class Entry {
    private Engine engine; // null until the engine is loaded

    @GuardedBy("LOADED")
    private int users;

    /** The use that reports the engine's memory; null: the next one that is asked will. */
    @GuardedBy("LOADED")
    private Use teller;
  }

  /** A use of an engine, until it is closed. */
  static final class Use implements AutoCloseable {

    private final Key key;
    private final Entry entry;

    @GuardedBy("LOADED")
    private boolean closed;

    private Use(Key key, Entry entry) {
      this.key = key;
      this.entry = entry;
    }

    Engine engine() {
      return entry.engine;
    }

    /** True if this use reports the engine's memory: exactly one of all uses does. */
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
      if (entry.engine != null) {
        entry.engine.close();
        DevicePool.of(entry.engine.device()).trim();
      }
    }
  }

  private Engines() {}

  /**
   * Returns a use of the engine of a model's plan on a device, and loads the engine if necessary.
   */
  static Use use(String model, TensorRtOptions options, Gpu device) {
    Key key = key(model, options, device);
    Entry entry;
    synchronized (LOADED) {
      entry = LOADED.computeIfAbsent(key, absent -> new Entry());
      entry.users++;
    }
    try (Undo undo = new Undo()) {
      Use use = undo.add(new Use(key, entry));
      // Loading takes seconds, so only users of the same engine wait.
      synchronized (entry) {
        if (entry.engine == null) {
          entry.engine = Engine.load(model, options, device);
        }
      }
      undo.forget();
      return use;
    }
  }

  private static Key key(String model, TensorRtOptions options, Gpu device) {
    try {
      return new Key(
          options.plan().toRealPath(),
          stamps(options),
          options.weights(),
          device.number(),
          options.versionCompatible(),
          options.weightStreaming(),
          options.weightBudgetBytes());
    } catch (IOException | UncheckedIOException e) {
      throw new NereidException(
          StatusCode.NOT_FOUND, "model '" + model + "': cannot read the plan " + options.plan(), e);
    }
  }

  /**
   * The stamps of the plan; with separate weights, of all files beside it, since ONNX files may
   * name more of them.
   */
  private static List<Stamp> stamps(TensorRtOptions options) throws IOException {
    if (options.weights().isEmpty()) {
      return List.of(Stamp.of(options.plan().toRealPath()));
    }
    try (Stream<Path> files = Files.list(options.plan().toAbsolutePath().getParent())) {
      return files.filter(Files::isRegularFile).sorted().map(Stamp::of).toList();
    }
  }

  static int count() {
    synchronized (LOADED) {
      return LOADED.size();
    }
  }
}

package io.nereid.perf;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.client.SharedMemory;
import io.nereid.perf.InputData.Step;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One region of system shared memory, for a server on this machine. It contains the inputs of all
 * steps, followed by places for outputs, which simultaneous requests share as little as possible.
 * Closing unregisters and removes it, as does the end of the process.
 */
final class SharedArea implements AutoCloseable {

  /** Tensors begin at multiples of this, so that none shares a cache line with another. */
  private static final long ALIGNMENT_BYTES = 64;

  private final ServerControl control;
  private final String name;
  private final List<List<Place>> inputs = new ArrayList<>();
  private final List<Map<String, Place>> outputs = new ArrayList<>();
  private long byteSize;
  private SharedMemory memory; // set once its size is known
  private UndoAtExit undo; // set before there is the memory

  @GuardedBy("this")
  private boolean asked; // a server whose reply is lost may have registered it

  @GuardedBy("this")
  private boolean registered;

  @GuardedBy("this")
  private boolean removed;

  private SharedArea(ServerControl control, String name) {
    this.control = control;
    this.name = name;
  }

  /**
   * Makes and registers the region.
   *
   * @param outputSizes bytes of each output; empty: outputs are not in shared memory
   * @param outputPlaces the number of places for each output
   */
  static SharedArea create(
      ServerControl control, List<Step> steps, Map<String, Long> outputSizes, int outputPlaces) {
    String name = "nereid-perf-" + ProcessHandle.current().pid() + "-" + System.nanoTime();
    SharedArea area = new SharedArea(control, name);
    for (Step step : steps) {
      area.inputs.add(
          step.inputs().stream().map(input -> area.place(input.bytes().length)).toList());
    }
    for (int i = 0; i < outputPlaces && !outputSizes.isEmpty(); i++) {
      Map<String, Place> places = new LinkedHashMap<>();
      outputSizes.forEach((output, size) -> places.put(output, area.place(size)));
      area.outputs.add(places);
    }
    area.undo = new UndoAtExit(area::remove);
    try {
      area.make();
      area.write(steps);
      area.register();
      return area;
    } catch (RuntimeException e) {
      area.close();
      throw e;
    }
  }

  private void make() {
    try {
      if (!undo.attempt(() -> memory = SharedMemory.create("/" + name, Math.max(1, byteSize)))) {
        throw new PerfException("the process ends");
      }
    } catch (UncheckedIOException e) {
      throw new PerfException("shared memory cannot be made: " + e.getCause().getMessage(), e);
    } catch (IllegalArgumentException e) {
      throw new PerfException("shared memory cannot be made: " + e.getMessage(), e);
    }
  }

  /** Registers nothing if the process ends. */
  private synchronized void register() {
    if (!removed) {
      asked = true;
      control.registerMemory(name, "/" + name, byteSize);
      registered = true;
    }
  }

  private Place place(long size) {
    Place place = new Place(name, byteSize, size);
    byteSize += (Math.max(0, size - 1) / ALIGNMENT_BYTES + 1) * ALIGNMENT_BYTES;
    return place;
  }

  private void write(List<InputData.Step> steps) {
    for (int i = 0; i < steps.size(); i++) {
      for (int j = 0; j < inputs.get(i).size(); j++) {
        int offset = (int) inputs.get(i).get(j).offset();
        memory.byteBuffer().put(offset, steps.get(i).inputs().get(j).bytes());
      }
    }
  }

  List<Place> inputs(int step) {
    return inputs.get(step);
  }

  /** Returns the number of places that outputs have; at least 1. */
  int outputPlaces() {
    return Math.max(1, outputs.size());
  }

  Map<String, Place> outputs(int place) {
    return outputs.isEmpty() ? Map.of() : outputs.get(place);
  }

  /** Removes the file first, since a server that hangs may not answer. */
  private void remove() {
    try {
      if (memory != null) {
        memory.close();
      }
    } catch (UncheckedIOException e) {
      System.err.println("shared memory " + name + " is left behind: " + e.getCause().getMessage());
    }
    unregister();
  }

  /** Waits for the server's reply if the region is being registered. */
  private synchronized void unregister() {
    removed = true;
    try {
      if (asked) {
        control.unregisterMemory(name);
      }
    } catch (RuntimeException e) {
      if (registered) {
        System.err.println("shared memory " + name + " is still registered: " + e.getMessage());
      }
    }
  }

  @Override
  public void close() {
    undo.close();
  }

  /**
   * A part of shared memory.
   *
   * @param region its name at the server
   * @param offset where it begins
   * @param byteSize its size
   */
  record Place(String region, long offset, long byteSize) {}

  /** The place of an output that comes with the reply. */
  static final Place NOWHERE = new Place("", 0, 0);
}

package io.nereid.perf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One region of system shared memory, for a server on this machine: the inputs of all steps, and
 * behind them places for outputs, of which requests that run at the same time share as few as
 * possible. Closing it unregisters and removes it.
 */
final class SharedArea implements AutoCloseable {

  private static final Path DIRECTORY = Path.of("/dev/shm");

  /** Tensors begin at multiples of this, so that none shares a cache line with another. */
  private static final long ALIGNMENT_BYTES = 64;

  private static final int ZEROES_BYTES = 1 << 16;

  private final ServerControl control;
  private final String name;
  private final List<List<MemoryPlace>> inputs = new ArrayList<>();
  private final List<Map<String, MemoryPlace>> outputs = new ArrayList<>();
  private long byteSize;

  private SharedArea(ServerControl control, String name) {
    this.control = control;
    this.name = name;
  }

  /**
   * Makes and registers it.
   *
   * @param outputSizes bytes of each output; empty: outputs do not go here
   * @param outputPlaces how many places each output has
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
      Map<String, MemoryPlace> places = new LinkedHashMap<>();
      outputSizes.forEach((output, size) -> places.put(output, area.place(size)));
      area.outputs.add(places);
    }
    try {
      area.write(steps);
    } catch (IOException e) {
      area.remove();
      throw new PerfException("shared memory cannot be made: " + e.getMessage(), e);
    }
    try {
      control.registerMemory(name, "/" + name, area.byteSize);
    } catch (RuntimeException e) {
      area.remove();
      throw e;
    }
    return area;
  }

  private MemoryPlace place(long size) {
    MemoryPlace place = new MemoryPlace(name, byteSize, size);
    byteSize += Math.ceilDiv(Math.max(1, size), ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
    return place;
  }

  private void write(List<Step> steps) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            DIRECTORY.resolve(name),
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      // Written, not only extended: without room the server's first access would fault instead.
      for (long at = 0; at < byteSize; ) {
        int count = (int) Math.min(ZEROES_BYTES, byteSize - at);
        at += channel.write(ByteBuffer.allocate(count), at);
      }
      for (int i = 0; i < steps.size(); i++) {
        for (int j = 0; j < inputs.get(i).size(); j++) {
          ByteBuffer bytes = ByteBuffer.wrap(steps.get(i).inputs().get(j).bytes());
          for (long at = inputs.get(i).get(j).offset(); bytes.hasRemaining(); ) {
            at += channel.write(bytes, at);
          }
        }
      }
    }
  }

  List<MemoryPlace> inputs(int step) {
    return inputs.get(step);
  }

  /** How many places outputs have; at least 1. */
  int outputPlaces() {
    return Math.max(1, outputs.size());
  }

  Map<String, MemoryPlace> outputs(int place) {
    return outputs.isEmpty() ? Map.of() : outputs.get(place);
  }

  private void remove() {
    try {
      Files.deleteIfExists(DIRECTORY.resolve(name));
    } catch (IOException e) {
      System.err.println("shared memory " + name + " is left behind: " + e.getMessage());
    }
  }

  @Override
  public void close() {
    try {
      control.unregisterMemory(name);
    } catch (RuntimeException e) {
      System.err.println("shared memory " + name + " is still registered: " + e.getMessage());
    } finally {
      remove();
    }
  }
}

package io.nereid.recording;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads what recorders wrote into a directory, also while they write and after they were killed: up
 * to the last whole record. One thread reads requests; their contents are read by any thread, until
 * the recording is closed.
 */
public final class Recording implements AutoCloseable {

  private final List<SegmentReader> segments = new ArrayList<>();
  private int reading;

  private Recording() {}

  /** Opens all segments of a directory; throws where there are none. */
  public static Recording open(Path directory) throws IOException {
    Recording recording = new Recording();
    try {
      for (Path path : Retention.segments(directory)) {
        recording.add(path);
      }
    } catch (IOException | RuntimeException e) {
      recording.close();
      throw e;
    }
    if (recording.segments.isEmpty()) {
      throw new IOException(
          "expected segments %s*%s in %s, there are none"
              .formatted(Format.PREFIX, Format.SUFFIX, directory));
    }
    return recording;
  }

  private void add(Path path) throws IOException {
    try {
      segments.add(SegmentReader.open(path));
    } catch (NoSuchFileException e) {
      // A recorder has deleted it since the directory was listed.
    }
  }

  /**
   * Returns the next request, in the order in which they ended within each recording; null: there
   * are no others.
   */
  public RecordedCall next() throws IOException {
    while (reading < segments.size()) {
      RecordedCall call = segments.get(reading).next();
      if (call != null) {
        return call;
      }
      reading++;
    }
    return null;
  }

  /** Returns the requests that are left, by arrival. */
  public List<RecordedCall> byArrival() throws IOException {
    List<RecordedCall> calls = new ArrayList<>();
    for (RecordedCall call = next(); call != null; call = next()) {
      calls.add(call);
    }
    calls.sort(Comparator.comparing(RecordedCall::arrival));
    return calls;
  }

  /** Requests that were dropped while they were recorded, as far as was read. */
  public long dropped() {
    Map<Long, Long> most = new LinkedHashMap<>();
    for (SegmentReader segment : segments) {
      most.merge(segment.recording(), segment.dropped(), Math::max);
    }
    return most.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Says where segments end too early or are first damaged, as far as was read; empty: nowhere. */
  public List<String> damage() {
    return segments.stream()
        .map(SegmentReader::damage)
        .filter(damage -> !damage.isEmpty())
        .toList();
  }

  @Override
  public void close() throws IOException {
    IOException failure = null;
    for (SegmentReader segment : segments) {
      try {
        segment.close();
      } catch (IOException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}

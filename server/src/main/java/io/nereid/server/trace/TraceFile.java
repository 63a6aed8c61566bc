package io.nereid.server.trace;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Writes traces as JSON, as Triton does: into one file, or so many at a time into numbered ones.
 * What is on disk is complete JSON after each write, whatever happens to the process then; tensors
 * of more than a MiB of text take several.
 */
final class TraceFile implements TraceSink {

  private static final String END = "\n]";

  private final String path;
  private final StringBuilder text = new StringBuilder();
  private boolean begun;
  private long nextIndex;

  TraceFile(String path) {
    this.path = path;
  }

  @Override
  public void write(List<Trace> traces) throws IOException {
    int from = 0;
    while (from < traces.size()) {
      TraceSampler sampler = traces.get(from).sampler;
      int to = from;
      while (to < traces.size() && traces.get(to).sampler == sampler) {
        to++;
      }
      write(sampler, traces.subList(from, to));
      from = to;
    }
  }

  private void write(TraceSampler sampler, List<Trace> traces) throws IOException {
    if (sampler.logFrequency() == 0) {
      append(path, !begun, traces);
      begun = true;
      return;
    }
    int from = 0;
    while (from < traces.size()) {
      boolean fresh = sampler.fileIndex < 0 || sampler.fileTraces >= sampler.logFrequency();
      if (fresh) {
        sampler.fileIndex = nextIndex++;
        sampler.fileTraces = 0;
      }
      long room = sampler.logFrequency() - sampler.fileTraces;
      int to = (int) Math.min(traces.size(), from + room);
      append(path + "." + sampler.fileIndex, fresh, traces.subList(from, to));
      sampler.fileTraces += to - from;
      from = to;
    }
  }

  /** Puts them in front of the bracket that ends the file. */
  private void append(String file, boolean fresh, List<Trace> traces) throws IOException {
    try (FileChannel channel =
        FileChannel.open(Path.of(file), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      if (fresh) {
        channel.truncate(0);
      }
      // Somebody may have taken the file away, or emptied it.
      long end = Math.max(0, channel.size() - END.length());
      TraceJson json = new TraceJson(channel.position(end), text);
      try {
        String before = end == 0 ? "[\n" : ",\n";
        for (Trace trace : traces) {
          json.write(before, trace);
          before = ",\n";
        }
        json.end(END);
      } catch (IOException e) {
        restore(channel, end);
        throw e;
      }
    } catch (IOException e) {
      throw new IOException("'" + file + "' could not be written: " + e, e);
    }
  }

  /** Takes back what was begun: a disk that is full leaves room for what was there. */
  private static void restore(FileChannel channel, long end) throws IOException {
    channel.truncate(end);
    if (end > 0) {
      TraceJson.write(channel.position(end), END);
    }
  }
}

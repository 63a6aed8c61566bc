package io.nereid.server.trace;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import tools.jackson.core.io.JsonStringEncoder;

/**
 * Writes traces as JSON, as Triton does: into one file, or so many at a time into numbered ones.
 * What is on disk is complete JSON after each write, whatever happens to the process then.
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
      text.setLength(0);
      for (Trace trace : traces) {
        text.append(end == 0 && text.isEmpty() ? "[\n" : ",\n");
        new TraceJson(text, trace).write();
      }
      try {
        write(channel.position(end), text.append(END));
      } catch (IOException e) {
        restore(channel, end);
        throw e;
      }
    } catch (IOException e) {
      throw new IOException("'" + file + "' could not be written: " + e, e);
    }
  }

  private static void write(FileChannel channel, CharSequence text) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /** Takes back what was begun: a disk that is full leaves room for what was there. */
  private static void restore(FileChannel channel, long end) throws IOException {
    channel.truncate(end);
    if (end > 0) {
      write(channel.position(end), END);
    }
  }

  /** The entries of one trace. */
  private record TraceJson(StringBuilder text, Trace trace) {

    void write() {
      text.append("{\"id\":").append(trace.id).append(",\"model_name\":\"");
      string(trace.modelName);
      text.append("\",\"model_version\":").append(trace.modelVersion);
      if (!trace.requestId.isEmpty()) {
        text.append(",\"request_id\":\"");
        string(trace.requestId);
        text.append('"');
      }
      text.append('}');
      boolean http = trace.protocol == Trace.Protocol.HTTP;
      time(http ? "HTTP_RECV_START" : "GRPC_WAITREAD_START", trace.receiveStartNs);
      time(http ? "HTTP_RECV_END" : "GRPC_WAITREAD_END", trace.receiveEndNs);
      time("REQUEST_START", trace.requestStartNs);
      if (trace.timings != null) {
        Trace.Stages stages = trace.stages();
        time("QUEUE_START", trace.requestStartNs);
        time("COMPUTE_START", stages.computeStartNs());
        time("COMPUTE_INPUT_END", stages.inputEndNs());
        time("COMPUTE_OUTPUT_START", stages.outputStartNs());
        time("COMPUTE_END", stages.computeEndNs());
      }
      time("REQUEST_END", trace.requestEndNs);
      if (trace.sendStartNs != 0) {
        time(http ? "HTTP_SEND_START" : "GRPC_SEND_START", trace.sendStartNs);
        time(http ? "HTTP_SEND_END" : "GRPC_SEND_END", trace.endNs);
      }
    }

    private void time(String name, long ns) {
      if (ns != 0) {
        text.append(",\n{\"id\":").append(trace.id).append(",\"timestamps\":[{\"name\":\"");
        text.append(name).append("\",\"ns\":").append(ns).append("}]}");
      }
    }

    private void string(String value) {
      JsonStringEncoder.getInstance().quoteAsString(value, text);
    }
  }
}

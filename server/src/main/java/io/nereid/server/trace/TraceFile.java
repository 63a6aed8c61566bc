package io.nereid.server.trace;

import io.nereid.model.TracedActivity;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import tools.jackson.core.io.JsonStringEncoder;

/**
 * Writes traces as JSON, as Triton does: into one file, or a number of traces each into numbered
 * files. A file is complete JSON after each write, so that it stays readable if the process dies;
 * tensors of more than a MiB of text take several writes. Only the trace thread uses it.
 */
final class TraceFile implements TraceQueue.Sink {

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

  /** Puts traces in front of the bracket that ends the file. */
  private void append(String file, boolean fresh, List<Trace> traces) throws IOException {
    try (FileChannel channel =
        FileChannel.open(Path.of(file), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      if (fresh) {
        channel.truncate(0);
      }
      // The file may have been removed or emptied meanwhile.
      long end = Math.max(0, channel.size() - END.length());
      Entries json = new Entries(channel.position(end), text);
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

  /** Undoes a failed write; even a full disk has room for the old content. */
  private static void restore(FileChannel channel, long end) throws IOException {
    channel.truncate(end);
    if (end > 0) {
      Entries.write(channel.position(end), END);
    }
  }

  /**
   * Writes the entries of traces at a file's current position: in one write, unless tensors make
   * them long.
   */
  private static final class Entries {

    /** Longer texts are written in pieces: tensors may be as long as memory is. */
    private static final int PIECE_CHARS = 1 << 20;

    private final FileChannel file;
    private final StringBuilder text;

    /** {@code text} is a buffer for reuse. */
    Entries(FileChannel file, StringBuilder text) {
      this.file = file;
      this.text = text;
      text.setLength(0);
    }

    /** Adds the entries of a trace; {@code before} separates them from those in front. */
    void write(String before, Trace trace) throws IOException {
      text.append(before);
      name(trace.id, trace.modelName, trace.modelVersion, trace.requestId, 0);
      if (trace.sampler.records(TraceLevel.TIMESTAMPS)) {
        times(trace);
      }
      for (TracedTensor tensor : trace.tensors) {
        tensor(trace.id, tensor);
      }
      for (ToldActivities.Inference told : trace.told) {
        told(told, trace.sampler.records(TraceLevel.TIMESTAMPS));
      }
    }

    private void told(ToldActivities.Inference told, boolean times) throws IOException {
      if (!told.isRequest()) {
        text.append(",\n");
        TracedActivity of = told.first;
        name(told.id, of.model(), of.version(), of.requestId(), told.parentId);
      }
      for (ToldActivities.Moment moment : times ? told.moments : List.<ToldActivities.Moment>of()) {
        time(told.id, moment.name(), moment.ns());
      }
      for (TracedTensor tensor : told.tensors) {
        tensor(told.id, tensor);
      }
    }

    private void name(long id, String model, long version, String requestId, long parentId) {
      text.append("{\"id\":").append(id).append(",\"model_name\":\"");
      string(model);
      text.append("\",\"model_version\":").append(version);
      if (!requestId.isEmpty()) {
        text.append(",\"request_id\":\"");
        string(requestId);
        text.append('"');
      }
      if (parentId != 0) {
        text.append(",\"parent_id\":").append(parentId);
      }
      text.append('}');
    }

    /** Adds the text behind the last trace, and writes the rest. */
    void end(String after) throws IOException {
      text.append(after);
      flush();
    }

    private void flush() throws IOException {
      write(file, text);
      text.setLength(0);
    }

    static void write(FileChannel file, CharSequence text) throws IOException {
      ByteBuffer bytes = ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
    }

    private void times(Trace trace) {
      boolean http = trace.protocol == Trace.Protocol.HTTP;
      time(trace, http ? "HTTP_RECV_START" : "GRPC_WAITREAD_START", trace.receiveStartNs);
      time(trace, http ? "HTTP_RECV_END" : "GRPC_WAITREAD_END", trace.receiveEndNs);
      time(trace, "REQUEST_START", trace.requestStartNs);
      if (trace.timings != null) {
        Trace.Stages stages = trace.stages();
        time(trace, "QUEUE_START", trace.requestStartNs);
        time(trace, "COMPUTE_START", stages.computeStartNs());
        time(trace, "COMPUTE_INPUT_END", stages.inputEndNs());
        time(trace, "COMPUTE_OUTPUT_START", stages.outputStartNs());
        time(trace, "COMPUTE_END", stages.computeEndNs());
      }
      time(trace, "REQUEST_END", trace.requestEndNs);
      if (trace.sendStartNs != 0) {
        time(trace, http ? "HTTP_SEND_START" : "GRPC_SEND_START", trace.sendStartNs);
        time(trace, http ? "HTTP_SEND_END" : "GRPC_SEND_END", trace.endNs);
      }
    }

    private void time(Trace trace, String name, long ns) {
      if (ns != 0) {
        time(trace.id, name, ns);
      }
    }

    private void time(long id, String name, long ns) {
      text.append(",\n{\"id\":").append(id).append(",\"timestamps\":[{\"name\":\"");
      string(name);
      text.append("\",\"ns\":").append(ns).append("}]}");
    }

    private void tensor(long id, TracedTensor tensor) throws IOException {
      text.append(",\n{\"id\":").append(id).append(",\"activity\":\"").append(tensor.activity());
      text.append("\",\"tensor\":{\"name\":\"");
      string(tensor.name());
      text.append("\",\"data\":\"");
      TracedTensor.Elements elements = tensor.elements();
      for (int i = 0; elements.hasNext(); i++) {
        if (i > 0) {
          text.append(',');
        }
        string(elements.next());
        if (text.length() > PIECE_CHARS) {
          flush();
        }
      }
      text.append("\",\"shape\":\"");
      for (int i = 0; i < tensor.shape().length; i++) {
        text.append(i > 0 ? "," : "").append(tensor.shape()[i]);
      }
      text.append("\",\"dtype\":\"").append(tensor.dataType()).append("\"}}");
    }

    private void string(String value) {
      JsonStringEncoder.getInstance().quoteAsString(value, text);
    }
  }
}

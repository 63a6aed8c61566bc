package io.nereid.server.trace;

import io.nereid.server.trace.Trace.Stages;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.io.JsonStringEncoder;

/**
 * Writes the entries of traces into a file, where it stands, all at once unless tensors make them
 * long. Used by the trace thread.
 */
final class TraceJson {

  /** What is longer is written in pieces: tensors may be as long as memory is. */
  private static final int PIECE_CHARS = 1 << 20;

  private final FileChannel file;
  private final StringBuilder text;

  /** {@code text} is memory to be used again. */
  TraceJson(FileChannel file, StringBuilder text) {
    this.file = file;
    this.text = text;
    text.setLength(0);
  }

  /** Adds the entries of a trace behind what parts them from others. */
  void write(String before, Trace trace) throws IOException {
    text.append(before).append("{\"id\":").append(trace.id).append(",\"model_name\":\"");
    string(trace.modelName);
    text.append("\",\"model_version\":").append(trace.modelVersion);
    if (!trace.requestId.isEmpty()) {
      text.append(",\"request_id\":\"");
      string(trace.requestId);
      text.append('"');
    }
    text.append('}');
    if (trace.sampler.records(TraceLevel.TIMESTAMPS)) {
      times(trace);
    }
    for (TracedTensor tensor : trace.tensors) {
      tensor(trace.id, tensor);
    }
  }

  /** Adds what follows the last trace, and writes what is still to be written. */
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
      Stages stages = trace.stages();
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
      text.append(",\n{\"id\":").append(trace.id).append(",\"timestamps\":[{\"name\":\"");
      text.append(name).append("\",\"ns\":").append(ns).append("}]}");
    }
  }

  private void tensor(long id, TracedTensor tensor) throws IOException {
    text.append(",\n{\"id\":").append(id).append(",\"activity\":\"").append(tensor.activity());
    text.append("\",\"tensor\":{\"name\":\"");
    string(tensor.name());
    text.append("\",\"data\":\"");
    TensorText elements = new TensorText(tensor);
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

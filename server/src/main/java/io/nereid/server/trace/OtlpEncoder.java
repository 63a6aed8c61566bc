package io.nereid.server.trace;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Writes traces as an ExportTraceServiceRequest of OTLP 1. One trace is a span for the request,
 * below it one for the inference, and below that one for each stage whose time is known.
 */
final class OtlpEncoder {

  private static final int KIND_INTERNAL = 1;
  private static final int KIND_SERVER = 2;
  private static final int STATUS_ERROR = 2;

  /** Sampled, and it is known whether the parent is of another process. */
  private static final int FLAGS_LOCAL = 0x101;

  private static final int FLAGS_REMOTE = 0x301;

  private static final int SPAN_ID_BYTES = 8;

  /** What is written into a message. */
  private interface Content {
    void write(CodedOutputStream out) throws IOException;
  }

  private final ByteString resource;
  private final ByteString scope;

  /** Traces of many servers meet at a collector: seeded by the JDK with what differs. */
  private final SplittableRandom random = new SplittableRandom();

  OtlpEncoder(Map<String, String> resource, String version) throws IOException {
    this.resource =
        message(out -> {
          for (Map.Entry<String, String> attribute : resource.entrySet()) {
            attribute(out, 1, attribute.getKey(), attribute.getValue());
          }
        });
    scope =
        message(out -> {
          out.writeString(1, "io.nereid.server");
          out.writeString(2, version);
        });
  }

  byte[] encode(List<Trace> traces) throws IOException {
    ByteString scopeSpans =
        message(out -> {
          out.writeBytes(1, scope);
          for (Trace trace : traces) {
            spans(out, trace);
          }
        });
    ByteString resourceSpans =
        message(out -> {
          out.writeBytes(1, resource);
          out.writeBytes(2, scopeSpans);
        });
    return message(out -> out.writeBytes(1, resourceSpans)).toByteArray();
  }

  private static ByteString message(Content content) throws IOException {
    ByteString.Output bytes = ByteString.newOutput();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    content.write(out);
    out.flush();
    return bytes.toByteString();
  }

  private void spans(CodedOutputStream out, Trace trace) throws IOException {
    boolean child = trace.parent != null;
    ByteString traceId = child ? bytes(trace.parent.traceId()) : randomId(2 * SPAN_ID_BYTES);
    ByteString root = randomId(SPAN_ID_BYTES);
    ByteString parent = child ? bytes(trace.parent.spanId()) : ByteString.EMPTY;
    span(
        out,
        new Ids(traceId, root, parent, child ? trace.parent.state() : "", child),
        new Span(trace.name, KIND_SERVER, trace.receiveStartNs, trace.endNs),
        trace,
        OtlpEncoder::rootAttributes);
    if (trace.requestStartNs == 0) {
      return; // it failed before there was anything to execute
    }
    ByteString inference = randomId(SPAN_ID_BYTES);
    long endNs = trace.requestEndNs != 0 ? trace.requestEndNs : trace.endNs;
    span(
        out,
        new Ids(traceId, inference, root, "", false),
        new Span(trace.modelName, KIND_INTERNAL, trace.requestStartNs, endNs),
        trace,
        OtlpEncoder::inferenceAttributes);
    if (trace.timings == null) {
      return;
    }
    Trace.Stages stages = trace.stages();
    long computeNs = stages.computeStartNs();
    Ids ids = new Ids(traceId, ByteString.EMPTY, inference, "", false);
    if (!trace.inline) {
      stage(out, ids, new Span("queue", KIND_INTERNAL, trace.requestStartNs, computeNs), trace);
    }
    long inputNs = stages.inputEndNs();
    long outputNs = stages.outputStartNs();
    long endedNs = stages.computeEndNs();
    stage(out, ids, new Span("compute_input", KIND_INTERNAL, computeNs, inputNs), trace);
    stage(out, ids, new Span("compute_infer", KIND_INTERNAL, inputNs, outputNs), trace);
    stage(out, ids, new Span("compute_output", KIND_INTERNAL, outputNs, endedNs), trace);
  }

  /** Which span it is, and below which; {@code remote}: that one is of another process. */
  private record Ids(
      ByteString traceId, ByteString spanId, ByteString parent, String state, boolean remote) {}

  private record Span(String name, int kind, long startNs, long endNs) {}

  private interface Attributes {
    void write(CodedOutputStream out, Trace trace) throws IOException;
  }

  private void stage(CodedOutputStream out, Ids ids, Span span, Trace trace) throws IOException {
    Ids own = new Ids(ids.traceId, randomId(SPAN_ID_BYTES), ids.parent, "", false);
    span(out, own, span, trace, (nothing, ignored) -> {});
  }

  private static void span(
      CodedOutputStream to, Ids ids, Span span, Trace trace, Attributes attributes)
      throws IOException {
    ByteString written =
        message(out -> {
          out.writeBytes(1, ids.traceId);
          out.writeBytes(2, ids.spanId);
          if (!ids.state.isEmpty()) {
            out.writeString(3, ids.state);
          }
          if (!ids.parent.isEmpty()) {
            out.writeBytes(4, ids.parent);
          }
          out.writeString(5, span.name);
          out.writeEnum(6, span.kind);
          out.writeFixed64(7, span.startNs + trace.epochOffsetNs);
          out.writeFixed64(8, span.endNs + trace.epochOffsetNs);
          attributes.write(out, trace);
          out.writeFixed32(16, ids.remote ? FLAGS_REMOTE : FLAGS_LOCAL);
        });
    to.writeBytes(2, written);
  }

  private static void rootAttributes(CodedOutputStream out, Trace trace) throws IOException {
    for (Trace.Attribute attribute : trace.attributes) {
      attribute(out, 9, attribute.name(), attribute.value());
    }
    // By the semantic conventions a request that the client got wrong is no error of the server.
    if (trace.serverError) {
      status(out, trace.error);
    }
  }

  private static void inferenceAttributes(CodedOutputStream out, Trace trace) throws IOException {
    attribute(out, 9, "triton.model_name", trace.modelName);
    attribute(out, 9, "triton.model_version", trace.modelVersion);
    if (!trace.requestId.isEmpty()) {
      attribute(out, 9, "triton.request_id", trace.requestId);
    }
    if (trace.requestEndNs != 0 && trace.error == null) {
      attribute(out, 9, "nereid.batch_size", (long) trace.batchSize);
      attribute(out, 9, "nereid.inline", trace.inline);
      attribute(out, 9, "nereid.cache_hit", trace.cacheHit);
    }
    if (trace.error != null) {
      status(out, trace.error);
    }
  }

  private static void status(CodedOutputStream to, String error) throws IOException {
    to.writeBytes(
        15,
        message(out -> {
          out.writeString(2, error);
          out.writeEnum(3, STATUS_ERROR);
        }));
  }

  private static void attribute(CodedOutputStream to, int field, String name, Object value)
      throws IOException {
    ByteString any =
        message(out -> {
          switch (value) {
            case Boolean flag -> out.writeBool(2, flag);
            case Long number -> out.writeInt64(3, number);
            default -> out.writeString(1, value.toString());
          }
        });
    to.writeBytes(
        field,
        message(out -> {
          out.writeString(1, name);
          out.writeBytes(2, any);
        }));
  }

  private static ByteString bytes(String hex) {
    return ByteString.copyFrom(HexFormat.of().parseHex(hex));
  }

  /** Any but zero, which is no id. */
  private ByteString randomId(int size) {
    byte[] id = new byte[size];
    random.nextBytes(id);
    id[size - 1] |= 1;
    return ByteString.copyFrom(id);
  }
}

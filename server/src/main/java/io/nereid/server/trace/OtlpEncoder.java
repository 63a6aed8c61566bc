package io.nereid.server.trace;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Writes traces as an ExportTraceServiceRequest of OTLP 1. One trace is a span for the request,
 * below it one for the inference, and below that one for each stage whose time is known. Used by
 * one thread.
 */
final class OtlpEncoder {

  private static final byte[] NO_PARENT = {};

  private static final int KIND_INTERNAL = 1;
  private static final int KIND_SERVER = 2;
  private static final int STATUS_ERROR = 2;

  /** Sampled, and it is known whether the parent is of another process. */
  private static final int FLAGS_LOCAL = 0x101;

  private static final int FLAGS_REMOTE = 0x301;

  private static final int SPAN_ID_BYTES = 8;

  /** Where attributes are, in a span and in a resource. */
  private static final int SPAN_ATTRIBUTES = 9;

  private static final int RESOURCE_ATTRIBUTES = 1;

  private final Map<String, String> resource;
  private final String version;
  private final ProtobufBuffer out = new ProtobufBuffer();

  /** Traces of many servers meet at a collector: seeded by the JDK with what differs. */
  private final SplittableRandom random = new SplittableRandom();

  OtlpEncoder(Map<String, String> resource, String version) {
    this.resource = resource;
    this.version = version;
  }

  byte[] encode(List<Trace> traces) {
    out.clear();
    int resourceSpans = out.begin(1);
    int described = out.begin(1);
    resource.forEach((name, value) -> attribute(RESOURCE_ATTRIBUTES, name, value));
    out.end(described);
    int scopeSpans = out.begin(2);
    int scope = out.begin(1);
    out.string(1, "io.nereid.server");
    out.string(2, version);
    out.end(scope);
    for (Trace trace : traces) {
      write(trace);
    }
    out.end(scopeSpans);
    out.end(resourceSpans);
    return out.toByteArray();
  }

  private void write(Trace trace) {
    boolean child = trace.parent != null;
    byte[] traceId = child ? bytes(trace.parent.traceId()) : randomId(2 * SPAN_ID_BYTES);
    byte[] root = randomId(SPAN_ID_BYTES);
    int span = begin(traceId, root, child ? bytes(trace.parent.spanId()) : NO_PARENT);
    if (child && !trace.parent.state().isEmpty()) {
      out.string(3, trace.parent.state());
    }
    describe(trace.name, KIND_SERVER, trace, trace.receiveStartNs, trace.endNs);
    for (Trace.Attribute attribute : trace.attributes) {
      attribute(SPAN_ATTRIBUTES, attribute.name(), attribute.value());
    }
    // By the semantic conventions a request that the client got wrong is no error of the server.
    if (trace.serverError) {
      status(trace.error);
    }
    out.fixed32(16, child ? FLAGS_REMOTE : FLAGS_LOCAL);
    out.end(span);
    if (trace.requestStartNs != 0) { // else it failed before there was anything to execute
      writeInference(trace, traceId, root);
    }
  }

  private void writeInference(Trace trace, byte[] traceId, byte[] root) {
    byte[] inference = randomId(SPAN_ID_BYTES);
    int span = begin(traceId, inference, root);
    long endNs = trace.requestEndNs != 0 ? trace.requestEndNs : trace.endNs;
    describe(trace.modelName, KIND_INTERNAL, trace, trace.requestStartNs, endNs);
    attribute(SPAN_ATTRIBUTES, "triton.model_name", trace.modelName);
    attribute(SPAN_ATTRIBUTES, "triton.model_version", trace.modelVersion);
    if (!trace.requestId.isEmpty()) {
      attribute(SPAN_ATTRIBUTES, "triton.request_id", trace.requestId);
    }
    if (trace.error == null) {
      attribute(SPAN_ATTRIBUTES, "nereid.batch_size", (long) trace.batchSize);
      attribute(SPAN_ATTRIBUTES, "nereid.inline", trace.inline);
      attribute(SPAN_ATTRIBUTES, "nereid.cache_hit", trace.cacheHit);
    } else {
      status(trace.error);
    }
    out.fixed32(16, FLAGS_LOCAL);
    out.end(span);
    if (trace.timings == null) {
      return;
    }
    Trace.Stages stages = trace.stages();
    long computeNs = stages.computeStartNs();
    if (!trace.inline) {
      writeStage("queue", trace, traceId, inference, trace.requestStartNs, computeNs);
    }
    long inputNs = stages.inputEndNs();
    long outputNs = stages.outputStartNs();
    writeStage("compute_input", trace, traceId, inference, computeNs, inputNs);
    writeStage("compute_infer", trace, traceId, inference, inputNs, outputNs);
    writeStage("compute_output", trace, traceId, inference, outputNs, stages.computeEndNs());
  }

  private void writeStage(
      String name, Trace trace, byte[] traceId, byte[] parent, long startNs, long endNs) {
    int span = begin(traceId, randomId(SPAN_ID_BYTES), parent);
    describe(name, KIND_INTERNAL, trace, startNs, endNs);
    out.fixed32(16, FLAGS_LOCAL);
    out.end(span);
  }

  private int begin(byte[] traceId, byte[] spanId, byte[] parent) {
    int span = out.begin(2);
    out.bytes(1, traceId);
    out.bytes(2, spanId);
    if (parent.length > 0) {
      out.bytes(4, parent);
    }
    return span;
  }

  private void describe(String name, int kind, Trace trace, long startNs, long endNs) {
    out.string(5, name);
    out.number(6, kind);
    out.fixed64(7, startNs + trace.epochOffsetNs);
    out.fixed64(8, endNs + trace.epochOffsetNs);
  }

  private void status(String error) {
    int status = out.begin(15);
    out.string(2, error);
    out.number(3, STATUS_ERROR);
    out.end(status);
  }

  private void attribute(int field, String name, Object value) {
    int attribute = out.begin(field);
    out.string(1, name);
    int any = out.begin(2);
    switch (value) {
      case Boolean flag -> out.number(2, flag ? 1 : 0);
      case Long number -> out.number(3, number);
      default -> out.string(1, value.toString());
    }
    out.end(any);
    out.end(attribute);
  }

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex);
  }

  /** Any but zero, which is no id. */
  private byte[] randomId(int size) {
    byte[] id = new byte[size];
    random.nextBytes(id);
    id[size - 1] |= 1;
    return id;
  }
}

package io.nereid.server.trace;

import com.google.protobuf.ByteString;
import io.nereid.model.TracedActivity;
import io.nereid.proto.otlp.AnyValue;
import io.nereid.proto.otlp.ExportTraceServiceRequest;
import io.nereid.proto.otlp.InstrumentationScope;
import io.nereid.proto.otlp.KeyValue;
import io.nereid.proto.otlp.Resource;
import io.nereid.proto.otlp.ResourceSpans;
import io.nereid.proto.otlp.ScopeSpans;
import io.nereid.proto.otlp.Span;
import io.nereid.proto.otlp.Status;
import io.nereid.server.trace.ToldActivities.Moment;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Encodes traces as an ExportTraceServiceRequest of OTLP 1. A trace becomes a span for the request,
 * one below it for the inference, and one below that for each stage whose time is known. Only the
 * trace thread uses it. It uses protobuf's generated classes: they take 1.8 µs a trace instead of
 * the 0.7 of special code, but no request waits for that.
 */
final class OtlpEncoder {

  /** Flags of a span: sampled, and the parent is known to be local. */
  private static final int FLAGS_LOCAL = 0x101;

  private static final int FLAGS_REMOTE = 0x301;

  private static final int SPAN_ID_BYTES = 8;

  private static final String START = "_START";
  private static final String END = "_END";

  private final Resource resource;
  private final InstrumentationScope scope;
  private final TraceExemplars exemplars;

  /**
   * Makes ids. The JDK seeds it differently in each process, since a collector gets traces of many
   * servers.
   */
  private final SplittableRandom random = new SplittableRandom();

  OtlpEncoder(Map<String, String> attributes, String version, TraceExemplars exemplars) {
    this.exemplars = exemplars;
    Resource.Builder described = Resource.newBuilder();
    attributes.forEach((name, value) -> described.addAttributes(attribute(name, value)));
    resource = described.build();
    scope =
        InstrumentationScope.newBuilder().setName("io.nereid.server").setVersion(version).build();
  }

  byte[] encode(List<Trace> traces) {
    ScopeSpans.Builder spans = ScopeSpans.newBuilder().setScope(scope);
    traces.forEach(trace -> addRequest(spans, trace));
    return ExportTraceServiceRequest.newBuilder()
        .addResourceSpans(ResourceSpans.newBuilder().setResource(resource).addScopeSpans(spans))
        .build()
        .toByteArray();
  }

  private void addRequest(ScopeSpans.Builder spans, Trace trace) {
    TraceParent parent = trace.parent;
    ByteString traceId = parent == null ? randomId(2 * SPAN_ID_BYTES) : bytes(parent.traceId());
    exemplars.add(trace, HexFormat.of().formatHex(traceId.toByteArray()));
    ByteString root = randomId(SPAN_ID_BYTES);
    Span.Builder span =
        span(trace.name, trace, trace.receiveStartNs, trace.endNs)
            .setTraceId(traceId)
            .setSpanId(root)
            .setKind(Span.SpanKind.SPAN_KIND_SERVER);
    if (parent != null) {
      span.setParentSpanId(bytes(parent.spanId()))
          .setTraceState(parent.state())
          .setFlags(FLAGS_REMOTE);
    }
    for (Trace.Attribute attribute : trace.attributes) {
      span.addAttributes(attribute(attribute.name(), attribute.value()));
    }
    // A client's mistake is no error of the server by the semantic conventions.
    if (trace.serverError) {
      span.setStatus(error(trace.error));
    }
    spans.addSpans(span);
    if (trace.requestStartNs != 0) { // else the request failed before its inference began
      addInference(spans, trace, traceId, root);
    }
  }

  private void addInference(
      ScopeSpans.Builder spans, Trace trace, ByteString traceId, ByteString root) {
    ByteString inference = randomId(SPAN_ID_BYTES);
    long endNs = trace.requestEndNs != 0 ? trace.requestEndNs : trace.endNs;
    Span.Builder span =
        span(trace.modelName, trace, trace.requestStartNs, endNs)
            .setTraceId(traceId)
            .setSpanId(inference)
            .setParentSpanId(root)
            .addAttributes(attribute("triton.model_name", trace.modelName))
            .addAttributes(attribute("triton.model_version", trace.modelVersion));
    if (!trace.requestId.isEmpty()) {
      span.addAttributes(attribute("triton.request_id", trace.requestId));
    }
    if (trace.error == null) {
      span.addAttributes(attribute("nereid.batch_size", (long) trace.batchSize))
          .addAttributes(attribute("nereid.inline", trace.inline))
          .addAttributes(attribute("nereid.cache_hit", trace.cacheHit));
    } else {
      span.setStatus(error(trace.error));
    }
    Map<Long, ByteString> inferences = new HashMap<>(Map.of(trace.id, inference));
    trace.told.stream()
        .filter(ToldActivities.Inference::isRequest)
        .forEach(told -> addMoments(spans, span, trace, told));
    spans.addSpans(span);
    if (trace.timings != null) {
      addStages(spans, trace, traceId, inference);
    }
    for (ToldActivities.Inference told : trace.told) {
      if (!told.isRequest()) {
        inferences.put(told.id, randomId(SPAN_ID_BYTES));
        addTold(spans, trace, traceId, inferences, told);
      }
    }
  }

  /** Adds an inference that the request's backend began, below the one that began it. */
  private void addTold(
      ScopeSpans.Builder spans,
      Trace trace,
      ByteString traceId,
      Map<Long, ByteString> inferences,
      ToldActivities.Inference told) {
    TracedActivity of = told.first;
    long startNs = of.timeNs();
    long endNs = told.moments.stream().mapToLong(Moment::ns).reduce(startNs, Math::max);
    Span.Builder span =
        span(of.model(), trace, startNs, endNs)
            .setTraceId(traceId)
            .setSpanId(inferences.get(told.id))
            .setParentSpanId(inferences.get(told.parentId))
            .addAttributes(attribute("triton.model_name", of.model()))
            .addAttributes(attribute("triton.model_version", of.version()));
    if (!of.requestId().isEmpty()) {
      span.addAttributes(attribute("triton.request_id", of.requestId()));
    }
    addMoments(spans, span, trace, told);
    spans.addSpans(span);
  }

  /**
   * Makes moments events of a span, as Triton does; two that are called {@code X_START} and {@code
   * X_END} are a span {@code X} below it, unless they are its own ends.
   */
  private void addMoments(
      ScopeSpans.Builder spans, Span.Builder span, Trace trace, ToldActivities.Inference told) {
    Map<String, Moment> begun = new HashMap<>();
    for (Moment moment : told.moments) {
      String name = moment.name();
      span.addEvents(
          Span.Event.newBuilder().setName(name).setTimeUnixNano(moment.ns() + trace.epochOffsetNs));
      if (name.endsWith(START) && !name.equals("REQUEST_START")) {
        begun.put(name.substring(0, name.length() - START.length()), moment);
      } else if (name.endsWith(END)) {
        String what = name.substring(0, name.length() - END.length());
        Moment start = begun.remove(what);
        if (start != null) {
          spans.addSpans(
              span(what.equals("COMPUTE") ? "compute" : what, trace, start.ns(), moment.ns())
                  .setTraceId(span.getTraceId())
                  .setSpanId(randomId(SPAN_ID_BYTES))
                  .setParentSpanId(span.getSpanId()));
        }
      }
    }
  }

  private void addStages(
      ScopeSpans.Builder spans, Trace trace, ByteString traceId, ByteString inference) {
    Trace.Stages stages = trace.stages();
    long computeNs = stages.computeStartNs();
    long inputNs = stages.inputEndNs();
    long outputNs = stages.outputStartNs();
    List<Span.Builder> each =
        List.of(
            span("queue", trace, trace.requestStartNs, computeNs),
            span("compute_input", trace, computeNs, inputNs),
            span("compute_infer", trace, inputNs, outputNs),
            span("compute_output", trace, outputNs, stages.computeEndNs()));
    for (Span.Builder span : trace.inline ? each.subList(1, each.size()) : each) {
      spans.addSpans(
          span.setTraceId(traceId).setSpanId(randomId(SPAN_ID_BYTES)).setParentSpanId(inference));
    }
  }

  /** Makes a span within this process; the span of the whole request changes some fields. */
  private static Span.Builder span(String name, Trace trace, long startNs, long endNs) {
    return Span.newBuilder()
        .setName(name)
        .setKind(Span.SpanKind.SPAN_KIND_INTERNAL)
        .setStartTimeUnixNano(startNs + trace.epochOffsetNs)
        .setEndTimeUnixNano(endNs + trace.epochOffsetNs)
        .setFlags(FLAGS_LOCAL);
  }

  private static Status error(String message) {
    return Status.newBuilder()
        .setMessage(message)
        .setCode(Status.StatusCode.STATUS_CODE_ERROR)
        .build();
  }

  private static KeyValue attribute(String name, Object value) {
    AnyValue.Builder any = AnyValue.newBuilder();
    switch (value) {
      case Boolean flag -> any.setBoolValue(flag);
      case Long number -> any.setIntValue(number);
      default -> any.setStringValue(value.toString());
    }
    return KeyValue.newBuilder().setKey(name).setValue(any).build();
  }

  private static ByteString bytes(String hex) {
    return ByteString.copyFrom(HexFormat.of().parseHex(hex));
  }

  /** Makes a random id other than zero, which is invalid. */
  private ByteString randomId(int size) {
    byte[] id = new byte[size];
    random.nextBytes(id);
    id[size - 1] |= 1;
    return ByteString.copyFrom(id);
  }
}

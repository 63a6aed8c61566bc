package io.nereid.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Spans by the SDK, as a collector would get them. */
class NereidSpansTest {

  private final InMemorySpanExporter exported = InMemorySpanExporter.create();
  private OpenTelemetrySdk sdk;
  private NereidSpans spans;
  private Nereid nereid;

  @BeforeEach
  void open() {
    sdk =
        OpenTelemetrySdk.builder()
            .setTracerProvider(
                SdkTracerProvider.builder()
                    .addSpanProcessor(SimpleSpanProcessor.create(exported))
                    .build())
            .build();
    spans = NereidSpans.install(sdk);
    nereid = Nereid.create();
  }

  @AfterEach
  void close() {
    nereid.close();
    spans.close();
    sdk.close();
  }

  private Model model(boolean inline) {
    return nereid.load(
        ModelSpec.builder("echo")
            .inline(inline)
            .maxBatchSize(4)
            .dynamicBatching(DynamicBatching.create())
            .input("IN", DataType.FP32, 2)
            .output("OUT", DataType.FP32, 2)
            .backend(context ->
                batch -> {
                  Tensor in = batch.input("IN");
                  if (in.floatAt(0) < 0) {
                    throw new IllegalStateException("no negative numbers");
                  }
                  batch.output("OUT", in);
                })
            .build());
  }

  private static void ask(Model model, float value) {
    try (var request = model.newRequest();
        var response = request.input("IN", Tensor.ofFloats(new float[] {value, 2}, 1, 2)).infer()) {
      assertEquals(value, response.output("OUT").floatAt(0));
    }
  }

  @Test
  void aRequestIsAChildOfItsCallersSpan() {
    for (boolean inline : new boolean[] {true, false}) {
      exported.reset();
      Model model = model(inline);
      Span caller = sdk.getTracer("test").spanBuilder("caller").startSpan();
      try (Scope _ = caller.makeCurrent()) {
        ask(model, 1);
      }
      caller.end();
      List<SpanData> all = exported.getFinishedSpanItems();
      assertEquals(2, all.size());
      SpanData request = all.getFirst();
      assertEquals("infer echo", request.getName());
      assertEquals(caller.getSpanContext().getSpanId(), request.getParentSpanId());
      assertEquals(caller.getSpanContext().getTraceId(), request.getTraceId());
      assertEquals(StatusCode.UNSET, request.getStatus().getStatusCode());
      String attributes = request.getAttributes().asMap().toString();
      assertTrue(attributes.contains("triton.model_name=echo"), attributes);
      assertTrue(attributes.contains("nereid.batch_size=1"), attributes);
      assertTrue(attributes.contains("nereid.inline=" + inline), attributes);
      List<EventData> events = request.getEvents();
      assertEquals(
          List.of(
              "QUEUE_START",
              "COMPUTE_START",
              "COMPUTE_INPUT_END",
              "COMPUTE_OUTPUT_START",
              "COMPUTE_END"),
          events.stream().map(EventData::getName).toList());
      assertEquals(request.getStartEpochNanos(), events.getFirst().getEpochNanos());
      assertTrue(events.getLast().getEpochNanos() <= request.getEndEpochNanos(), "all is within");
    }
  }

  @Test
  void aFailureIsToldAndItsReason() {
    Model model = model(false);
    Span caller = sdk.getTracer("test").spanBuilder("caller").startSpan();
    try (Scope _ = caller.makeCurrent()) {
      assertThrows(NereidException.class, () -> ask(model, -1));
      SpanData failed = exported.getFinishedSpanItems().getFirst();
      assertEquals(StatusCode.ERROR, failed.getStatus().getStatusCode());
      String why = failed.getStatus().getDescription();
      assertTrue(why.contains("no negative numbers"), why);
      String attributes = failed.getAttributes().asMap().toString();
      assertTrue(attributes.contains("error.type=INTERNAL"), attributes);
      exported.reset();
      var request = model.newRequest().input("IN", Tensor.ofFloats(new float[10], 5, 2));
      assertThrows(NereidException.class, request::infer);
      request.close();
      SpanData refused = exported.getFinishedSpanItems().getFirst();
      assertEquals(StatusCode.ERROR, refused.getStatus().getStatusCode());
      assertEquals(List.of(), refused.getEvents());
    }
  }

  @Test
  void outsideOfASpanThereIsNone() {
    ask(model(true), 1);
    assertEquals(List.of(), exported.getFinishedSpanItems());
    spans.close();
    Span caller = sdk.getTracer("test").spanBuilder("caller").startSpan();
    try (Scope _ = caller.makeCurrent()) {
      ask(nereid.model("echo"), 1);
    }
    assertEquals(List.of(), exported.getFinishedSpanItems());
  }
}

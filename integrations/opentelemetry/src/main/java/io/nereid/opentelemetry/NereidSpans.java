package io.nereid.opentelemetry;

import io.nereid.model.ModelSpec;
import io.nereid.model.RequestObserver;
import io.nereid.model.SentRequest;
import io.nereid.statistics.Timings;
import io.nereid.types.StatusCode;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * Makes a child span for each request that is sent within a span, with events for the request's
 * stages. Requests outside of any span get none.
 *
 * <pre>{@code
 * try (var spans = NereidSpans.install(openTelemetry)) {
 *   serve();
 * }
 * }</pre>
 *
 * <p>It covers all runtimes of the process; one can be installed at a time.
 */
public final class NereidSpans implements RequestObserver, AutoCloseable {

  private static final AttributeKey<String> MODEL = AttributeKey.stringKey("triton.model_name");
  private static final AttributeKey<Long> VERSION = AttributeKey.longKey("triton.model_version");
  private static final AttributeKey<Long> BATCH = AttributeKey.longKey("nereid.batch_size");
  private static final AttributeKey<Boolean> INLINE = AttributeKey.booleanKey("nereid.inline");
  private static final AttributeKey<Boolean> CACHED = AttributeKey.booleanKey("nereid.cache_hit");
  private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

  private final Tracer tracer;

  private NereidSpans(Tracer tracer) {
    this.tracer = tracer;
  }

  /** Makes spans from now on, by the application's own API. */
  public static NereidSpans install(OpenTelemetry openTelemetry) {
    NereidSpans spans = new NereidSpans(openTelemetry.getTracer("io.nereid"));
    RequestObserver.install(spans);
    return spans;
  }

  /** Makes no more spans; those of requests under way still end. */
  @Override
  public void close() {
    RequestObserver.uninstall(this);
  }

  @Override
  public Observation begin(SentRequest request) {
    Context context = Context.current();
    if (!Span.fromContext(context).getSpanContext().isValid()) {
      return null;
    }
    Instant now = Instant.now();
    long epochNs = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
    long startNs = System.nanoTime();
    ModelSpec model = request.model();
    Span span =
        tracer
            .spanBuilder("infer " + model.name())
            .setParent(context)
            .setStartTimestamp(epochNs, TimeUnit.NANOSECONDS)
            .setAttribute(MODEL, model.name())
            .setAttribute(VERSION, model.version())
            .startSpan();
    return outcome -> end(span, epochNs, System.nanoTime() - startNs, outcome);
  }

  private static void end(Span span, long beganNs, long tookNs, Outcome outcome) {
    if (outcome.status() == StatusCode.OK) {
      span.setAttribute(INLINE, outcome.inline()).setAttribute(CACHED, outcome.cacheHit());
    } else {
      span.setStatus(io.opentelemetry.api.trace.StatusCode.ERROR, outcome.message())
          .setAttribute(ERROR, outcome.status().name());
    }
    if (outcome.batchSize() > 0) {
      span.setAttribute(BATCH, outcome.batchSize());
      addEvents(span, beganNs, outcome.timings());
    }
    span.end(beganNs + tookNs, TimeUnit.NANOSECONDS);
  }

  /** Adds events with the same names as in the server's traces. */
  private static void addEvents(Span span, long beganNs, Timings timings) {
    long atNs = beganNs;
    span.addEvent("QUEUE_START", atNs, TimeUnit.NANOSECONDS);
    atNs += timings.queueNs();
    span.addEvent("COMPUTE_START", atNs, TimeUnit.NANOSECONDS);
    atNs += timings.computeInputNs();
    span.addEvent("COMPUTE_INPUT_END", atNs, TimeUnit.NANOSECONDS);
    atNs += timings.computeInferNs();
    span.addEvent("COMPUTE_OUTPUT_START", atNs, TimeUnit.NANOSECONDS);
    atNs += timings.computeOutputNs();
    span.addEvent("COMPUTE_END", atNs, TimeUnit.NANOSECONDS);
  }
}

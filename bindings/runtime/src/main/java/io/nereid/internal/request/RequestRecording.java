package io.nereid.internal.request;

import io.nereid.internal.ffi.CoreLog;
import io.nereid.internal.ffi.PoolMemory;
import io.nereid.internal.ffi.RequestRecord;
import io.nereid.internal.recording.FlightRecorderWatch;
import io.nereid.internal.recording.RecordedFailure;
import io.nereid.internal.recording.RecordedRequest;
import io.nereid.model.ModelSpec;
import io.nereid.model.RequestObserver;
import io.nereid.model.RequestObserver.Observation;
import io.nereid.model.RequestObserver.Outcome;
import io.nereid.statistics.Timings;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Tells Java's Flight Recorder and the observers of the requests of one slot. The threads that
 * submit and complete a request call it.
 */
final class RequestRecording {

  private static final Timings NO_TIME = new Timings(0, 0, 0, 0);

  private final ModelSpec model;
  private final PoolMemory memory;
  private final AtomicReference<RequestObserver> observer; // null: there are no observers
  private final RequestRecord record;
  private final RequestContent content;
  private RecordedRequest event; // null: no recording ran at submission
  private Observation processes; // the process-wide observer's; null: it is not interested
  private Observation runtimes; // the runtime's observer's

  RequestRecording(
      Signature signature,
      PoolMemory memory,
      AtomicReference<RequestObserver> observer,
      RequestRecord record,
      RequestContent content) {
    model = signature.spec();
    this.memory = memory;
    this.observer = observer;
    this.record = record;
    this.content = content;
  }

  /** Called before the request is submitted. */
  void begin() {
    // Loading the class of an event loads all of the recorder's classes, which takes 0.1 s.
    event = FlightRecorderWatch.isOn() ? RecordedRequest.begun() : null;
    if (observer == null) {
      return;
    }
    RequestObserver installed = RequestObserver.installed();
    if (installed != null) {
      processes = begun(installed);
    }
    installed = observer.get();
    if (installed != null) {
      runtimes = begun(installed);
    }
  }

  private Observation begun(RequestObserver observer) {
    try {
      return observer.begin(new ObservedRequest(model, memory, record, content));
    } catch (RuntimeException | Error e) { // the failure is the observer's, not the request's
      CoreLog.logQuietly("an observer failed as a request began", e);
      return null;
    }
  }

  /** Called if the request was not submitted after all. */
  void refused(Throwable why) {
    event = null;
    if (processes != null || runtimes != null) {
      boolean known = why instanceof NereidException;
      StatusCode status = known ? ((NereidException) why).code() : StatusCode.INTERNAL;
      tell(new Outcome(status, String.valueOf(why.getMessage()), NO_TIME, 0, false, false));
    }
  }

  /** Called when the request is answered, before anybody else has its record. */
  void end() {
    if (event != null) {
      event.end();
      if (record.status() != StatusCode.OK.number()) {
        failed();
      }
      if (event.shouldCommit()) {
        commit();
      }
      event = null;
    }
    if (processes != null || runtimes != null) {
      int status = record.status();
      boolean good = status == StatusCode.OK.number();
      tell(
          new Outcome(
              StatusCode.ofNumber(status),
              good ? "" : record.failure(status).getMessage(),
              record.timings(),
              record.executedBatchSize(),
              record.ranInline(),
              record.cacheHit()));
    }
  }

  private void tell(Outcome outcome) {
    Observation processes = this.processes;
    Observation runtimes = this.runtimes;
    this.processes = null;
    this.runtimes = null;
    tell(processes, outcome);
    tell(runtimes, outcome);
  }

  private static void tell(Observation observation, Outcome outcome) {
    if (observation == null) {
      return;
    }
    try {
      observation.end(outcome);
    } catch (RuntimeException | Error e) { // else the answer would reach nobody
      CoreLog.logQuietly("an observer failed as a request ended", e);
    }
  }

  private void failed() {
    RecordedFailure failed = new RecordedFailure();
    if (failed.shouldCommit()) {
      NereidException failure = record.failure(record.status());
      failed.model = model.name();
      failed.version = model.version();
      failed.id = content.id();
      failed.status = failure.code().name();
      failed.reason = failure.getMessage();
      failed.commit();
    }
  }

  private void commit() {
    Timings timings = record.timings();
    event.model = model.name();
    event.version = model.version();
    event.id = content.id();
    event.status = StatusCode.ofNumber(record.status()).name();
    event.queue = timings.queueNs();
    event.computeInput = timings.computeInputNs();
    event.computeInfer = timings.computeInferNs();
    event.computeOutput = timings.computeOutputNs();
    event.batchSize = record.executedBatchSize();
    event.inline = record.ranInline();
    event.cacheHit = record.cacheHit();
    event.commit();
  }
}

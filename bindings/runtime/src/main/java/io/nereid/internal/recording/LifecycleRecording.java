package io.nereid.internal.recording;

import io.nereid.model.LifecycleListener;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelEvent;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** Records the events of models' lives in Java's Flight Recorder. */
public final class LifecycleRecording implements LifecycleListener {

  @Override
  public void onEvent(ModelEvent event) {
    switch (event) {
      case ModelEvent.Ready ready -> record(ready, "ready", null, ready.times());
      case ModelEvent.Failed failed -> record(failed, "failed", failed.cause().getMessage(), null);
      case ModelEvent.Replaced replaced -> record(replaced, "replaced", null, null);
      case ModelEvent.Unloaded unloaded -> record(unloaded, "unloaded", null, null);
      case ModelEvent.Waiting waiting -> {}
      case ModelEvent.Loading loading -> {}
      case ModelEvent.Draining draining -> {}
    }
  }

  private static void record(ModelEvent event, String step, String reason, LoadTimes times) {
    if (!FlightRecorderWatch.isOn()) {
      return;
    }
    RecordedLifecycle recorded = new RecordedLifecycle();
    recorded.model = event.model();
    recorded.version = event.version();
    recorded.step = step;
    recorded.reason = reason;
    if (times != null) {
      recorded.read = times.read().toNanos();
      recorded.parse = times.parse().toNanos();
      recorded.session = times.session().toNanos();
      recorded.warmUp = times.warmUp().toNanos();
    }
    recorded.commit();
  }

  /** A step in the life of a version of a model, for Java's Flight Recorder. */
  @Name("nereid.Lifecycle")
  @Label("Model Lifecycle")
  @Category("Nereid")
  @Description("A version of a model was loaded, could not be, or was unloaded")
  @StackTrace(false)
  static final class RecordedLifecycle extends Event {

    @Label("Model")
    public String model;

    @Label("Version")
    public long version;

    @Label("Step")
    @Description("ready, failed, replaced or unloaded")
    public String step;

    @Label("Reason")
    public String reason;

    @Label("Read Time")
    @Timespan
    public long read;

    @Label("Parse Time")
    @Timespan
    public long parse;

    @Label("Session Time")
    @Timespan
    public long session;

    @Label("Warm-up Time")
    @Timespan
    public long warmUp;
  }
}

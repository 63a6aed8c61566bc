package io.nereid.internal.recording;

import io.nereid.model.LifecycleListener;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelEvent;

/** Tells Java's Flight Recorder what becomes of models. */
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
    if (!Recorder.isOn()) {
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
}

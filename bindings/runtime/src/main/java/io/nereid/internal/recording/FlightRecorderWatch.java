package io.nereid.internal.recording;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;

/**
 * Knows whether Java's Flight Recorder runs, and makes periodic events while it does. A request
 * asks a plain field, which costs nothing. This class never starts the recorder, which takes a
 * third of a second: it registers periodic events once other code has.
 */
public final class FlightRecorderWatch {

  private static final List<Figures> FIGURES = new CopyOnWriteArrayList<>();
  private static boolean on; // plain: a request that sees a change late is not recorded
  private static volatile boolean started;

  static {
    FlightRecorder.addListener(new Listener());
  }

  private FlightRecorderWatch() {}

  /** The figures that a runtime tells once a second, on the recorder's own thread. */
  public static final class Figures {
    private final Runnable models;
    private final Runnable pool;
    private final AtomicBoolean handed = new AtomicBoolean();

    public Figures(Runnable models, Runnable pool) {
      this.models = models;
      this.pool = pool;
    }

    /**
     * Registers the events without holding a lock, because the recorder calls the listener under
     * its own.
     */
    private void hand() {
      if (handed.compareAndSet(false, true)) {
        FlightRecorder.addPeriodicEvent(RecordedModel.class, models);
        FlightRecorder.addPeriodicEvent(RecordedPool.class, pool);
      }
    }
  }

  /** True while a recording runs. */
  public static boolean isOn() {
    return on;
  }

  /** Records the figures from now on, while a recording runs. */
  public static void add(Figures figures) {
    FIGURES.add(figures);
    if (started) {
      figures.hand();
    }
  }

  /** Stops recording the figures, which may be asked for once more meanwhile. */
  public static void remove(Figures figures) {
    FIGURES.remove(figures);
    if (!figures.handed.compareAndSet(false, true)) {
      FlightRecorder.removePeriodicEvent(figures.models);
      FlightRecorder.removePeriodicEvent(figures.pool);
    }
  }

  private static final class Listener implements FlightRecorderListener {
    @Override
    public void recorderInitialized(FlightRecorder recorder) {
      look(recorder);
      started = true;
      FIGURES.forEach(Figures::hand);
    }

    @Override
    public void recordingStateChanged(Recording recording) {
      look(FlightRecorder.getFlightRecorder());
    }

    private static void look(FlightRecorder recorder) {
      on =
          recorder.getRecordings().stream()
              .anyMatch(recording -> recording.getState() == RecordingState.RUNNING);
    }
  }
}

package io.nereid.server.shared;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.Nereid;
import io.nereid.recording.Recorder;
import io.nereid.recording.RecordingOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Begins and ends the recording of requests while the server runs, to the directory set at the
 * start, which clients cannot choose. Any thread may call; the server closes it.
 */
public final class RecordingSwitch implements AutoCloseable {

  private static final Recorder.Statistics NOTHING = new Recorder.Statistics(0, 0, 0, 0);

  private final Nereid nereid;
  private final Optional<RecordingOptions> options;

  @GuardedBy("this")
  private Recorder recorder; // null: nothing is recorded

  @GuardedBy("this")
  private final List<Recorder> ending = new ArrayList<>(); // that may wait for the disk

  @GuardedBy("this")
  private Recorder.Statistics before = NOTHING; // figures of the recorders that have ended

  /** Makes a switch that is off, for good if there are no options. */
  RecordingSwitch(Nereid nereid, Optional<RecordingOptions> options) {
    this.nereid = nereid;
    this.options = options;
  }

  /** The settings of recordings; empty: recording is not possible. */
  public Optional<RecordingOptions> options() {
    return options;
  }

  /** True if requests are recorded now. */
  public synchronized boolean isOn() {
    return recorder != null;
  }

  /** Records from now on; does nothing while recording. */
  public synchronized void start() {
    RecordingOptions how =
        options.orElseThrow(() ->
            new NereidException(
                StatusCode.FAILED_PRECONDITION,
                "the server was started without a directory for recordings: --record"
                    + " DIR,start=false names one"));
    if (recorder == null) {
      recorder = Recorder.start(nereid, how);
    }
  }

  /** Stops recording; returns when everything is written, for which nobody else waits. */
  public void stop() {
    List<Recorder> stopped;
    synchronized (this) {
      if (recorder != null) {
        ending.add(recorder);
        recorder = null;
      }
      stopped = List.copyOf(ending);
    }
    stopped.forEach(Recorder::close);
    synchronized (this) {
      for (Recorder each : stopped) {
        if (ending.remove(each)) {
          before = sum(before, each.statistics());
        }
      }
    }
  }

  /** The figures since the server was started. */
  public synchronized Recorder.Statistics statistics() {
    Recorder.Statistics all = before;
    for (Recorder each : ending) {
      all = sum(all, each.statistics());
    }
    return recorder == null ? all : sum(all, recorder.statistics());
  }

  private static Recorder.Statistics sum(Recorder.Statistics a, Recorder.Statistics b) {
    return new Recorder.Statistics(
        a.recorded() + b.recorded(),
        a.dropped() + b.dropped(),
        a.writtenBytes() + b.writtenBytes(),
        a.savedBytes() + b.savedBytes());
  }

  @Override
  public void close() {
    stop();
  }
}

package io.nereid.server.shared;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.Nereid;
import io.nereid.recording.Recorder;
import io.nereid.recording.RecordingOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
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

  /** Stops recording; returns when everything is written. */
  public synchronized void stop() {
    if (recorder != null) {
      recorder.close();
      before = statistics();
      recorder = null;
    }
  }

  /** The figures since the server was started. */
  public synchronized Recorder.Statistics statistics() {
    Recorder.Statistics now = recorder == null ? NOTHING : recorder.statistics();
    return new Recorder.Statistics(
        before.recorded() + now.recorded(),
        before.dropped() + now.dropped(),
        before.writtenBytes() + now.writtenBytes(),
        before.savedBytes() + now.savedBytes());
  }

  @Override
  public void close() {
    stop();
  }
}

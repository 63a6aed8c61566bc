package io.nereid.internal.recording;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** A step in the life of a version of a model, for Java's Flight Recorder. */
@Name("nereid.Lifecycle")
@Label("Model Lifecycle")
@Category("Nereid")
@Description("A version of a model was loaded, could not be, or was unloaded")
@StackTrace(false)
final class RecordedLifecycle extends Event {

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

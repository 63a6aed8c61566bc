package io.nereid.internal.recording;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A request that was refused, given up or failed, for Java's Flight Recorder. */
@Name("nereid.Failure")
@Label("Failed Request")
@Category("Nereid")
@Description("A request that ended with an error: refused, cancelled, too late, or failed")
@StackTrace(false)
public final class RecordedFailure extends Event {

  @Label("Model")
  public String model;

  @Label("Version")
  public long version;

  @Label("Id")
  public String id;

  @Label("Status")
  public String status;

  @Label("Reason")
  public String reason;
}

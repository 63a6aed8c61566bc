package io.nereid.internal.recording;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** The figures of a version of a model, once a second, for Java's Flight Recorder. */
@Name("nereid.Model")
@Label("Model Statistics")
@Category("Nereid")
@Description("What a model has done since it was loaded, and what it does now")
@StackTrace(false)
@Period("1 s")
public final class RecordedModel extends Event {

  @Label("Model")
  public String model;

  @Label("Version")
  public long version;

  @Label("Requests Answered")
  public long success;

  @Label("Requests Failed")
  public long failed;

  @Label("Requests Rejected")
  public long rejected;

  @Label("Rows Executed")
  public long inferences;

  @Label("Batches Executed")
  public long executions;

  @Label("Requests in Queue")
  public long pending;

  @Label("Requests Executing")
  public long executing;

  @Label("Queue Time")
  @Description("Of all requests together")
  @Timespan
  public long queue;

  @Label("Execution Time")
  @Description("Of all requests together")
  @Timespan
  public long compute;

  @Label("Live Buffers")
  @Description("Memory of the pool for its requests")
  @DataAmount
  public long poolBytes;

  @Label("Process")
  @Description("It runs in a process of its own; 0: in this one, or none is there now")
  public long process;

  @Label("Processes Lost")
  public long restarts;

  @Label("Last End of a Process")
  public String lastEnd;
}

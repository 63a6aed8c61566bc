package io.nereid.internal.recording;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;

/**
 * A request from when it is submitted until its answer is there, for Java's Flight Recorder. Made
 * by the thread that submits it, committed by the one that completes it.
 */
@Name("nereid.Request")
@Label("Request")
@Category("Nereid")
@Description("A request to a model, from its submission to its answer")
@StackTrace(false)
@Threshold("1 ms")
public final class RecordedRequest extends Event {

  @Label("Model")
  public String model;

  @Label("Version")
  public long version;

  @Label("Id")
  public String id;

  @Label("Status")
  public String status;

  @Label("Queue Time")
  @Timespan
  public long queue;

  @Label("Input Time")
  @Description("Reading and gathering the inputs")
  @Timespan
  public long computeInput;

  @Label("Execution Time")
  @Timespan
  public long computeInfer;

  @Label("Output Time")
  @Description("Handing out the outputs")
  @Timespan
  public long computeOutput;

  @Label("Batch Size")
  @Description("Rows of the batch that it was executed in; 0: it was not")
  public int batchSize;

  @Label("Inline")
  @Description("Executed on the thread that submitted it")
  public boolean inline;

  @Label("Cache Hit")
  public boolean cacheHit;

  /** Returns an event that begins now. */
  public static RecordedRequest begun() {
    RecordedRequest event = new RecordedRequest();
    event.begin();
    return event;
  }
}

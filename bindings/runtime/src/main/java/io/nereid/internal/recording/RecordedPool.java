package io.nereid.internal.recording;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/** The figures of a runtime's memory pool, once a second, for Java's Flight Recorder. */
@Name("nereid.Pool")
@Label("Memory Pool")
@Category("Nereid")
@StackTrace(false)
@Period("1 s")
public final class RecordedPool extends Event {

  @Label("Limit")
  @DataAmount
  public long limit;

  @Label("Reserved")
  @DataAmount
  public long reserved;

  @Label("Live")
  @DataAmount
  public long live;

  @Label("Live Buffers")
  public long buffers;

  @Label("Allocations")
  public long allocations;

  @Label("Refused Allocations")
  public long failures;
}

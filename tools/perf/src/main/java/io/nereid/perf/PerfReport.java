package io.nereid.perf;

import io.nereid.client.ServerMetadata;
import io.nereid.perf.RequestPlan.TensorForm;
import java.time.Instant;
import java.util.List;

/**
 * All results of a run.
 *
 * @param started when it began
 * @param server the measured server
 * @param plan the properties of requests
 * @param requestBytes of one request, its head included
 * @param rows of one request
 * @param process the server's
 * @param clientThreads of the generator
 * @param options the options of the measurement
 * @param results of the loads to report, in order
 * @param slo the latency target; null: none
 * @param outcome of the search for it
 * @param failure the failure that ended the run early; null: none
 */
record PerfReport(
    Instant started,
    ServerMetadata server,
    RequestPlan plan,
    long requestBytes,
    int rows,
    ServerProcess process,
    int clientThreads,
    LevelRunner.Options options,
    List<LevelResult> results,
    SloSearch.Goal slo,
    SloSearch.Outcome outcome,
    String failure) {

  static final double[] PERCENTILES = {50, 90, 95, 99, 99.9};

  /** Such as {@code 2 processors, Java 25, Linux 6.1}. */
  static String machine() {
    return Runtime.getRuntime().availableProcessors()
        + " processors, Java "
        + Runtime.version().feature()
        + ", "
        + System.getProperty("os.name")
        + " "
        + System.getProperty("os.version");
  }

  /** Describes in a line the model, the server and the requests. */
  String subject() {
    return plan.model().name()
        + (plan.target().version().isEmpty() ? "" : " version " + plan.target().version())
        + " at "
        + plan.target()
        + ", "
        + requestBytes
        + " bytes a request, inputs "
        + form(plan.inputForm())
        + ", outputs "
        + form(plan.outputForm())
        + (rows > 1 ? ", batches of " + rows : "")
        + (plan.requestIds() ? ", each with its own id" : "")
        + (plan.sequences() ? ", sequences" : "")
        + (plan.streaming() ? ", streams" : "");
  }

  private static String form(TensorForm form) {
    return switch (form) {
      case JSON -> "as JSON";
      case BINARY -> "binary";
      case SHM -> "in shared memory";
    };
  }

  static String percentileName(double percentile) {
    return "p" + (percentile == Math.rint(percentile) ? "" + (int) percentile : "" + percentile);
  }
}

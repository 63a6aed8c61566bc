package io.nereid.perf;

import picocli.CommandLine.Option;

/** The options for the amount and kind of load. */
final class LoadArguments {

  private static final String USUAL_SEARCH = "1:1024";

  /** The values of {@code --request-distribution}, which perf_analyzer has as well. */
  enum Distribution {
    CONSTANT,
    POISSON
  }

  @Option(
      names = {"--concurrency", "--concurrency-range"},
      paramLabel = "RANGE",
      description =
          "Closed loop: so many requests under way at a time, such as 8, 1:32, 1:32:4 (step) or"
              + " 1:32:x2 (factor); 1 by default.")
  private String concurrency;

  @Option(
      names = {"--rate", "--request-rate-range"},
      paramLabel = "RANGE",
      description =
          "Open loop: so many requests a second, whatever the server does; latencies count from"
              + " when a request was due.")
  private String rate;

  @Option(names = "--poisson", description = "Open loop with random gaps: a Poisson process.")
  private boolean poisson;

  @Option(
      names = "--request-distribution",
      paramLabel = "constant|poisson",
      description = "'poisson' is --poisson.")
  private Distribution distribution;

  @Option(
      names = "--max-outstanding",
      paramLabel = "N",
      defaultValue = "256",
      description =
          "Open loop: requests under way at most, over HTTP also connections;"
              + " ${DEFAULT-VALUE} by default.")
  private int mostOutstanding;

  @Option(
      names = "--slo",
      paramLabel = "TARGET",
      description =
          "Find the highest load that meets a latency, such as p99<=10ms, avg<=500us or max<=1s,"
              + " within the range; concurrency "
              + USUAL_SEARCH
              + " by default.")
  private String slo;

  @Option(
      names = {"-l", "--latency-threshold"},
      paramLabel = "MS",
      description = "End a range at the first load whose latency (see --percentile) is above this.")
  private Double latencyThresholdMs;

  @Option(
      names = "--sequences",
      description = "Send sequences: requests with sequence_id, sequence_start and sequence_end.")
  private boolean sequences;

  @Option(
      names = "--sequence-length",
      paramLabel = "N",
      description = "Requests of a sequence on average; 20 by default, or as the data have it.")
  private Integer sequenceLength;

  @Option(
      names = "--sequence-length-variation",
      paramLabel = "PERCENT",
      defaultValue = "20",
      description = "How far lengths are from that; ${DEFAULT-VALUE} by default.")
  private double sequenceVariation;

  @Option(
      names = "--num-of-sequences",
      paramLabel = "N",
      description = "Open loop: how many sequences are under way at a time at most.")
  private Integer sequenceCount;

  @Option(
      names = "--streaming",
      description =
          "gRPC: each place is a stream of ModelStreamInfer, which decoupled models need; tells"
              + " when the first and further responses come.")
  private boolean streaming;

  @Option(
      names = "--connections",
      paramLabel = "N",
      defaultValue = "8",
      description = "gRPC: connections that calls are shared out over; ${DEFAULT-VALUE} at most.")
  private int connections;

  @Option(
      names = {"--client-threads", "--max-threads"},
      paramLabel = "N",
      description = "Threads of this generator; a quarter of the processors by default.")
  private Integer threads;

  boolean isPoisson() {
    return poisson || distribution == Distribution.POISSON;
  }

  LoadRange range() {
    DataArguments.expect(rate == null || concurrency == null, "--concurrency or --rate, got both");
    DataArguments.expect(rate != null || !isPoisson(), "--poisson with --rate, got no rate");
    DataArguments.expect(
        mostOutstanding >= 1, "--max-outstanding of 1 or more, got " + mostOutstanding);
    if (rate != null) {
      return LoadRange.of(rate, false);
    }
    String usual = slo == null ? "1" : USUAL_SEARCH;
    LoadRange range = LoadRange.of(concurrency == null ? usual : concurrency, true);
    DataArguments.expect(
        range.last() <= 65_536, "a concurrency of at most 65536, got " + range.last());
    return range;
  }

  LoadLevel level(double value) {
    if (rate == null) {
      return LoadLevel.closed((int) value);
    }
    int most = sequences && sequenceCount != null ? sequenceCount : mostOutstanding;
    return LoadLevel.open(value, isPoisson(), most);
  }

  /** The latency target; null: none. */
  SloSearch.Goal slo() {
    return slo == null ? null : SloSearch.Goal.of(slo);
  }

  /** The latency threshold; infinite: none. */
  double latencyThresholdUs() {
    return latencyThresholdMs == null ? Double.POSITIVE_INFINITY : latencyThresholdMs * 1e3;
  }

  /** The sequences; null: single requests. */
  Requests.Sequences sequences(long seed) {
    if (!sequences) {
      return null;
    }
    int length = sequenceLength == null ? 20 : sequenceLength;
    DataArguments.expect(length >= 1, "--sequence-length of 1 or more, got " + length);
    DataArguments.expect(
        sequenceVariation >= 0 && sequenceVariation <= 100,
        "--sequence-length-variation from 0 to 100, got " + sequenceVariation);
    return new Requests.Sequences(length, sequenceVariation / 100, seed);
  }

  boolean streaming() {
    return streaming;
  }

  int connections() {
    DataArguments.expect(connections >= 1, "--connections of 1 or more, got " + connections);
    return connections;
  }

  int threads() {
    if (threads == null) {
      return Math.max(1, Runtime.getRuntime().availableProcessors() / 4);
    }
    DataArguments.expect(
        threads >= 1 && threads <= 1024, "--client-threads from 1 to 1024, got " + threads);
    return threads;
  }
}

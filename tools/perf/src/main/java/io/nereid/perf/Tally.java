package io.nereid.perf;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/** The counts of one thread of the generator; they are emptied at the end of each window. */
final class Tally {

  static final int DIGITS = 3;

  private final Recorder latency = new Recorder(DIGITS);
  private final Recorder sendDelay = new Recorder(DIGITS);
  private final Recorder firstResponse = new Recorder(DIGITS);
  private final Recorder betweenResponses = new Recorder(DIGITS);
  private final LongAdder rows = new LongAdder();
  private final LongAdder succeeded = new LongAdder();
  private final LongAdder sequences = new LongAdder();
  private final Map<String, AtomicLong> errors = new ConcurrentHashMap<>();

  void success(long latencyNs, int rowCount) {
    latency.recordValue(Math.max(0, latencyNs));
    rows.add(rowCount);
    succeeded.increment();
  }

  /** The last request of a sequence was answered. */
  void sequenceEnded() {
    sequences.increment();
  }

  /** Records the delay in sending a request of an open loop. */
  void sent(long delayNs) {
    sendDelay.recordValue(Math.max(0, delayNs));
  }

  void firstResponse(long sinceIntendedNs) {
    firstResponse.recordValue(Math.max(0, sinceIntendedNs));
  }

  void furtherResponse(long sinceLastNs) {
    betweenResponses.recordValue(Math.max(0, sinceLastNs));
  }

  void error(String status) {
    errors.computeIfAbsent(status, any -> new AtomicLong()).incrementAndGet();
  }

  /** All successes since the beginning. */
  long succeeded() {
    return succeeded.sum();
  }

  /** The rows of all successes since the beginning. */
  long rows() {
    return rows.sum();
  }

  /** Adds the counts since the last call to {@code counts}, and resets them. */
  void drainInto(Counts counts) {
    add(latency, counts.latency());
    add(sendDelay, counts.sendDelay());
    add(firstResponse, counts.firstResponse());
    add(betweenResponses, counts.betweenResponses());
    counts.ended().addAndGet(sequences.sumThenReset());
    errors.forEach((status, count) -> {
      long number = count.getAndSet(0);
      if (number > 0) {
        counts.errors().merge(status, number, Long::sum);
      }
    });
  }

  private static void add(Recorder recorder, Histogram into) {
    into.add(recorder.getIntervalHistogram());
  }

  /**
   * Sums of any number of tallies over any number of windows.
   *
   * @param errors the requests that failed, by status
   * @param ended the sequences that ended
   */
  record Counts(
      Histogram latency,
      Histogram sendDelay,
      Histogram firstResponse,
      Histogram betweenResponses,
      Map<String, Long> errors,
      AtomicLong ended) {

    Counts() {
      this(
          new Histogram(DIGITS),
          new Histogram(DIGITS),
          new Histogram(DIGITS),
          new Histogram(DIGITS),
          new TreeMap<>(),
          new AtomicLong());
    }

    long sequences() {
      return ended.get();
    }

    long errorCount() {
      return errors.values().stream().mapToLong(Long::longValue).sum();
    }

    void add(Counts other) {
      latency.add(other.latency);
      sendDelay.add(other.sendDelay);
      firstResponse.add(other.firstResponse);
      betweenResponses.add(other.betweenResponses);
      ended.addAndGet(other.sequences());
      other.errors.forEach((status, count) -> errors.merge(status, count, Long::sum));
    }
  }
}

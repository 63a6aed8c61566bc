package io.nereid.recording.replay;

import io.nereid.recording.AnswerSource;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.compare.Answer;
import io.nereid.recording.compare.AnswerComparison;
import io.nereid.recording.compare.OutputFigures;
import io.nereid.recording.compare.Tolerance;
import io.nereid.types.NereidException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Has two sides answer the requests of a recording, one after the other, and compares the answers.
 * For one thread.
 *
 * @param a the side that the other is held to
 * @param b the other side
 * @param tolerances of {@link Tolerance#read}
 */
public record ReplayedAnswers(AnswerSource a, AnswerSource b, Map<String, Tolerance> tolerances) {

  /**
   * Compares.
   *
   * @param calls in the order in which they are sent
   * @param noisy where answers differ, its noise is measured, and the requests are compared once
   *     more: what is not further apart does not differ; empty: all that is apart does
   * @param worst is told the requests that differ
   */
  public AnswerComparison compare(
      List<RecordedCall> calls, Optional<AnswerSource> noisy, WorstCalls worst) {
    AnswerComparison first = new AnswerComparison(tolerances, Map.of());
    compare(calls, first, worst);
    Set<String> differing =
        first.figures().stream()
            .filter(figures -> figures.differing() > 0)
            .map(OutputFigures::output)
            .collect(Collectors.toSet());
    if (noisy.isEmpty() || differing.isEmpty()) {
      return first;
    }
    List<RecordedCall> suspects =
        calls.stream()
            .filter(call -> !call.sequence().isThere())
            .filter(call ->
                differing.stream().anyMatch(output -> output.startsWith(call.model() + "/")))
            .toList();
    AnswerComparison moved = moved(suspects, noisy.get());
    AnswerComparison second = new AnswerComparison(tolerances, BatchSensitivity.noise(moved));
    worst.clear();
    compare(calls, second, worst);
    return second;
  }

  /** Both sides answer requests alone, but what was recorded may have had company. */
  private AnswerComparison moved(List<RecordedCall> calls, AnswerSource noisy) {
    if (a == AnswerSource.RECORDED) {
      return BatchSensitivity.measure(calls, noisy, BatchSensitivity.Options.DEFAULT);
    }
    AnswerComparison moved = new AnswerComparison(Map.of(), Map.of());
    new ReplayedAnswers(noisy, noisy, Map.of()).compare(calls, moved, new WorstCalls(0));
    return moved;
  }

  private void compare(List<RecordedCall> calls, AnswerComparison into, WorstCalls worst) {
    for (RecordedCall call : calls) {
      Side one = Side.of(a, call);
      Side other = Side.of(b, call);
      String request = name(call);
      if (one.isThere() && other.isThere()) {
        worst.add(into.add(call.model(), request, one.outputs(), other.outputs()), call);
      } else {
        into.addFailure(call.model(), request, one.end(), other.end());
        worst.add(one.end().equals(other.end()) ? 0 : Double.POSITIVE_INFINITY, call);
      }
    }
  }

  static String said(NereidException failure) {
    return failure.code() + ": " + failure.getMessage();
  }

  /** Tells a request from others: its id, or when it arrived. */
  static String name(RecordedCall call) {
    return call.id().isEmpty() ? call.arrival().toString() : call.id();
  }

  /** The outcome of a request at one side. */
  private record Side(Map<String, Answer> outputs, String end) {

    static Side of(AnswerSource source, RecordedCall call) {
      try {
        return new Side(source.answer(call), "OK");
      } catch (NereidException e) {
        return new Side(Map.of(), said(e));
      }
    }

    boolean isThere() {
      return end.equals("OK");
    }
  }
}

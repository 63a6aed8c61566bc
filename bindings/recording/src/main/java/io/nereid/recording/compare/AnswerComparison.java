package io.nereid.recording.compare;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Compares the answers of two sides to the same requests, output by output. An element differs when
 * it is further from the first side's than the tolerance allows; anything but numbers differs when
 * a byte does. For any number of threads; it keeps figures, and none of the answers.
 */
public final class AnswerComparison {

  private static final int FAILURES_KEPT = 10;

  /** The figures of one output. */
  private static final class OfOutput {
    private long answers;
    private long differing;
    private long withinNoise;
    private long otherShapes;
    private long topChanges;
    private long notFinite;
    private double mostAbsolute;
    private double mostRelative;
    private double leastCosine = 1;
    private final long[] ulps = new long[Long.SIZE + 1];
    private int largestUlps = -1;
    private String worst = "";
    private double worstBy;

    void countUlps(int bucket, long elements) {
      ulps[bucket] += elements;
      largestUlps = Math.max(largestUlps, bucket);
    }

    OutputFigures figures(String name, double noise) {
      List<Long> histogram = new ArrayList<>();
      for (int i = 0; i <= largestUlps; i++) {
        histogram.add(ulps[i]);
      }
      return new OutputFigures(
          name,
          answers,
          differing,
          withinNoise,
          noise,
          mostAbsolute,
          mostRelative,
          leastCosine,
          topChanges,
          notFinite,
          otherShapes,
          List.copyOf(histogram),
          worst);
    }
  }

  /**
   * The distance of two answers.
   *
   * @param tolerances the largest of an element, in tolerances
   * @param absolute the largest of an element
   */
  private record Distance(double tolerances, double absolute) {
    private static final Distance NONE = new Distance(0, 0);
    private static final Distance INFINITE =
        new Distance(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY);
  }

  private final Map<String, Tolerance> tolerances;
  private final Map<String, Double> noise;

  @GuardedBy("this")
  private final Map<String, OfOutput> outputs = new TreeMap<>();

  @GuardedBy("this")
  private final List<String> failures = new ArrayList<>(); // the first ones

  @GuardedBy("this")
  private long differing;

  @GuardedBy("this")
  private long failed;

  @GuardedBy("this")
  private long alike; // failures

  @GuardedBy("this")
  private long requests;

  /**
   * Compares nothing yet.
   *
   * @param tolerances by {@code MODEL/OUTPUT}, as {@link Tolerance#read} has them
   * @param noise how far answers of one side move by themselves, by {@code MODEL/OUTPUT}: no
   *     difference is seen in answers that are not further apart
   */
  public AnswerComparison(Map<String, Tolerance> tolerances, Map<String, Double> noise) {
    this.tolerances = Map.copyOf(tolerances);
    this.noise = Map.copyOf(noise);
  }

  /**
   * Compares the answers to a request.
   *
   * @param request tells it from others
   * @return how far the answers are apart, in tolerances: above 1 they differ
   */
  public synchronized double add(
      String model, String request, Map<String, Answer> a, Map<String, Answer> b) {
    requests++;
    double most = 0;
    TreeSet<String> names = new TreeSet<>(a.keySet());
    names.addAll(b.keySet());
    for (String name : names) {
      String key = model + "/" + name;
      OfOutput output = outputs.computeIfAbsent(key, any -> new OfOutput());
      output.answers++;
      Distance distance = distance(output, tolerance(key), a.get(name), b.get(name));
      if (distance.tolerances() > 1 && distance.absolute() <= noise.getOrDefault(key, 0.0)) {
        output.withinNoise++;
      } else if (distance.tolerances() > 1) {
        output.differing++;
        most = Math.max(most, distance.tolerances());
        if (distance.tolerances() > output.worstBy) {
          output.worstBy = distance.tolerances();
          output.worst = request;
        }
      }
    }
    differing += most > 1 ? 1 : 0;
    return most;
  }

  /** Tells of a request that the sides ended differently, at least one with a failure. */
  public synchronized void addFailure(String model, String request, String a, String b) {
    requests++;
    if (a.equals(b)) {
      alike++;
    } else {
      failed++;
      if (failures.size() < FAILURES_KEPT) {
        failures.add("%s, %s: %s and %s".formatted(model, request, a, b));
      }
    }
  }

  private Tolerance tolerance(String key) {
    Tolerance all = tolerances.getOrDefault(Tolerance.ALL, Tolerance.DEFAULT);
    return tolerances.getOrDefault(key, all);
  }

  private static Distance distance(OfOutput output, Tolerance tolerance, Answer one, Answer other) {
    if (one == null
        || other == null
        || one.dataType() != other.dataType()
        || !one.shape().equals(other.shape())) {
      output.otherShapes++;
      return Distance.INFINITE;
    }
    if (one.content().equals(other.content())) {
      if (one.isFloating()) {
        output.countUlps(0, one.count());
      }
      return Distance.NONE;
    }
    if (!one.isNumeric() || one.count() != other.count()) {
      return Distance.INFINITE;
    }
    return numbers(output, tolerance, one, other);
  }

  private static Distance numbers(OfOutput output, Tolerance tolerance, Answer one, Answer other) {
    double by = 0; // the largest distance, in tolerances
    double most = 0;
    double dot = 0;
    double squaresA = 0;
    double squaresB = 0;
    for (int i = 0; i < one.count(); i++) {
      double a = one.number(i);
      double b = other.number(i);
      if (!Double.isFinite(a) || !Double.isFinite(b)) {
        if (Double.compare(a, b) != 0) {
          output.notFinite++;
          by = Double.POSITIVE_INFINITY;
          most = Double.POSITIVE_INFINITY;
        }
        continue;
      }
      double distance = Math.abs(a - b);
      output.mostAbsolute = Math.max(output.mostAbsolute, distance);
      most = Math.max(most, distance);
      if (a != 0) {
        output.mostRelative = Math.max(output.mostRelative, distance / Math.abs(a));
      }
      if (distance > 0) {
        double allowed = tolerance.absolute() + tolerance.relative() * Math.abs(a);
        by = Math.max(by, allowed == 0 ? Double.POSITIVE_INFINITY : distance / allowed);
      }
      if (one.isFloating()) {
        long ulps = one.place(i) - other.place(i); // unsigned, by its magnitude
        boolean above = one.place(i) >= other.place(i);
        output.countUlps(Long.SIZE - Long.numberOfLeadingZeros(above ? ulps : -ulps), 1);
      }
      dot += a * b;
      squaresA += a * a;
      squaresB += b * b;
    }
    if (squaresA > 0 && squaresB > 0) {
      double cosine = dot / Math.sqrt(squaresA) / Math.sqrt(squaresB);
      output.leastCosine = Math.min(output.leastCosine, cosine);
    }
    output.topChanges += topChanges(one, other);
    return new Distance(by, most);
  }

  /** The rows of the last dimension whose largest element is at another place. */
  private static int topChanges(Answer one, Answer other) {
    int length = one.shape().isEmpty() ? 1 : Math.toIntExact(one.shape().getLast());
    int changes = 0;
    for (int row = 0; length > 1 && row + length <= one.count(); row += length) {
      changes += top(one, row, length) == top(other, row, length) ? 0 : 1;
    }
    return changes;
  }

  private static int top(Answer answer, int from, int length) {
    int top = from;
    for (int i = from + 1; i < from + length; i++) {
      if (answer.number(i) > answer.number(top)) {
        top = i;
      }
    }
    return top;
  }

  /** True if an answer differs by more than it may, or one side failed where the other did not. */
  public synchronized boolean differs() {
    return failed > 0 || outputs.values().stream().anyMatch(output -> output.differing > 0);
  }

  /** The requests so far, with those that failed. */
  public synchronized long requests() {
    return requests;
  }

  /** The requests to which both sides gave answers that differ. */
  public synchronized long differing() {
    return differing;
  }

  /** The requests that the sides ended differently, at least one with a failure. */
  public synchronized long failed() {
    return failed;
  }

  /** The figures so far, by output. */
  public synchronized List<OutputFigures> figures() {
    return outputs.entrySet().stream()
        .map(output ->
            output.getValue().figures(output.getKey(), noise.getOrDefault(output.getKey(), 0.0)))
        .toList();
  }

  /** For people: figures, failures, and the verdict. */
  public synchronized String text() {
    String verdict = differs() ? "Answers differ.\n" : "No answer differs.\n";
    return "answers to " + requests + " requests\n\n" + details() + verdict;
  }

  /** For people: figures and failures. */
  public synchronized String details() {
    StringBuilder text = new StringBuilder();
    figures().forEach(figures -> text.append(figures.text()).append('\n'));
    if (alike > 0) {
      text.append(" ! ").append(alike).append(" requests failed alike at both sides\n");
    }
    failures.forEach(line -> text.append(" ! ").append(line).append('\n'));
    if (failed > failures.size()) {
      text.append(" ! and ").append(failed - failures.size()).append(" others\n");
    }
    return text.toString();
  }
}

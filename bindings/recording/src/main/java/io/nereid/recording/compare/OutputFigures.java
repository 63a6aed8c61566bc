package io.nereid.recording.compare;

import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;

/**
 * Says how far the answers of two sides were apart in one output.
 *
 * @param output {@code MODEL/OUTPUT}
 * @param answers those that were compared
 * @param differing those further apart than the tolerance, and than the noise
 * @param withinNoise those further apart than the tolerance, but not than the noise
 * @param noise how far answers of one side move by themselves; 0: not known, or not at all
 * @param absolute the largest distance of two elements
 * @param relative the largest part of the first side's element that a distance is
 * @param cosine the least cosine of two answers
 * @param topChanges rows whose largest element is at another place
 * @param notFinite elements that are NaN or infinite at one side, or otherwise so at the other
 * @param otherShapes answers of another shape or type, or that one side does not have
 * @param ulps elements by the floating-point numbers between the two: at 0 the equal ones, at k
 *     those of 2^(k-1) up to and without 2^k; empty for other types
 * @param worst the request whose answers are furthest apart; empty: none differs
 */
public record OutputFigures(
    String output,
    long answers,
    long differing,
    long withinNoise,
    double noise,
    double absolute,
    double relative,
    double cosine,
    long topChanges,
    long notFinite,
    long otherShapes,
    List<Long> ulps,
    String worst) {

  /** One line for people, and one more for floating-point numbers that are not the same. */
  public String text() {
    StringBuilder text =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "%s: %d of %d answers differ; absolute %s, relative %s, cosine %.6f, top-1 %d,"
                    + " NaN/Inf %d, shapes %d",
                output,
                differing,
                answers,
                number(absolute),
                number(relative),
                cosine,
                topChanges,
                notFinite,
                otherShapes));
    if (noise > 0) {
      text.append("; ").append(withinNoise).append(" within the noise of ").append(number(noise));
    }
    text.append(worst.isEmpty() ? "" : "; worst " + worst);
    if (ulps.size() > 1) {
      StringJoiner places = new StringJoiner(", ", "\n  ULPs  ", "");
      for (int i = 0; i < ulps.size(); i++) {
        if (ulps.get(i) > 0) {
          places.add((i == 0 ? "0" : i == 1 ? "1" : "2^" + (i - 1)) + ": " + ulps.get(i));
        }
      }
      text.append(places);
    }
    return text.toString();
  }

  private static String number(double value) {
    return value == 0 ? "0" : String.format(Locale.ROOT, "%.2e", value);
  }
}

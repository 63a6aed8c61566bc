package io.nereid.benchmarks.peers;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Cases that a fork runs together, and who runs them beside Nereid. */
enum Plan {
  IDENTITY("The identity model", List.of(Side.TRITON, Side.TRITON_JAVACPP), Case.identity()),
  ONNX("ONNX models", List.of(Side.ONNXRUNTIME, Side.ONNXRUNTIME_ASLEEP, Side.DJL), Case.onnx());

  final String title;
  private final List<Side> peers;
  private final List<Case> cases;

  Plan(String title, List<Side> peers, List<Case> cases) {
    this.title = title;
    this.peers = peers;
    this.cases = cases;
  }

  String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  List<Side> peers() {
    return peers;
  }

  List<Case> cases() {
    return cases;
  }

  /**
   * One figure to be taken.
   *
   * @param workload what is asked
   * @param mode who sends the next request
   * @param inFlight how many requests are in flight at any time
   */
  record Case(Workload workload, Mode mode, int inFlight) {

    /** The ways to send the next request when one is answered. */
    enum Mode {
      /** A virtual thread for each request in flight sends it and waits for the answer. */
      WAITING("waiting threads"),
      /**
       * The thread that brings the answer sends the next request: no thread of the caller's takes
       * part.
       */
      CALLBACK("callbacks");

      final String label;

      Mode(String label) {
        this.label = label;
      }
    }

    /** The name in results; stable. */
    String id() {
      return (workload + "." + mode + "." + inFlight).toLowerCase(Locale.ROOT);
    }

    static List<Case> identity() {
      return Stream.of(Workload.IDENTITY_SMALL, Workload.IDENTITY_LARGE)
          .flatMap(workload ->
              Stream.of(Mode.values())
                  .flatMap(
                      mode -> Stream.of(1, 8, 64).map(count -> new Case(workload, mode, count))))
          .toList();
    }

    static List<Case> onnx() {
      return List.of(
          new Case(Workload.DIGITS, Mode.WAITING, 1),
          new Case(Workload.DIGITS, Mode.WAITING, 8),
          new Case(Workload.DIGITS, Mode.WAITING, 64),
          new Case(Workload.MINILM, Mode.WAITING, 1),
          new Case(Workload.MINILM, Mode.WAITING, 8));
    }
  }
}

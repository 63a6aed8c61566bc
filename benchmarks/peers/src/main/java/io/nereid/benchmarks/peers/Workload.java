package io.nereid.benchmarks.peers;

/** The requests that are sent: every side gets the same model and the same input. */
enum Workload {
  IDENTITY_SMALL("identity, 64 B"),
  IDENTITY_LARGE("identity, 602 112 B"),
  DIGITS("digits"),
  MINILM("MiniLM, 16 tokens");

  final String label;

  Workload(String label) {
    this.label = label;
  }

  /** Values of an identity request, FP32. */
  int elements() {
    return switch (this) {
      case IDENTITY_SMALL -> 16;
      case IDENTITY_LARGE -> 3 * 224 * 224;
      case DIGITS, MINILM ->
          throw new IllegalStateException(this + " is not of the identity model");
    };
  }
}

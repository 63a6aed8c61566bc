package io.nereid.benchmarks.peers;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.benchmarks.peers.Plan.Workload;
import io.nereid.types.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The inputs of one request that is sent again and again, in native memory that stays, and what its
 * answers must be. The input of the identity model carries another number each time, so an answer
 * to an earlier request is found out; an ONNX model must answer as it did the first time. One
 * request at a time.
 *
 * @param inputs what is sent
 * @param output the name of the output that is read
 * @param outputShape its shape
 */
record Question(Workload workload, List<Input> inputs, String output, long[] outputShape) {

  /** Memory that is aligned so is lent to Nereid without a copy. */
  static final long ALIGNMENT = 64;

  /** Answers differ in the order of additions only; those of quantised models differ most. */
  private static final double TOLERANCE = 1e-3;

  private static final int IMAGE_SIDE = 8;
  private static final int TOKENS = 16;

  /** The first value of the first answer, by workloads; NaN before it. */
  private static final double[] ANSWERS = {0, 0, Double.NaN, Double.NaN};

  /** One input of a request. */
  record Input(String name, DataType type, long[] shape, MemorySegment data) {}

  static Question of(Workload workload) {
    return switch (workload) {
      case IDENTITY_SMALL -> identity(workload, 16);
      case IDENTITY_LARGE -> identity(workload, 3 * 224 * 224);
      case DIGITS -> {
        Input image = input("image", DataType.FP32, 1, IMAGE_SIDE, IMAGE_SIDE);
        for (int i = 0; i < IMAGE_SIDE * IMAGE_SIDE; i++) {
          image.data.setAtIndex(JAVA_FLOAT, i, i * 5 % 17); // pixels have 0 to 16
        }
        yield new Question(workload, List.of(image), "scores", new long[] {1, 10});
      }
      case MINILM ->
          new Question(
              workload,
              List.of(
                  tokens("input_ids", LongStream.range(0, TOKENS).map(i -> 2000 + i * 37)),
                  tokens("attention_mask", LongStream.generate(() -> 1)),
                  tokens("token_type_ids", LongStream.generate(() -> 0))),
              "last_hidden_state",
              new long[] {1, TOKENS, 384});
    };
  }

  private static Question identity(Workload workload, int elements) {
    Input input = input("INPUT0", DataType.FP32, 1, elements);
    return new Question(workload, List.of(input), "OUTPUT0", input.shape);
  }

  private static Input input(String name, DataType type, long... shape) {
    return new Input(name, type, shape, allocate(elements(shape) * type.byteSize()));
  }

  private static Input tokens(String name, LongStream values) {
    Input input = input(name, DataType.INT64, 1, TOKENS);
    MemorySegment.copy(values.limit(TOKENS).toArray(), 0, input.data, JAVA_LONG, 0, TOKENS);
    return input;
  }

  private static long elements(long[] shape) {
    return LongStream.of(shape).reduce(1, (a, b) -> a * b);
  }

  /** Native memory that lasts as long as somebody refers to it. */
  static MemorySegment allocate(long byteSize) {
    return Arena.ofAuto().allocate(byteSize, ALIGNMENT);
  }

  long outputByteSize() {
    return elements(outputShape) * Float.BYTES;
  }

  private boolean isIdentity() {
    return workload == Workload.IDENTITY_SMALL || workload == Workload.IDENTITY_LARGE;
  }

  /** Makes the input that of the next request. */
  void next() {
    if (isIdentity()) {
      MemorySegment data = inputs.getFirst().data;
      long stamp = data.get(JAVA_LONG, 0) + 1;
      data.set(JAVA_LONG, 0, stamp);
      data.set(JAVA_LONG, data.byteSize() - Long.BYTES, -stamp);
    }
  }

  /** Throws unless it is the answer to the request that was sent last. */
  void check(MemorySegment answer) {
    if (answer.byteSize() != outputByteSize()) {
      throw new IllegalStateException(
          "%s: expected an answer of %d bytes, got %d"
              .formatted(workload.label, outputByteSize(), answer.byteSize()));
    }
    if (isIdentity()) {
      long stamp = inputs.getFirst().data.get(JAVA_LONG, 0);
      checkSame(stamp, answer.get(JAVA_LONG, 0));
      checkSame(-stamp, answer.get(JAVA_LONG, answer.byteSize() - Long.BYTES));
      return;
    }
    float got = answer.get(JAVA_FLOAT_UNALIGNED, 0);
    if (Double.isNaN(answer(workload))) {
      ANSWERS[workload.ordinal()] = got;
    }
    checkAnswer(workload, answer(workload), got);
  }

  private void checkSame(long expected, long got) {
    if (expected != got) {
      throw new IllegalStateException(
          "%s: expected an answer with the number %d, got %d"
              .formatted(workload.label, expected, got));
    }
  }

  /** The first value of this process's first answer; 0 for the identity model. */
  static double answer(Workload workload) {
    return ANSWERS[workload.ordinal()];
  }

  /** Throws unless two answers to the same question are nearly the same. */
  static void checkAnswer(Workload workload, double expected, double got) {
    if (!(Math.abs(expected - got) <= TOLERANCE * Math.max(1, Math.abs(expected)))) {
      throw new IllegalStateException(
          "%s: expected an answer with %s, got %s".formatted(workload.label, expected, got));
    }
  }
}

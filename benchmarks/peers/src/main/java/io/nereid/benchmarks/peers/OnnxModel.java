package io.nereid.benchmarks.peers;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;

/**
 * An ONNX file and one request to it.
 *
 * @param inputs what is sent, always the same
 * @param output the output that is read
 * @param outputShape its shape for these inputs
 */
record OnnxModel(
    Workload workload, Path file, List<Input> inputs, String output, long[] outputShape) {

  /** Differences that the order of additions makes; quantised models are the widest. */
  private static final double TOLERANCE = 1e-3;

  private static final int IMAGE_SIDE = 8;
  private static final int TOKENS = 16;
  private static final int EMBEDDING = 384;

  /**
   * An input in native memory that stays.
   *
   * @param integers INT64, and else FP32
   */
  record Input(String name, boolean integers, long[] shape, MemorySegment data) {

    ByteBuffer buffer() {
      return data.asByteBuffer().order(ByteOrder.nativeOrder());
    }
  }

  static OnnxModel of(Workload workload, Places places) {
    return switch (workload) {
      case DIGITS -> digits(workload, places.digits());
      case MINILM -> minilm(workload, places.minilm());
      case IDENTITY_SMALL, IDENTITY_LARGE ->
          throw new IllegalArgumentException(workload + " is no ONNX file");
    };
  }

  private static OnnxModel digits(Workload workload, Path file) {
    MemorySegment image = Arena.ofAuto().allocate(JAVA_FLOAT, IMAGE_SIDE * IMAGE_SIDE);
    for (int i = 0; i < IMAGE_SIDE * IMAGE_SIDE; i++) {
      image.setAtIndex(JAVA_FLOAT, i, i * 5 % 17); // pixels have 0 to 16
    }
    long[] shape = {1, IMAGE_SIDE, IMAGE_SIDE};
    return new OnnxModel(
        workload,
        file,
        List.of(new Input("image", false, shape, image)),
        "scores",
        new long[] {1, 10});
  }

  private static OnnxModel minilm(Workload workload, Path file) {
    return new OnnxModel(
        workload,
        file,
        List.of(
            tokens("input_ids", LongStream.range(0, TOKENS).map(i -> 2000 + i * 37)),
            tokens("attention_mask", LongStream.generate(() -> 1).limit(TOKENS)),
            tokens("token_type_ids", LongStream.generate(() -> 0).limit(TOKENS))),
        "last_hidden_state",
        new long[] {1, TOKENS, EMBEDDING});
  }

  private static Input tokens(String name, LongStream values) {
    MemorySegment data = Arena.ofAuto().allocate(JAVA_LONG, TOKENS);
    MemorySegment.copy(values.toArray(), 0, data, JAVA_LONG, 0, TOKENS);
    return new Input(name, true, new long[] {1, TOKENS}, data);
  }

  int outputElements() {
    return Math.toIntExact(LongStream.of(outputShape).reduce(1, (a, b) -> a * b));
  }

  /** Throws unless two answers to the same request have nearly the same value at one place. */
  void checkSame(float expected, float got) {
    if (!(Math.abs(expected - got) <= TOLERANCE * Math.max(1, Math.abs(expected)))) {
      throw new IllegalStateException(
          "%s: expected an answer with %s, got one with %s"
              .formatted(workload.label, expected, got));
    }
  }
}

package io.nereid;

import io.nereid.internal.model.LoadedModel;
import io.nereid.internal.request.Signature;
import io.nereid.internal.request.Slot;
import io.nereid.model.WarmUp;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.Shapes;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Executes a model's warm-up requests on each of its instances, before the model takes other
 * requests.
 */
final class WarmUpRunner {

  /** Any constant will do: failures are repeatable since it never changes. */
  private static final long SEED = 20_251;

  private static final ValueLayout.OfInt LENGTH = ValueLayout.JAVA_INT_UNALIGNED;

  private final LoadedModel model;

  private WarmUpRunner(LoadedModel model) {
    this.model = model;
  }

  /** Executes all requests; throws the failure of the first one that fails. */
  static void run(LoadedModel model) {
    WarmUpRunner runner = new WarmUpRunner(model);
    for (WarmUp warmUp : model.spec().warmUps()) {
      try {
        runner.run(warmUp);
      } catch (NereidException e) {
        throw new NereidException(e.code(), "warm-up '" + warmUp.name() + "' failed", e);
      }
    }
  }

  private void run(WarmUp warmUp) {
    Slot slot = model.slots().acquire();
    try (InferRequest request = new InferRequest(slot)) {
      for (Map.Entry<String, WarmUp.Input> input : warmUp.inputs().entrySet()) {
        fill(request, input.getKey(), input.getValue(), warmUp.batchSize());
      }
      for (int i = 0; i < warmUp.count(); i++) {
        int status = slot.record().warmUp();
        if (status != StatusCode.OK.number()) {
          throw slot.record().failure(status);
        }
      }
    }
  }

  private void fill(InferRequest request, String name, WarmUp.Input input, long batchSize) {
    boolean batched = model.spec().maxBatchSize() > 0;
    long rows = batched ? batchSize : 1;
    long[] shape = new long[input.dims().size() + (batched ? 1 : 0)];
    shape[0] = rows;
    for (int i = 0; i < input.dims().size(); i++) {
      shape[i + (batched ? 1 : 0)] = input.dims().get(i);
    }
    long[] rowShape = input.dims().stream().mapToLong(Long::longValue).toArray();
    long elements = Shapes.elementCount(rowShape);
    long rowBytes = rowBytes(name, input, elements);
    MemorySegment target =
        input.dataType().isFixedSize()
            ? request.allocateInput(name, shape).segment()
            : request.allocateBytesInput(name, Math.multiplyExact(rowBytes, rows), shape).segment();
    if (target.byteSize() != Math.multiplyExact(rowBytes, rows)) {
      throw Signature.invalid(
          "input '"
              + name
              + "' needs "
              + target.byteSize() / rows
              + " bytes a row, the data has "
              + rowBytes);
    }
    writeRow(name, input, elements, target.asSlice(0, rowBytes));
    for (long i = 1; i < rows; i++) {
      MemorySegment.copy(target, 0, target, i * rowBytes, rowBytes);
    }
  }

  private static long rowBytes(String name, WarmUp.Input input, long elements) {
    DataType type = input.dataType();
    return switch (input.data()) {
      // An empty element of BYTES consists of its length alone, which is 0.
      case WarmUp.Zero zero -> Math.multiplyExact(elements, elementBytes(type, 0));
      case WarmUp.Random random -> Math.multiplyExact(elements, elementBytes(type, 1));
      case WarmUp.Content content -> {
        try {
          yield Files.size(content.path());
        } catch (IOException e) {
          throw unreadable(name, e);
        }
      }
    };
  }

  private static long elementBytes(DataType type, int textBytes) {
    return type.isFixedSize() ? type.byteSize() : LENGTH.byteSize() + textBytes;
  }

  private static NereidException unreadable(String name, IOException cause) {
    return new NereidException(
        StatusCode.INVALID_ARGUMENT, "the data of input '" + name + "' cannot be read", cause);
  }

  private static void writeRow(
      String name, WarmUp.Input input, long elements, MemorySegment target) {
    switch (input.data()) {
      case WarmUp.Zero zero -> target.fill((byte) 0);
      case WarmUp.Random random -> writeRandom(input.dataType(), elements, target);
      case WarmUp.Content content -> {
        try (Arena arena = Arena.ofConfined();
            FileChannel file = FileChannel.open(content.path())) {
          MemorySegment data = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
          target.copyFrom(data.asSlice(0, target.byteSize()));
        } catch (IOException e) {
          throw unreadable(name, e);
        }
      }
    }
  }

  /** Writes values that few models reject: between 0 and 1, small integers, short texts. */
  private static void writeRandom(DataType type, long elements, MemorySegment target) {
    SplittableRandom random = new SplittableRandom(SEED);
    target.fill((byte) 0);
    long size = elementBytes(type, 1);
    for (long i = 0; i < elements; i++) {
      long at = i * size;
      switch (type) {
        case FP16 -> target.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, half(random));
        case BF16 -> target.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, brain(random));
        case FP32 -> target.set(ValueLayout.JAVA_FLOAT_UNALIGNED, at, (float) random.nextDouble());
        case FP64 -> target.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, at, random.nextDouble());
        case BYTES -> {
          target.set(LENGTH, at, 1);
          target.set(
              ValueLayout.JAVA_BYTE, at + LENGTH.byteSize(), (byte) random.nextInt('a', 'z'));
        }
        // Little-endian: the lowest byte, and the others stay 0.
        default -> target.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt(2));
      }
    }
  }

  private static short half(SplittableRandom random) {
    return Float.floatToFloat16((float) random.nextDouble());
  }

  private static short brain(SplittableRandom random) {
    return (short) (Float.floatToIntBits((float) random.nextDouble()) >>> Short.SIZE);
  }
}

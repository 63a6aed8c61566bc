package io.nereid.internal.model;

import io.nereid.internal.ffi.SourceHandle;
import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The facts that the child process of an isolated model in Java tells about its backend, beside the
 * model's tensors.
 *
 * @param devices numbers of the GPUs that instances can run on
 * @param batchesInFlight the number of batches that an instance executes at once
 * @param maxBatchSize the largest batch that the model itself allows; 0: no limit
 */
record ChildFacts(List<Integer> devices, int batchesInFlight, long maxBatchSize) {

  private static final int MOST = 1_000;

  /** Copies the list. */
  ChildFacts {
    devices = List.copyOf(devices);
  }

  /** All numbers, with a blank between two. */
  String text() {
    return Stream.concat(Stream.of((long) batchesInFlight, maxBatchSize), devices.stream())
        .map(Object::toString)
        .collect(Collectors.joining(" "));
  }

  /** The facts that the child of a model has sent, which are not trusted. */
  static ChildFacts of(ModelSpec spec, SourceHandle opened) {
    String text = opened.completed().orElse("");
    String[] numbers = text.split(" ", MOST + 1);
    try {
      ChildFacts facts =
          new ChildFacts(
              Stream.of(numbers).skip(2).map(Integer::valueOf).toList(),
              Integer.parseInt(numbers[0]),
              Long.parseLong(numbers[1]));
      if (facts.batchesInFlight >= 1
          && facts.batchesInFlight <= MOST
          && facts.maxBatchSize >= 0
          && facts.devices.stream().allMatch(device -> device >= 0)) {
        return facts;
      }
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      // The message below is the same.
    }
    throw new NereidException(
        StatusCode.INTERNAL,
        "the process of isolated model '%s' says of its backend \"%s\", which cannot be"
            .formatted(spec.name(), text));
  }
}

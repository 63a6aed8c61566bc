package io.nereid.model;

import io.nereid.internal.Checks;
import io.nereid.types.DataType;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The form that a model expects of an input, or promises of an output.
 *
 * @param name its name
 * @param dataType the type of its elements
 * @param dims its shape without the batch dimension; -1 for a dimension of any size
 * @param optional for an input: whether requests may leave it out
 * @param labels for an output of scores: the meaning of each position; empty: unknown
 * @param reshape the backend's dimensions in place of {@code dims}, with as many elements
 * @param ragged for an input: whether requests of different shapes go into one batch; the backend
 *     sees the elements of all of them one after another, in one dimension
 */
public record TensorSpec(
    String name,
    DataType dataType,
    List<Long> dims,
    boolean optional,
    List<String> labels,
    Optional<List<Long>> reshape,
    boolean ragged) {

  /** The greatest number of dimensions, the batch dimension included. */
  public static final int MAX_RANK = 8;

  /** Checks the values and copies the dimensions. */
  public TensorSpec {
    Checks.notNull(name, "name");
    Checks.notNull(dataType, "dataType");
    dims = List.copyOf(Checks.notNull(dims, "dims"));
    labels = List.copyOf(Checks.notNull(labels, "labels"));
    reshape = Checks.notNull(reshape, "reshape").map(List::copyOf);
    if (dims.size() > MAX_RANK) {
      throw new IllegalArgumentException(
          "tensor '"
              + name
              + "' has "
              + dims.size()
              + " dimensions, at most "
              + MAX_RANK
              + " are supported");
    }
  }

  /** A tensor without labels. */
  public TensorSpec(String name, DataType dataType, List<Long> dims, boolean optional) {
    this(name, dataType, dims, optional, List.of(), Optional.empty(), false);
  }

  /** A required tensor. */
  public static TensorSpec of(String name, DataType dataType, long... dims) {
    List<Long> list = Arrays.stream(Checks.notNull(dims, "dims")).boxed().toList();
    return new TensorSpec(name, dataType, list, false);
  }

  /** Returns this specification for an optional input. */
  public TensorSpec asOptional() {
    return new TensorSpec(name, dataType, dims, true, labels, reshape, ragged);
  }

  /** This specification with labels. */
  public TensorSpec withLabels(List<String> labels) {
    return new TensorSpec(name, dataType, dims, optional, labels, reshape, ragged);
  }

  /** This specification for a backend that sees other dimensions with as many elements. */
  public TensorSpec withReshape(long... dims) {
    List<Long> seen = Arrays.stream(Checks.notNull(dims, "dims")).boxed().toList();
    return new TensorSpec(name, dataType, this.dims, optional, labels, Optional.of(seen), ragged);
  }

  /** Returns this specification for a ragged input. */
  public TensorSpec asRagged() {
    return new TensorSpec(name, dataType, dims, optional, labels, reshape, true);
  }
}

package io.nereid.internal.request;

import io.nereid.internal.Checks;
import io.nereid.internal.ffi.RequestRecord;
import io.nereid.internal.ffi.TensorRecord;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.types.DataType;
import io.nereid.types.Names;
import io.nereid.types.NereidException;
import io.nereid.types.Shapes;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** A model's inputs and outputs, prepared for fast look-ups. */
public final class Signature {

  private final ModelSpec spec;
  private final NameTable inputs;
  private final NameTable outputs;
  private final int requiredInputCount;
  private final boolean takesValues;

  /** Makes the signature of a model whose tensors have names of their own. */
  public Signature(ModelSpec spec) {
    this(spec, false);
  }

  /**
   * The same.
   *
   * @param takesValues whether the backend is told of ids and parameters of requests
   */
  public Signature(ModelSpec spec, boolean takesValues) {
    this.spec = spec;
    this.takesValues = takesValues;
    inputs = names(spec, "input", spec.inputs());
    outputs = names(spec, "output", spec.outputs());
    requiredInputCount = (int) spec.inputs().stream().filter(input -> !input.optional()).count();
  }

  private static NameTable names(ModelSpec spec, String what, List<TensorSpec> tensors) {
    try {
      return new NameTable(tensors.stream().map(TensorSpec::name).toList());
    } catch (IllegalArgumentException e) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "model '" + spec.name() + "' version " + spec.version() + ", " + what + "s",
          e);
    }
  }

  public ModelSpec spec() {
    return spec;
  }

  /**
   * Returns the signature that the model's backend sees: the tensors that the core makes follow
   * those that requests bring.
   */
  public Signature forBackend() {
    return new Signature(spec.forBackend());
  }

  /** True if the backend takes ids and parameters of requests. */
  public boolean takesValues() {
    return takesValues;
  }

  /** True if responses may have values besides outputs. */
  public boolean answersValues() {
    return takesValues || spec.ensemble().isPresent();
  }

  /**
   * The values of a response: the backend's, and for an ensemble the request's sequence, as in
   * Triton.
   */
  Map<String, Object> responseValues(RequestRecord record, SequencePart sequence) {
    Map<String, Object> values = takesValues ? record.responseValues() : Map.of();
    return sequence == null || spec.ensemble().isEmpty() ? values : sequence.addTo(values, record);
  }

  public NameTable outputs() {
    return outputs;
  }

  public int requiredInputCount() {
    return requiredInputCount;
  }

  public TensorSpec input(int index) {
    return spec.inputs().get(index);
  }

  public TensorSpec output(int index) {
    return spec.outputs().get(index);
  }

  public int inputIndex(String name) {
    int index = inputs.position(Checks.notNull(name, "input name"));
    if (index < 0) {
      throw unexpected("input", name, spec.inputs());
    }
    return index;
  }

  public int outputIndex(String name) {
    int index = outputs.position(Checks.notNull(name, "output name"));
    if (index < 0) {
      throw unexpected("output", name, spec.outputs());
    }
    return index;
  }

  private NereidException unexpected(String what, String name, List<TensorSpec> known) {
    return invalid(
        "unexpected inference %s '%s' for model '%s'%s"
            .formatted(
                what,
                name,
                spec.name(),
                Names.hint("it has", name, known.stream().map(TensorSpec::name).toList())));
  }

  /**
   * The exception for a request that lacks required inputs; {@code given} has an element for each
   * input.
   */
  public NereidException missingInputs(boolean[] given) {
    List<String> got = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (int i = 0; i < given.length; i++) {
      String quoted = "'" + input(i).name() + "'";
      if (given[i]) {
        got.add(quoted);
      } else if (!input(i).optional()) {
        missing.add(quoted);
      }
    }
    int most = spec.inputs().size();
    return invalid(
        "expected "
            + (requiredInputCount == most
                ? most + " inputs"
                : "number of inputs between " + requiredInputCount + " and " + most)
            + " but got "
            + got.size()
            + " inputs for model '"
            + spec.name()
            + "'. Got input(s) ["
            + String.join(",", got)
            + "], but missing required input(s) ["
            + String.join(",", missing)
            + "]. Please provide all required input(s).");
  }

  /** Throws where a request can have any number of responses. */
  public void checkSingleResponse() {
    if (spec.decoupled()) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "infer doesn't support models with decoupled transaction policy, and '"
              + spec.name()
              + "' is one: use inferStream");
    }
  }

  /** The exception for a thread that was interrupted while it waited for a request. */
  NereidException interrupted() {
    return new NereidException(
        StatusCode.CANCELLED, "interrupted while waiting for model '" + spec.name() + "'");
  }

  /** The exception for a thread that waits for a request that is executed beyond its deadline. */
  NereidException expired() {
    return new NereidException(
        StatusCode.DEADLINE_EXCEEDED,
        "the deadline passed while model '" + spec.name() + "' was executing the request");
  }

  public static NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }

  /**
   * Bytes that a tensor of this shape needs.
   *
   * @param what names the tensor in messages
   */
  public static long byteSize(String what, DataType type, long[] shape) {
    checkRank(what, shape);
    long count;
    try {
      count = Shapes.elementCount(shape);
    } catch (IllegalArgumentException e) {
      throw new NereidException(StatusCode.INVALID_ARGUMENT, what, e);
    }
    try {
      return Math.multiplyExact(count, type.byteSize());
    } catch (ArithmeticException e) {
      throw new NereidException(StatusCode.INVALID_ARGUMENT, "byte size overflow for " + what, e);
    }
  }

  public static void checkRank(String what, long[] shape) {
    if (shape.length > TensorRecord.MAX_RANK) {
      throw invalid(
          "unexpected shape %s for %s: at most %s dimensions are supported"
              .formatted(Arrays.toString(shape), what, TensorRecord.MAX_RANK));
    }
  }

  /** Positions by name: a small open-addressed table that is built once and never changes. */
  public static final class NameTable {

    private final String[] names;
    private final String[] keys;
    private final int[] positions;
    private final int mask;

    /** A table of distinct names; position i belongs to name i. */
    public NameTable(List<String> names) {
      this.names = names.toArray(String[]::new);
      int capacity = Integer.highestOneBit(Math.max(1, names.size()) * 4);
      keys = new String[capacity];
      positions = new int[capacity];
      mask = capacity - 1;
      for (int i = 0; i < this.names.length; i++) {
        int place = place(this.names[i]);
        if (keys[place] != null) {
          throw new IllegalArgumentException("the name '" + this.names[i] + "' is there twice");
        }
        keys[place] = this.names[i];
        positions[place] = i;
      }
    }

    /**
     * Returns the place of {@code name}, or the free place for it. At most half of the places are
     * taken.
     */
    private int place(String name) {
      int hash = name.hashCode();
      int place = (hash ^ (hash >>> 16)) & mask;
      while (keys[place] != null && !keys[place].equals(name)) {
        place = (place + 1) & mask;
      }
      return place;
    }

    /** The position of {@code name}; -1 when it is not there. */
    public int position(String name) {
      int place = place(name);
      return keys[place] == null ? -1 : positions[place];
    }

    /** The name at {@code position}. */
    public String name(int position) {
      return names[position];
    }

    /** The number of names. */
    public int size() {
      return names.length;
    }
  }
}

package io.nereid.model;

import io.nereid.internal.Checks;
import io.nereid.types.DataType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The rules by which requests that belong to sequences are executed: in order, by one instance,
 * with state from one to the next. Begin with {@link #direct()} or {@link #oldest(int)}.
 *
 * @param strategy the rule by which requests make a batch
 * @param maxIdle how long a sequence may be without a request before it ends
 * @param iterative whether each request is a sequence of its own, which the backend gives back
 *     ({@link BatchRequest#reschedule}) to be executed again until it is done
 * @param controls inputs that tell the model about the rows of a batch
 * @param states the states that a sequence keeps from one request to the next
 */
public record SequenceBatching(
    Strategy strategy,
    Duration maxIdle,
    boolean iterative,
    List<Control> controls,
    List<State> states) {

  /** The inputs that the core makes for the backend: controls, and old states. */
  List<TensorSpec> hiddenInputs() {
    List<TensorSpec> hidden = new ArrayList<>();
    controls.forEach(control -> hidden.add(control.tensor()));
    states.forEach(state -> hidden.add(state.inputTensor()));
    return hidden;
  }

  /** The states that the backend makes, without those among the model's outputs. */
  List<TensorSpec> hiddenOutputs(List<TensorSpec> outputs) {
    return states.stream()
        .filter(state -> outputs.stream().noneMatch(one -> one.name().equals(state.output())))
        .map(State::outputTensor)
        .toList();
  }

  /** Refuses the features that a model with sequences cannot have. */
  static void check(String model, boolean dynamicBatching, boolean responseCache) {
    if (dynamicBatching) {
      throw new IllegalArgumentException(
          "model '" + model + "' has dynamic batching and sequences: it can have one of them");
    }
    if (responseCache) {
      throw new IllegalArgumentException(
          "model '" + model + "' has sequences, whose answers the response cache cannot keep");
    }
  }

  /** The time that a sequence may be idle if none is set. */
  public static final Duration DEFAULT_MAX_IDLE = Duration.ofSeconds(1);

  /** The rule that decides which requests make a batch. */
  public sealed interface Strategy {
    /** The time that a request may wait for others to join its batch. */
    Duration maxQueueDelay();
  }

  /**
   * A sequence keeps one row of the batch of one instance. Rows whose sequences have no request are
   * empty, and the control READY marks the others.
   *
   * @param maxQueueDelay how long a request may wait for others to join its batch
   * @param minimumSlotUtilization the share of filled rows, from 0 to 1, at which a batch waits no
   *     longer
   */
  public record Direct(Duration maxQueueDelay, double minimumSlotUtilization) implements Strategy {

    /** Checks the values. */
    public Direct {
      Checks.notNegative(maxQueueDelay, "maxQueueDelay");
      if (!(minimumSlotUtilization >= 0 && minimumSlotUtilization <= 1)) {
        throw new IllegalArgumentException(
            "minimumSlotUtilization must be from 0 to 1, got " + minimumSlotUtilization);
      }
    }
  }

  /**
   * An instance has some sequences at a time, and batches their oldest requests.
   *
   * @param maxCandidates how many sequences an instance has at a time; 0: as many as a batch has
   *     rows
   * @param preferredBatchSizes sizes that run as soon as they can be formed
   * @param maxQueueDelay how long a request may wait for others to join its batch
   * @param preserveOrdering whether responses leave in the order in which requests came
   */
  public record Oldest(
      int maxCandidates,
      List<Integer> preferredBatchSizes,
      Duration maxQueueDelay,
      boolean preserveOrdering)
      implements Strategy {

    /** Checks the values and copies the list. */
    public Oldest {
      Checks.notNegative(maxCandidates, "maxCandidates");
      preferredBatchSizes = List.copyOf(Checks.notNull(preferredBatchSizes, "preferredBatchSizes"));
      preferredBatchSizes.forEach(size -> Checks.positive(size, "preferredBatchSizes"));
      Checks.notNegative(maxQueueDelay, "maxQueueDelay");
    }
  }

  /** The kinds of controls, each a fact about a row. */
  public enum Kind {
    /** True if the row's request is the first of its sequence. */
    START,
    /** True if the row's request is the last of its sequence. */
    END,
    /** True if the row has a request. */
    READY,
    /** The id of the row's sequence. */
    CORRID
  }

  /**
   * An input of the model that tells something about each row of a batch, in one element.
   *
   * @param input the input's name
   * @param kind the fact that it tells
   * @param dataType the element's type: INT32, FP32 or BOOL; for CORRID UINT64, INT64, UINT32,
   *     INT32 or BYTES
   * @param no the element that means no; 0 for CORRID
   * @param yes the element that means yes; 0 for CORRID
   */
  public record Control(String input, Kind kind, DataType dataType, double no, double yes) {

    private static final Set<DataType> ANSWERS =
        Set.of(DataType.INT32, DataType.FP32, DataType.BOOL);

    private static final Set<DataType> IDS =
        Set.of(DataType.UINT64, DataType.INT64, DataType.UINT32, DataType.INT32, DataType.BYTES);

    /** Checks the values. */
    public Control {
      Checks.notNull(input, "input");
      Checks.notNull(kind, "kind");
      Checks.notNull(dataType, "dataType");
      Set<DataType> allowed = kind == Kind.CORRID ? IDS : ANSWERS;
      if (!allowed.contains(dataType)) {
        throw new IllegalArgumentException(
            "control '" + input + "' of kind " + kind + " must be one of " + allowed);
      }
    }

    /** The tensor that the model gets. */
    public TensorSpec tensor() {
      return TensorSpec.of(input, dataType, 1);
    }
  }

  /**
   * An output that is an input of the sequence's next request. The size of a dimension that is -1
   * may change from one request to the next.
   *
   * @param input the input's name; clients do not send it
   * @param output the output's name; clients see it if it is among the model's outputs
   * @param dataType the type of its elements
   * @param dims its shape without the batch dimension; -1 for a dimension of any size
   * @param initial the first request's state; empty: zeros, with 1 for each -1
   * @param sameBuffer whether the new state overwrites the old one, if it fits
   */
  public record State(
      String input,
      String output,
      DataType dataType,
      List<Long> dims,
      Optional<Initial> initial,
      boolean sameBuffer) {

    /** Checks the values and copies the dimensions. */
    public State {
      Checks.notNull(input, "input");
      Checks.notNull(output, "output");
      Checks.notNull(dataType, "dataType");
      dims = List.copyOf(Checks.notNull(dims, "dims"));
      Checks.notNull(initial, "initial");
    }

    /** A state that begins with zeros. */
    public static State of(String input, String output, DataType dataType, long... dims) {
      List<Long> list = Arrays.stream(Checks.notNull(dims, "dims")).boxed().toList();
      return new State(input, output, dataType, list, Optional.empty(), false);
    }

    /** Returns this state with an initial one for the first request of a sequence. */
    public State withInitial(Initial initial) {
      return new State(input, output, dataType, dims, Optional.of(initial), sameBuffer);
    }

    /** The input that the model gets. */
    public TensorSpec inputTensor() {
      return new TensorSpec(input, dataType, dims, false);
    }

    /** The output that the model makes. */
    public TensorSpec outputTensor() {
      return new TensorSpec(output, dataType, dims, false);
    }

    /** The shape of the first request's state. */
    public List<Long> initialDims() {
      return initial
          .map(Initial::dims)
          .orElseGet(() -> dims.stream().map(dim -> dim < 0 ? 1 : dim).toList());
    }
  }

  /**
   * The state that the first request of a sequence gets.
   *
   * @param name the name of the initial state in the configuration
   * @param dims its shape without the batch dimension, no -1
   * @param file the elements in the binary form of the protocol; empty: zeros, empty strings
   */
  public record Initial(String name, List<Long> dims, Optional<Path> file) {

    /** Checks the values and copies the dimensions. */
    public Initial {
      Checks.notNull(name, "name");
      dims = List.copyOf(Checks.notNull(dims, "dims"));
      Checks.notNull(file, "file");
    }
  }

  /** Checks the values and copies the lists. */
  public SequenceBatching {
    Checks.notNull(strategy, "strategy");
    if (!Checks.notNull(maxIdle, "maxIdle").isPositive()) {
      throw new IllegalArgumentException("maxIdle must be positive, got " + maxIdle);
    }
    controls = List.copyOf(Checks.notNull(controls, "controls"));
    states = List.copyOf(Checks.notNull(states, "states"));
    Set<Object> seen = new HashSet<>();
    for (Control control : controls) {
      if (!seen.add(control.kind())) {
        throw new IllegalArgumentException("there are two controls of kind " + control.kind());
      }
    }
  }

  /** A row of a batch for each sequence, without delay. */
  public static SequenceBatching direct() {
    return of(new Direct(Duration.ZERO, 0));
  }

  /** So many sequences at a time for each instance, the oldest requests first, without delay. */
  public static SequenceBatching oldest(int maxCandidates) {
    return of(new Oldest(maxCandidates, List.of(), Duration.ZERO, false));
  }

  /** Batches made by a strategy, without controls and states. */
  public static SequenceBatching of(Strategy strategy) {
    return new SequenceBatching(strategy, DEFAULT_MAX_IDLE, false, List.of(), List.of());
  }

  /** Returns these rules with another idle time. */
  public SequenceBatching withMaxIdle(Duration maxIdle) {
    return new SequenceBatching(strategy, maxIdle, iterative, controls, states);
  }

  /** Returns these rules with requests that the backend gives back until they are done. */
  public SequenceBatching asIterative() {
    return new SequenceBatching(strategy, maxIdle, true, controls, states);
  }

  /** Returns these rules with a control that has 0 for no and 1 for yes, or is of kind CORRID. */
  public SequenceBatching withControl(String input, Kind kind, DataType dataType) {
    return withControl(new Control(input, kind, dataType, 0, kind == Kind.CORRID ? 0 : 1));
  }

  /** Returns these rules with one more control. */
  public SequenceBatching withControl(Control control) {
    List<Control> more = new ArrayList<>(controls);
    more.add(Checks.notNull(control, "control"));
    return new SequenceBatching(strategy, maxIdle, iterative, more, states);
  }

  /** Returns these rules with one more state. */
  public SequenceBatching withState(State state) {
    List<State> more = new ArrayList<>(states);
    more.add(Checks.notNull(state, "state"));
    return new SequenceBatching(strategy, maxIdle, iterative, controls, more);
  }
}

package io.nereid.internal.config;

import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.Direct;
import io.nereid.model.SequenceBatching.Initial;
import io.nereid.model.SequenceBatching.Oldest;
import io.nereid.model.SequenceBatching.State;
import io.nereid.model.SequenceBatching.Strategy;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelSequenceBatching;
import io.nereid.proto.ModelSequenceBatching.InitialState;
import io.nereid.proto.ModelSequenceBatching.StrategyDirect;
import io.nereid.proto.ModelSequenceBatching.StrategyOldest;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads {@code sequence_batching}, which must be present. */
final class SequenceReader {

  private static final String DIRECTORY = "initial_state";

  /** The core's limit. */
  private static final int MAX_CANDIDATES = 65_536;

  private final ConfigNode node;
  private final ModelSequenceBatching config;
  private final ModelConfig model;
  private final ModelFiles files;
  private final TensorReader tensors;
  private final Set<String> inputs = new HashSet<>(); // names in use
  private final Set<String> outputs = new HashSet<>(); // of states

  SequenceReader(ConfigNode root, ModelFiles files) {
    node = root.child(ModelConfig.SEQUENCE_BATCHING_FIELD_NUMBER);
    config = node.as(ModelSequenceBatching.class);
    model = root.as(ModelConfig.class);
    this.files = files;
    tensors = new TensorReader(root, files);
    model.getInputList().forEach(input -> inputs.add(input.getName()));
  }

  SequenceBatching read() {
    if (model.getResponseCache().getEnable()) {
      throw node.invalid(
          "Response Cache does not currently support model "
              + files.name()
              + " with sequence batching scheduler. Please disable the response cache.");
    }
    long idleUs = config.getMaxSequenceIdleMicroseconds();
    Duration idle =
        idleUs == 0 ? SequenceBatching.DEFAULT_MAX_IDLE : SchedulingReader.micros(idleUs);
    return new SequenceBatching(
        strategy(),
        idle,
        config.getIterativeSequence(),
        new ControlReader(node, files.name(), inputs).read(),
        states());
  }

  // ---- Strategies ------------------------------------------------------------------------------

  private Strategy strategy() {
    return config.hasOldest()
        ? oldest(node.child(ModelSequenceBatching.OLDEST_FIELD_NUMBER))
        : direct(node.child(ModelSequenceBatching.DIRECT_FIELD_NUMBER));
  }

  private Direct direct(ConfigNode node) {
    StrategyDirect direct = config.getDirect();
    double utilization = direct.getMinimumSlotUtilization();
    if (!(utilization >= 0 && utilization <= 1)) {
      throw node.invalid(
          StrategyDirect.MINIMUM_SLOT_UTILIZATION_FIELD_NUMBER,
          "sequence batching minimum slot utilization must be in range (0.0, 1.0] for "
              + files.name()
              + ", got "
              + direct.getMinimumSlotUtilization());
    }
    Duration delay = SchedulingReader.micros(direct.getMaxQueueDelayMicroseconds());
    return new Direct(delay, utilization);
  }

  private Oldest oldest(ConfigNode node) {
    StrategyOldest oldest = config.getOldest();
    int candidates = oldest.getMaxCandidateSequences();
    if (candidates < 0 || candidates > MAX_CANDIDATES) {
      throw node.invalid(
          StrategyOldest.MAX_CANDIDATE_SEQUENCES_FIELD_NUMBER,
          "expected max_candidate_sequences from 0 to " + MAX_CANDIDATES + ", got " + candidates);
    }
    if (oldest.getPreserveOrdering() && config.getIterativeSequence()) {
      throw node.invalid(
          StrategyOldest.PRESERVE_ORDERING_FIELD_NUMBER,
          "preserve_ordering is not possible with iterative_sequence, whose requests end in the"
              + " order in which they are done");
    }
    for (int i = 0; i < oldest.getPreferredBatchSizeCount(); i++) {
      int size = oldest.getPreferredBatchSize(i);
      if (size < 1 || size > model.getMaxBatchSize()) {
        throw node.invalid(
            StrategyOldest.PREFERRED_BATCH_SIZE_FIELD_NUMBER,
            i,
            "sequence batching preferred batch size must be "
                + (size < 1 ? "positive" : "<= max batch size")
                + " for "
                + files.name()
                + ": expected from 1 to "
                + model.getMaxBatchSize()
                + ", got "
                + size);
      }
    }
    return new Oldest(
        candidates,
        oldest.getPreferredBatchSizeList(),
        SchedulingReader.micros(oldest.getMaxQueueDelayMicroseconds()),
        oldest.getPreserveOrdering());
  }

  // ---- States ----------------------------------------------------------------------------------

  private List<State> states() {
    return node.children(ModelSequenceBatching.STATE_FIELD_NUMBER).stream()
        .map(this::state)
        .toList();
  }

  private State state(ConfigNode node) {
    ModelSequenceBatching.State state = node.as(ModelSequenceBatching.State.class);
    String input = state.getInputName();
    checkName(node, ModelSequenceBatching.State.INPUT_NAME_FIELD_NUMBER, input, inputs);
    checkName(
        node, ModelSequenceBatching.State.OUTPUT_NAME_FIELD_NUMBER, state.getOutputName(), outputs);
    int typeNumber = ModelSequenceBatching.State.DATA_TYPE_FIELD_NUMBER;
    DataType type = ConfigTensor.readType(node, typeNumber, state.getDataType());
    model.getOutputList().stream()
        .filter(output -> output.getName().equals(state.getOutputName()))
        .filter(output -> output.getDataType() != state.getDataType())
        .findFirst()
        .ifPresent(output -> {
          throw node.invalid(
              typeNumber,
              "state '%s' is %s, but output '%s' is configured as %s"
                  .formatted(input, state.getDataType(), output.getName(), output.getDataType()));
        });
    int dims = ModelSequenceBatching.State.DIMS_FIELD_NUMBER;
    tensors.checkDims(node, "state '" + input + "'", dims, state.getDimsList());
    if (state.getUseGrowableMemory() && !state.getUseSameBufferForInputOutput()) {
      throw node.invalid(
          ModelSequenceBatching.State.USE_GROWABLE_MEMORY_FIELD_NUMBER,
          "In order to 'use_growable_memory', you must also enable"
              + " 'use_same_buffer_for_input_output' for state input name '"
              + input
              + "'.");
    }
    return new State(
        input,
        state.getOutputName(),
        type,
        state.getDimsList(),
        initial(node, type),
        state.getUseSameBufferForInputOutput());
  }

  private static void checkName(ConfigNode node, int number, String name, Set<String> taken) {
    if (name.isEmpty()) {
      throw node.invalid(number, "a state has no " + field(node, number));
    }
    if (!taken.add(name)) {
      throw node.invalid(
          number, field(node, number) + " '" + name + "' of a state is there more than once");
    }
  }

  private static String field(ConfigNode node, int number) {
    return node.message().getDescriptorForType().findFieldByNumber(number).getName();
  }

  private Optional<Initial> initial(ConfigNode node, DataType type) {
    ModelSequenceBatching.State state = node.as(ModelSequenceBatching.State.class);
    int number = ModelSequenceBatching.State.INITIAL_STATE_FIELD_NUMBER;
    if (state.getInitialStateCount() > 1) {
      throw node.invalid(
          number,
          1,
          ("initial_state field for state input '%s' must contain exactly one or zero element. "
                  + "Found '%s' elements.")
              .formatted(state.getInputName(), state.getInitialStateCount()));
    }
    return node.children(number).stream().findFirst().map(one -> initial(one, state, type));
  }

  private Initial initial(ConfigNode node, ModelSequenceBatching.State state, DataType type) {
    InitialState initial = node.as(InitialState.class);
    String input = "state input '" + state.getInputName() + "'";
    if (initial.getDataType() != state.getDataType()) {
      throw node.invalid(
          InitialState.DATA_TYPE_FIELD_NUMBER,
          "The data type used for 'initial_state' field of state '"
              + state.getInputName()
              + "' does not match the state data type.");
    }
    if (initial.getName().isEmpty()) {
      throw node.invalid("Field 'name' must be set when using initial_state for " + input + ".");
    }
    List<Long> dims = initial.getDimsList();
    if (!ConfigTensor.fit(dims, state.getDimsList()) || dims.stream().anyMatch(dim -> dim < 1)) {
      throw node.invalid(
          InitialState.DIMS_FIELD_NUMBER,
          "expected dims of initial_state for %s that fit the state's %s, without -1, got %s"
              .formatted(input, ConfigTensor.text(state.getDimsList()), ConfigTensor.text(dims)));
    }
    Optional<Path> file =
        switch (initial.getStateDataCase()) {
          case ZERO_DATA -> Optional.empty();
          case DATA_FILE -> Optional.of(file(initial, type));
          case STATEDATA_NOT_SET ->
              throw node.invalid(
                  "initial_state setting expects state '"
                      + state.getInputName()
                      + "' to have state_data set");
        };
    return new Initial(initial.getName(), dims, file);
  }

  private Path file(InitialState initial, DataType type) {
    Path base = files.directory().resolve(DIRECTORY);
    Path file = ModelFiles.inside(base, initial.getDataFile(), "data_file");
    BigInteger bytes =
        initial.getDimsList().stream()
            .map(BigInteger::valueOf)
            .reduce(
                BigInteger.valueOf(type.isFixedSize() ? type.byteSize() : 4), BigInteger::multiply);
    long size = files.size(file);
    if (bytes.compareTo(BigInteger.valueOf(size)) > 0) {
      throw tooShort(file, bytes, size);
    }
    return file;
  }

  private NereidException tooShort(Path file, BigInteger bytes, long size) {
    return node.invalid(
        ("initial_state setting expects %s bytes, but the data provided from %s only has %s "
                + "bytes.")
            .formatted(bytes, files.shown(file), size));
  }
}

package io.nereid.internal.config;

import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.Control;
import io.nereid.model.SequenceBatching.Direct;
import io.nereid.model.SequenceBatching.Initial;
import io.nereid.model.SequenceBatching.Oldest;
import io.nereid.model.SequenceBatching.State;
import io.nereid.proto.ModelSequenceBatching;
import io.nereid.proto.ModelSequenceBatching.Control.Kind;
import io.nereid.proto.ModelSequenceBatching.ControlInput;
import io.nereid.proto.ModelSequenceBatching.InitialState;
import io.nereid.proto.ModelSequenceBatching.StrategyDirect;
import io.nereid.proto.ModelSequenceBatching.StrategyOldest;
import io.nereid.types.DataType;
import java.util.List;

/** Writes a {@link SequenceBatching} as a configuration. */
final class SequenceWriter {

  private SequenceWriter() {}

  static ModelSequenceBatching write(SequenceBatching sequences) {
    ModelSequenceBatching.Builder config =
        ModelSequenceBatching.newBuilder()
            .setMaxSequenceIdleMicroseconds(SpecWriter.micros(sequences.maxIdle()))
            .setIterativeSequence(sequences.iterative());
    switch (sequences.strategy()) {
      case Direct direct ->
          config.setDirect(
              StrategyDirect.newBuilder()
                  .setMaxQueueDelayMicroseconds(SpecWriter.micros(direct.maxQueueDelay()))
                  .setMinimumSlotUtilization((float) direct.minimumSlotUtilization()));
      case Oldest oldest ->
          config.setOldest(
              StrategyOldest.newBuilder()
                  .setMaxCandidateSequences(oldest.maxCandidates())
                  .addAllPreferredBatchSize(oldest.preferredBatchSizes())
                  .setMaxQueueDelayMicroseconds(SpecWriter.micros(oldest.maxQueueDelay()))
                  .setPreserveOrdering(oldest.preserveOrdering()));
    }
    sequences.controls().forEach(control -> config.addControlInput(input(control)));
    sequences.states().forEach(state -> config.addState(state(state)));
    return config.build();
  }

  private static ControlInput input(Control control) {
    return ControlInput.newBuilder().setName(control.input()).addControl(control(control)).build();
  }

  private static ModelSequenceBatching.Control control(Control control) {
    ModelSequenceBatching.Control.Builder config = ModelSequenceBatching.Control.newBuilder();
    config.setKind(Kind.valueOf("CONTROL_SEQUENCE_" + control.kind()));
    if (control.kind() == SequenceBatching.Kind.CORRID) {
      return config.setDataType(ConfigTensor.configured(control.dataType())).build();
    }
    for (double value : List.of(control.no(), control.yes())) {
      if (control.dataType() == DataType.INT32) {
        config.addInt32FalseTrue((int) value);
      } else if (control.dataType() == DataType.FP32) {
        config.addFp32FalseTrue((float) value);
      } else {
        config.addBoolFalseTrue(value != 0);
      }
    }
    return config.build();
  }

  private static ModelSequenceBatching.State state(State state) {
    ModelSequenceBatching.State.Builder config =
        ModelSequenceBatching.State.newBuilder()
            .setInputName(state.input())
            .setOutputName(state.output())
            .setDataType(ConfigTensor.configured(state.dataType()))
            .addAllDims(state.dims())
            .setUseSameBufferForInputOutput(state.sameBuffer());
    state.initial().ifPresent(initial -> config.addInitialState(initial(state, initial)));
    return config.build();
  }

  private static InitialState initial(State state, Initial initial) {
    InitialState.Builder config =
        InitialState.newBuilder()
            .setName(initial.name())
            .setDataType(ConfigTensor.configured(state.dataType()))
            .addAllDims(initial.dims());
    initial
        .file()
        .ifPresentOrElse(
            file -> config.setDataFile(file.toString()), () -> config.setZeroData(true));
    return config.build();
  }
}

package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.Control;
import io.nereid.model.SequenceBatching.Initial;
import io.nereid.model.SequenceBatching.Kind;
import io.nereid.model.SequenceBatching.Oldest;
import io.nereid.model.SequenceBatching.State;
import io.nereid.model.TensorSpec;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads {@code sequence_batching}, and refuses impossible settings with a message. */
class SequenceReaderTest {

  private static final String TENSORS =
      """
      backend: "identity"
      max_batch_size: 4
      input { name: "IN" data_type: TYPE_FP32 dims: 4 }
      output { name: "OUT" data_type: TYPE_FP32 dims: 4 }
      """;

  private static final String ALL =
      """
      sequence_batching {
        max_sequence_idle_microseconds: 5000
        oldest {
          max_candidate_sequences: 9
          preferred_batch_size: [ 2, 4 ]
          max_queue_delay_microseconds: 70
          preserve_ordering: true
        }
        control_input [
          { name: "START" control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 3, 4 ] } },
          { name: "END" control { kind: CONTROL_SEQUENCE_END fp32_false_true: [ 0.5, 1 ] } },
          { name: "READY" control { kind: CONTROL_SEQUENCE_READY bool_false_true: [ true, false ] } },
          { name: "ID" control { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_STRING } }
        ]
        state [
          { input_name: "A" output_name: "B" data_type: TYPE_INT64 dims: [ -1, 2 ]
            use_same_buffer_for_input_output: true use_growable_memory: true },
          { input_name: "C" output_name: "OUT" data_type: TYPE_FP32 dims: 4
            initial_state { name: "c" data_type: TYPE_FP32 dims: 4 data_file: "start" } }
        ]
      }
      """;

  @TempDir Path directory;

  private TestRepository repository;

  @BeforeEach
  void makeRepository() {
    repository = new TestRepository(directory);
  }

  private ModelSpec read(String config) throws IOException {
    Path model = repository.model("m", TENSORS + config, 1);
    Files.createDirectories(model.resolve("initial_state"));
    Files.write(model.resolve("initial_state/start"), new byte[16]);
    return repository.spec();
  }

  @Test
  void everyFieldArrives() throws IOException {
    ModelSpec spec = read(ALL);
    SequenceBatching sequences = spec.sequenceBatching().orElseThrow();
    Path file = directory.resolve("m/initial_state/start");
    assertEquals(
        new SequenceBatching(
            new Oldest(9, List.of(2, 4), Duration.ofNanos(70_000), true),
            Duration.ofMillis(5),
            false,
            List.of(
                new Control("START", Kind.START, DataType.INT32, 3, 4),
                new Control("END", Kind.END, DataType.FP32, 0.5, 1),
                new Control("READY", Kind.READY, DataType.BOOL, 1, 0),
                new Control("ID", Kind.CORRID, DataType.BYTES, 0, 0)),
            List.of(
                new State("A", "B", DataType.INT64, List.of(-1L, 2L), Optional.empty(), true),
                State.of("C", "OUT", DataType.FP32, 4)
                    .withInitial(new Initial("c", List.of(4L), Optional.of(file))))),
        sequences);
    assertEquals(List.of("IN"), names(spec.inputs()));
    assertEquals(
        List.of("IN", "START", "END", "READY", "ID", "A", "C"), names(spec.forBackend().inputs()));
    assertEquals(List.of("OUT", "B"), names(spec.forBackend().outputs()));
  }

  private static List<String> names(List<TensorSpec> tensors) {
    return tensors.stream().map(TensorSpec::name).toList();
  }

  /** A program's model is shown as a file would have it. */
  @Test
  void aSpecificationIsWrittenAsItIsRead() throws IOException {
    ModelSpec spec = read(ALL);
    ModelSpec.Builder same = ModelSpec.builder("m").backend("identity").maxBatchSize(4);
    spec.inputs().forEach(same::input);
    spec.outputs().forEach(same::output);
    same.sequenceBatching(spec.sequenceBatching().orElseThrow());
    String shown = ProtobufConfiguration.of(same.build()).toText();
    repository.model("m", shown.replace(directory + "/m/initial_state/", ""), 1);
    assertEquals(spec.sequenceBatching(), repository.spec().sequenceBatching());
  }

  @Test
  void omittedSettingsHaveADefault() throws IOException {
    SequenceBatching sequences = read("sequence_batching { }").sequenceBatching().orElseThrow();
    assertEquals(SequenceBatching.direct(), sequences);
    assertEquals(Duration.ofSeconds(1), sequences.maxIdle());
    read("sequence_batching { iterative_sequence: true oldest { } }");
    String shown = repository.draft().configuration().orElseThrow().toText();
    assertTrue(shown.contains("max_sequence_idle_microseconds: 1000000"), shown);
    assertTrue(shown.contains("preferred_batch_size: [ 4 ]"), shown);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "control_input { control { } }|5:21|control tensor must have a name",
        "control_input { name: 'IN' control { } }|5:37|is specified for multiple",
        "control_input { name: 'S' }|5:21|expected one control of control_input 'S', got none",
        "control_input { name: 'S' control { } }|5:47|must specify either 'int32_false_true'",
        "control_input { name: 'S' control { int32_false_true: 1 } }|5:47|exactly 2 entries",
        "control_input { name: 'S' control { int32_false_true: [0, 1] bool_false_true: [false,"
            + " true] } }|5:47|more than one from",
        "control_input { name: 'S' control { kind: CONTROL_SEQUENCE_CORRID } }|5:47|Allowed data"
            + " types are TYPE_UINT64",
        "control_input { name: 'S' control { kind: CONTROL_SEQUENCE_CORRID int32_false_true: [0, 1]"
            + " } }|5:47|must not specify",
        "control_input { name: 'S' control { int32_false_true: [0, 1] } } control_input { name: 'T'"
            + " control { int32_false_true: [0, 1] } }|5:86|specifies multiple"
            + " CONTROL_SEQUENCE_START",
        "direct { minimum_slot_utilization: 1.5 }|5:30|must be in range",
        "oldest { max_candidate_sequences: -1 }|5:30|from 0 to 65536",
        "oldest { preferred_batch_size: 5 }|5:30|must be <= max batch size",
        "oldest { preferred_batch_size: 0 }|5:30|must be positive",
        "iterative_sequence: true oldest { preserve_ordering: true }|5:55|not possible with",
        "state { output_name: 'B' }|5:21|a state has no input_name",
        "state { input_name: 'A' }|5:21|a state has no output_name",
        "state { input_name: 'IN' output_name: 'B' }|5:29|'IN' of a state is there more than once",
        "state { input_name: 'A' output_name: 'B' }|5:21|expected a data_type",
        "state { input_name: 'A' output_name: 'B' data_type: TYPE_FP32 }|5:21|expected dims of",
        "state { input_name: 'A' output_name: 'OUT' data_type: TYPE_INT8 dims: 4 }|5:64|output"
            + " 'OUT' is configured as TYPE_FP32",
        "state { input_name: 'A' output_name: 'B' data_type: TYPE_FP32 dims: 1 use_growable_memory:"
            + " true }|5:91|must also enable",
      })
  void impossibleSettingsAreToldWithTheirPlace(String sequences, String place, String message)
      throws IOException {
    repository.model("m", TENSORS + "sequence_batching { " + sequences + " }", 1);
    String text = repository.failure().getMessage();
    assertTrue(text.startsWith("m/config.pbtxt:" + place + ": "), text);
    assertTrue(text.contains(message), text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "data_type: TYPE_INT32 name: 'n' dims: 4 zero_data: true|does not match the state data"
            + " type",
        "data_type: TYPE_FP32 dims: 4 zero_data: true|Field 'name' must be set",
        "data_type: TYPE_FP32 name: 'n' dims: -1 zero_data: true|that fit the state's [ 4 ]",
        "data_type: TYPE_FP32 name: 'n' dims: 5 zero_data: true|got [ 5 ]",
        "data_type: TYPE_FP32 name: 'n' dims: 4|to have state_data set",
        "data_type: TYPE_FP32 name: 'n' dims: 4 data_file: 'short'|expects 16 bytes, but",
        "data_type: TYPE_FP32 name: 'n' dims: 4 data_file: '../x'|data_file",
        "data_type: TYPE_FP32 name: 'n' dims: 4 data_file: 'none'|none",
      })
  void anInitialStateMustFit(String initial, String message) throws IOException {
    String state =
        "sequence_batching { state { input_name: 'A' output_name: 'B' data_type: TYPE_FP32 dims: 4"
            + " initial_state { ";
    Path model = repository.model("m", TENSORS + state + initial + " } } }", 1);
    Files.createDirectories(model.resolve("initial_state"));
    Files.write(model.resolve("initial_state/short"), new byte[15]);
    String text = repository.failure().getMessage();
    assertTrue(text.contains(message), text);
  }

  @Test
  void twoInitialStatesAreOneTooMany() throws IOException {
    String initial = "initial_state { name: 'n' data_type: TYPE_FP32 dims: 4 zero_data: true } ";
    repository.model(
        "m",
        TENSORS
            + "sequence_batching { state { input_name: 'A' output_name: 'B' data_type: TYPE_FP32"
            + " dims: 4 "
            + initial
            + initial
            + "} }",
        1);
    String text = repository.failure().getMessage();
    assertTrue(text.contains("Found '2' elements"), text);
  }

  @Test
  void theResponseCacheKeepsNoAnswersOfSequences() throws IOException {
    repository.model("m", TENSORS + "sequence_batching { } response_cache { enable: true }", 1);
    String text = repository.failure().getMessage();
    assertTrue(text.contains("Response Cache does not currently support model m"), text);
  }

  // ---- What the model's file tells -------------------------------------------------------------

  private static final ModelSignature FILE =
      new ModelSignature(
          List.of(
              TensorSpec.of("X", DataType.FP32, -1, 4),
              TensorSpec.of("A", DataType.FP32, -1, 2),
              TensorSpec.of("START", DataType.INT32, -1, 1)),
          List.of(
              TensorSpec.of("Y", DataType.FP32, -1, 4), TensorSpec.of("B", DataType.FP32, -1, 2)),
          0);

  private ModelSpec complete(String sequences) throws IOException {
    Path model =
        repository.model("m", "max_batch_size: 4 sequence_batching { " + sequences + " }", 1);
    Files.writeString(model.resolve("1/model.onnx"), "x");
    return repository.draft().complete(Optional.of(FILE)).spec();
  }

  private static final String STATE =
      "state { input_name: 'A' output_name: 'B' data_type: TYPE_FP32 dims: 2 } ";

  private static final String START =
      "control_input { name: 'START' control { int32_false_true: [ 0, 1 ] } } ";

  @Test
  void controlsAndStatesAreNoInputsOfClients() throws IOException {
    ModelSpec spec = complete(START + STATE);
    assertEquals(List.of("X"), names(spec.inputs()));
    assertEquals(List.of("Y"), names(spec.outputs()));
    assertEquals(List.of("X", "A"), names(complete(START).inputs()));
    assertEquals(List.of("X", "START"), names(complete(STATE).inputs()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "control_input { name: 'NO' control { int32_false_true: [ 0, 1 ] } }|control_input 'NO' is"
            + " configured, but the model has no such input",
        "control_input { name: 'START' control { fp32_false_true: [ 0, 1 ] } }|control_input"
            + " 'START' is configured as FP32, but the model has INT32",
        "state { input_name: 'A' output_name: 'NO' data_type: TYPE_FP32 dims: 2 }|state output 'NO'"
            + " is configured, but the model has no such state output",
        "state { input_name: 'A' output_name: 'B' data_type: TYPE_FP16 dims: 2 }|state input 'A' is"
            + " configured as TYPE_FP16, but the model has FP32",
        "state { input_name: 'A' output_name: 'B' data_type: TYPE_FP32 dims: 3 }|state input 'A' is"
            + " configured with dims [ 3 ]",
      })
  void theyMustBeWhatTheModelHas(String sequences, String message) throws IOException {
    NereidException e = assertThrows(NereidException.class, () -> complete(sequences));
    assertTrue(e.getMessage().startsWith("m/config.pbtxt:1:"), e::getMessage);
    assertTrue(e.getMessage().contains(message), e::getMessage);
  }
}

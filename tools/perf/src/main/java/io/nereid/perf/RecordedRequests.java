package io.nereid.perf;

import io.nereid.perf.InputData.Step;
import io.nereid.perf.InputData.Tensor;
import io.nereid.perf.ModelInfo.TensorInfo;
import io.nereid.perf.RequestPlan.TensorForm;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.RecordedTensor;
import io.nereid.recording.Recording;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The requests of a directory's recordings, in the order in which they arrived. Recordings follow
 * each other without gaps. Everything but the contents of tensors is in memory; these are read when
 * a request is encoded.
 */
final class RecordedRequests implements AutoCloseable {

  /**
   * A request and its time of arrival.
   *
   * @param index its place among the requests, from 0
   * @param offsetNs the time since the first one
   */
  record Arrival(int index, RecordedCall call, long offsetNs) {

    /** Returns a text that identifies the request's sequence; empty: none. */
    String sequence() {
      RecordedCall.Sequence sequence = call.sequence();
      return sequence.isThere()
          ? call.model() + '\n' + sequence.number() + '\n' + sequence.name()
          : "";
    }
  }

  private final Path directory;
  private final Recording recording;
  private final List<Arrival> arrivals;

  private RecordedRequests(Path directory, Recording recording, List<Arrival> arrivals) {
    this.directory = directory;
    this.recording = recording;
    this.arrivals = arrivals;
  }

  /**
   * Reads the recordings of a directory.
   *
   * @param models the models whose requests are read; empty: all
   */
  static RecordedRequests open(Path directory, Set<String> models) {
    try {
      Recording recording = Recording.open(directory);
      try {
        return new RecordedRequests(directory, recording, read(directory, recording, models));
      } catch (IOException | RuntimeException e) {
        recording.close();
        throw e;
      }
    } catch (IOException e) {
      throw new PerfException("the recording cannot be read: " + e.getMessage(), e);
    }
  }

  private static List<Arrival> read(Path directory, Recording recording, Set<String> models)
      throws IOException {
    Map<Long, List<RecordedCall>> byRecording =
        recording.byArrival().stream()
            .filter(call -> models.isEmpty() || models.contains(call.model()))
            .collect(
                Collectors.groupingBy(
                    RecordedCall::recording, LinkedHashMap::new, Collectors.toList()));
    if (byRecording.isEmpty()) {
      throw new PerfException("there is no request to be sent in " + directory);
    }
    List<Arrival> arrivals = new ArrayList<>();
    long beginNs = 0;
    for (List<RecordedCall> calls : byRecording.values()) {
      long firstNs = calls.get(0).arrivalNs();
      for (RecordedCall call : calls) {
        arrivals.add(new Arrival(arrivals.size(), call, beginNs + call.arrivalNs() - firstNs));
      }
      beginNs = arrivals.get(arrivals.size() - 1).offsetNs();
    }
    return arrivals;
  }

  List<Arrival> arrivals() {
    return arrivals;
  }

  Path directory() {
    return directory;
  }

  /** The number of requests that the recorder dropped, which are missing here. */
  long dropped() {
    return recording.dropped();
  }

  List<String> damage() {
    return recording.damage();
  }

  /** The most requests under way at a time. */
  int mostAtOnce() {
    List<long[]> changes = new ArrayList<>();
    for (Arrival arrival : arrivals) {
      changes.add(new long[] {arrival.offsetNs(), 1});
      changes.add(new long[] {arrival.offsetNs() + arrival.call().durationNs(), -1});
    }
    changes.sort(
        Comparator.<long[]>comparingLong(change -> change[0])
            .thenComparingLong(change -> change[1]));
    int now = 0;
    int most = 1;
    for (long[] change : changes) {
      now += (int) change[1];
      most = Math.max(most, now);
    }
    return most;
  }

  // ---- Messages --------------------------------------------------------------------------------

  /** Encodes the request for a server, without its model version. */
  static Encoded encode(Target server, RecordedCall call) {
    List<Tensor> inputs = call.inputs().stream().map(RecordedRequests::tensor).toList();
    Map<String, SharedArea.Place> outputs = new LinkedHashMap<>();
    call.wantedOutputs().forEach(name -> outputs.put(name, SharedArea.NOWHERE));
    Target target = server.withModel(call.model());
    RequestPlan plan =
        plan(target, call, call.protocolParameters(timeoutNs(target.protocol(), call)));
    if (target.protocol() == Target.Protocol.GRPC) {
      return GrpcRequestEncoder.encode(plan, new Step(inputs), List.of(), outputs);
    }
    Encoded message = HttpRequestEncoder.encode(plan, new Step(inputs), List.of(), outputs);
    // In one piece, because senders cache tails, which otherwise are sent many times.
    return new Encoded(
        HttpRequestEncoder.concat(message.head(), message.tail()),
        new byte[0],
        message.rows(),
        null);
  }

  static RequestPlan plan(Target target, RecordedCall call, Map<String, Object> parameters) {
    ModelInfo model =
        new ModelInfo(
            call.model(), List.of(), "", List.of(), List.of(), OptionalInt.of(1), false, List.of());
    return new RequestPlan(
        target,
        model,
        TensorForm.BINARY,
        TensorForm.BINARY,
        parameters,
        call.id(),
        false,
        false,
        false);
  }

  /** HTTP has no deadlines: there the deadline becomes the timeout in the queue. */
  private static long timeoutNs(Target.Protocol protocol, RecordedCall call) {
    boolean bounded = protocol == Target.Protocol.HTTP && call.deadlineNs() != 0;
    boolean sooner = call.timeoutNs() == 0 || call.deadlineNs() < call.timeoutNs();
    return bounded && sooner ? call.deadlineNs() : call.timeoutNs();
  }

  private static Tensor tensor(RecordedTensor input) {
    long[] shape = input.shape().stream().mapToLong(Long::longValue).toArray();
    return new Tensor(
        new TensorInfo(input.name(), input.dataType(), input.shape()), shape, input.bytes());
  }

  @Override
  public void close() {
    try {
      recording.close();
    } catch (IOException e) {
      return; // the file was only read
    }
  }
}

package io.nereid.perf;

import io.nereid.perf.InputData.Step;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** Holds all requests of a run in their encoded form, and gives each sender its next one. */
final class Requests {

  /** Ids are numbers of 16 digits; the digits before the last ten are the sender. */
  private static final long REQUESTS_OF_A_SENDER = 10_000_000_000L;

  private final Encoded[][] steps; // by step and place of outputs
  private final int[] sequenceStarts;
  private final int[] sequenceLengths;
  private final boolean ownLengths;
  private final Sequences sequences; // null: single requests
  private final AtomicLong nextSequenceId;

  private Requests(Encoded[][] steps, InputData data, Sequences sequences) {
    this.steps = steps;
    this.sequences = sequences;
    ownLengths = data.ownLengths();
    List<List<Step>> all = data.sequences();
    sequenceStarts = new int[all.size()];
    sequenceLengths = new int[all.size()];
    for (int i = 0, at = 0; i < sequenceStarts.length; i++) {
      sequenceStarts[i] = at;
      sequenceLengths[i] = all.get(i).size();
      at += sequenceLengths[i];
    }
    // A random start, so that numbers of an earlier run against the same server are hardly reused.
    long range = Encoded.LAST_SEQUENCE_ID - Encoded.FIRST_SEQUENCE_ID + 1;
    nextSequenceId = new AtomicLong(Math.floorMod(System.nanoTime(), range));
  }

  /** Encodes all requests; {@code area} is null unless tensors are in shared memory. */
  static Requests of(RequestPlan plan, InputData data, SharedArea area, Sequences sequences) {
    List<Step> all = data.steps();
    int places = area == null ? 1 : area.outputPlaces();
    Encoded[][] steps = new Encoded[all.size()][places];
    for (int i = 0; i < steps.length; i++) {
      for (int place = 0; place < places; place++) {
        steps[i][place] =
            area == null
                ? encode(plan, all.get(i), List.of(), Map.of())
                : encode(plan, all.get(i), area.inputs(i), area.outputs(place));
      }
    }
    return new Requests(steps, data, sequences);
  }

  /** No requests, for senders that have their own. */
  static Requests none() {
    return new Requests(new Encoded[0][], new InputData(List.of(), false), null);
  }

  private static Encoded encode(
      RequestPlan plan,
      InputData.Step step,
      List<SharedArea.Place> inputs,
      Map<String, SharedArea.Place> outputs) {
    return plan.target().protocol() == Target.Protocol.HTTP
        ? HttpRequestEncoder.encode(plan, step, inputs, outputs)
        : GrpcRequestEncoder.encode(plan, step, inputs, outputs);
  }

  /** The first request; all have its size unless the data differ. */
  Encoded first() {
    return steps[0][0];
  }

  int count() {
    return steps.length;
  }

  /** A sender's place among its requests, and in its present sequence. */
  static final class Position {
    private final Random random;
    private long turn;
    private long requestId;
    private long sequenceId;
    private int data;
    private int step;
    private int remaining;
    private byte[] head = {};

    Position(int sender, Sequences sequences) {
      random = new Random(sequences == null ? sender : sequences.seed() * 31 + sender);
      turn = sender;
      requestId = sender * REQUESTS_OF_A_SENDER;
    }
  }

  Position position(int sender) {
    return new Position(sender, sequences);
  }

  /** True if a sender that is to stop has to send one more request, which ends its sequence. */
  boolean isWithinSequence(Sender sender) {
    return sequences != null && sender.position().remaining > 0;
  }

  /** True if the sender's request is the last of a sequence. */
  boolean endsSequence(Sender sender) {
    return sequences != null && sender.position().remaining == 0;
  }

  /** Gives the sender its next request; {@code last} ends its sequence. */
  void next(Sender sender, boolean last) {
    if (steps.length == 0) {
      return;
    }
    Position at = sender.position();
    int place = sender.index() % steps[0].length;
    if (sequences == null) {
      Encoded message = steps[(int) (at.turn++ % steps.length)][place];
      sender.prepare(message, message.marks() == null ? message.head() : ownHead(at, message));
      return;
    }
    boolean isFirst = at.remaining == 0;
    if (isFirst) {
      begin(at);
    }
    at.remaining = last ? 0 : at.remaining - 1;
    int step = sequenceStarts[at.data] + at.step++ % sequenceLengths[at.data];
    Encoded message = steps[step][place];
    byte[] head = ownHead(at, message);
    message.marks().writeSequence(head, at.sequenceId, isFirst, at.remaining == 0);
    sender.prepare(message, head);
  }

  /** The sender's copy of a request's head, with an id if requests have one. */
  private static byte[] ownHead(Position at, Encoded message) {
    if (at.head.length != message.head().length) {
      at.head = new byte[message.head().length];
    }
    System.arraycopy(message.head(), 0, at.head, 0, at.head.length);
    if (message.marks().requestId() >= 0) {
      message.marks().writeRequestId(at.head, at.requestId++);
    }
    return at.head;
  }

  private void begin(Position at) {
    long range = Encoded.LAST_SEQUENCE_ID - Encoded.FIRST_SEQUENCE_ID + 1;
    at.sequenceId = Encoded.FIRST_SEQUENCE_ID + nextSequenceId.getAndIncrement() % range;
    at.data = (int) (at.turn++ % sequenceStarts.length);
    at.step = 0;
    at.remaining = ownLengths ? sequenceLengths[at.data] : length(at.random);
  }

  private int length(Random random) {
    double factor = 1 + sequences.variation() * (2 * random.nextDouble() - 1);
    return Math.max(1, (int) Math.round(sequences.length() * factor));
  }

  /** Ends the sender's sequence, which a failed request ends at the server as well. */
  void failed(Sender sender) {
    sender.position().remaining = 0;
  }

  /**
   * The lengths of sequences.
   *
   * @param length the average number of requests
   * @param variation the largest deviation, as a fraction of the average
   * @param seed of the random lengths
   */
  record Sequences(int length, double variation, long seed) {}
}

package io.nereid.recording.replay;

import io.nereid.recording.AnswerSource;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.RecordedTensor;
import io.nereid.recording.compare.Answer;
import io.nereid.recording.compare.AnswerComparison;
import io.nereid.recording.compare.Tolerance;
import io.nereid.types.NereidException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Says how far a model's answers move with the company that a request has in its batch: answers to
 * recorded requests alone, again alone, and as rows of a larger request with others of the
 * recording. For one thread.
 */
public final class BatchSensitivity {

  private static final int ROUNDS = 4;
  private static final int LARGEST = 64;

  /** Another sample of as many requests may move further than this one did. */
  private static final double MARGIN = 2;

  /**
   * Says what is sent.
   *
   * @param seed of the company, and of the requests where there are more than {@code requests}
   * @param requests the most of a model that are sent
   * @param padded whether requests that are shorter than others are filled with zeros, and have
   *     company of any length
   */
  public record Options(long seed, int requests, boolean padded) {

    /** Some hundred requests a model, which have company of their own length. */
    public static final Options DEFAULT = new Options(1, 200, false);

    /** Checks the values. */
    public Options {
      if (requests < 1) {
        throw new IllegalArgumentException("expected at least one request, got " + requests);
      }
    }
  }

  private final AnswerSource source;
  private final Options options;
  private final Random chance;
  private final Map<String, List<RecordedCall>> alike = new HashMap<>();
  private final Map<String, Long> most = new HashMap<>(); // rows of a request to a model
  private final AnswerComparison moved =
      new AnswerComparison(Map.of(Tolerance.ALL, Tolerance.NONE), Map.of());

  private BatchSensitivity(AnswerSource source, Options options) {
    this.source = source;
    this.options = options;
    chance = new Random(options.seed());
  }

  /**
   * Measures.
   *
   * @return by {@code MODEL/OUTPUT} how far answers moved in all, and for each kind of company by
   *     {@code MODEL KIND/OUTPUT}; outputs of strings are not looked at, nor requests of sequences
   */
  public static AnswerComparison measure(
      List<RecordedCall> calls, AnswerSource source, Options options) {
    BatchSensitivity sensitivity = new BatchSensitivity(source, options);
    List<RecordedCall> measured = new ArrayList<>();
    for (RecordedCall call : calls) {
      if (!call.sequence().isThere()) {
        measured.add(call);
        sensitivity.alike.computeIfAbsent(sensitivity.kind(call), k -> new ArrayList<>()).add(call);
      }
    }
    Collections.shuffle(measured, sensitivity.chance);
    Map<String, Integer> counts = new HashMap<>();
    for (RecordedCall call : measured) {
      if (counts.merge(call.model(), 1, Integer::sum) <= options.requests()) {
        sensitivity.measure(call);
      }
    }
    return sensitivity.moved;
  }

  /** The distance below which answers of a model that moved so far do not differ, by output. */
  public static Map<String, Double> noise(AnswerComparison moved) {
    Map<String, Double> noise = new HashMap<>();
    moved.figures().forEach(figures -> noise.put(figures.output(), MARGIN * figures.absolute()));
    return noise;
  }

  private void measure(RecordedCall call) {
    Map<String, Answer> alone;
    try {
      alone = numbers(source.answer(call));
      add(call, alone, numbers(source.answer(call)), List.of("alone again"));
    } catch (NereidException e) {
      moved.addFailure(call.model(), ReplayedAnswers.name(call), "alone", ReplayedAnswers.said(e));
      return;
    }
    int most =
        (int) Math.min(LARGEST, this.most.computeIfAbsent(call.model(), source::maxBatchSize));
    for (int round = 0; round < ROUNDS && rows(call) < most; round++) {
      Company company = company(call, rows(call) + 1 + chance.nextInt(most - rows(call)));
      if (company.calls.size() > 1) {
        try {
          Map<String, Answer> all = source.answer(call, company.inputs());
          add(call, alone, company.own(all, alone), company.kinds());
        } catch (NereidException e) {
          moved.addFailure(
              call.model(), ReplayedAnswers.name(call), "with others", ReplayedAnswers.said(e));
        }
      }
    }
  }

  private void add(
      RecordedCall call, Map<String, Answer> alone, Map<String, Answer> other, List<String> kinds) {
    String request = ReplayedAnswers.name(call);
    kinds.forEach(kind -> moved.add(call.model() + " " + kind, request, alone, other));
    moved.add(call.model(), request, alone, other);
  }

  private static Map<String, Answer> numbers(Map<String, Answer> answers) {
    Map<String, Answer> numbers = new LinkedHashMap<>(answers);
    numbers.values().removeIf(answer -> !answer.dataType().isFixedSize());
    return numbers;
  }

  private static int rows(RecordedCall call) {
    return call.inputs().isEmpty() || call.inputs().getFirst().shape().isEmpty()
        ? Integer.MAX_VALUE
        : Math.toIntExact(call.inputs().getFirst().shape().getFirst());
  }

  /** The same text for requests that fit into one batch. */
  private String kind(RecordedCall call) {
    StringBuilder kind = new StringBuilder(call.model());
    kind.append('\n').append(call.parameters()).append(call.wantedOutputs());
    for (RecordedTensor input : call.inputs()) {
      List<Long> shape = input.shape();
      boolean anyLength = options.padded() && input.dataType().isFixedSize();
      kind.append('\n').append(input.name()).append(input.dataType());
      kind.append(anyLength || shape.isEmpty() ? shape.size() : shape.subList(1, shape.size()));
    }
    return kind.toString();
  }

  /** Puts others in front of the request, behind it, or around it, up to so many rows. */
  private Company company(RecordedCall call, int size) {
    List<RecordedCall> others = alike.get(kind(call));
    int place = chance.nextInt(3);
    List<RecordedCall> calls = new ArrayList<>(List.of(call));
    int rows = rows(call);
    int offset = 0;
    while (rows < size) {
      RecordedCall other = others.get(chance.nextInt(others.size()));
      if (rows + rows(other) > size) {
        break;
      }
      rows += rows(other);
      boolean before = place == 0 || place == 1 && chance.nextBoolean();
      calls.add(before ? 0 : calls.size(), other);
      offset += before ? rows(other) : 0;
    }
    List<List<Long>> tails = new ArrayList<>();
    for (int i = 0; i < call.inputs().size(); i++) {
      List<Long> largest = new ArrayList<>(withoutRows(call.inputs().get(i).shape()));
      for (RecordedCall one : calls) {
        List<Long> own = withoutRows(one.inputs().get(i).shape());
        for (int j = 0; j < own.size(); j++) {
          largest.set(j, Math.max(largest.get(j), own.get(j)));
        }
      }
      tails.add(largest);
    }
    return new Company(call, calls, offset, rows, tails);
  }

  private static List<Long> withoutRows(List<Long> shape) {
    return shape.subList(1, shape.size());
  }

  private static List<Long> shape(long rows, List<Long> tail) {
    List<Long> shape = new ArrayList<>(List.of(rows));
    shape.addAll(tail);
    return shape;
  }

  /**
   * A request with others in one batch.
   *
   * @param call the request
   * @param calls all, in their order
   * @param offset the rows in front of the request
   * @param rows of all
   * @param tails the dimensions behind the rows that each input of all has
   */
  private record Company(
      RecordedCall call, List<RecordedCall> calls, int offset, int rows, List<List<Long>> tails) {

    List<String> kinds() {
      int largest = Integer.highestOneBit(rows - 1) * 2;
      boolean last = offset + BatchSensitivity.rows(call) == rows;
      List<String> kinds = new ArrayList<>();
      kinds.add("in a batch of %2d or less".formatted(largest));
      kinds.add((offset == 0 ? "first in" : last ? "last in" : "inside") + " its batch");
      if (!tails.equals(call.inputs().stream().map(input -> withoutRows(input.shape())).toList())) {
        kinds.add("padded");
      }
      return kinds;
    }

    List<RecordedTensor> inputs() {
      List<RecordedTensor> inputs = new ArrayList<>();
      for (int i = 0; i < call.inputs().size(); i++) {
        RecordedTensor own = call.inputs().get(i);
        List<ByteBuffer> parts = new ArrayList<>();
        for (RecordedCall one : calls) {
          RecordedTensor input = one.inputs().get(i);
          List<Long> shape = shape(input.shape().getFirst(), tails.get(i));
          ByteBuffer bytes = ByteBuffer.wrap(input.bytes());
          parts.add(resized(bytes, input.shape(), shape, own.dataType().byteSize()));
        }
        ByteBuffer all = ByteBuffer.allocate(parts.stream().mapToInt(ByteBuffer::limit).sum());
        parts.forEach(all::put);
        inputs.add(
            new RecordedTensor(
                own.name(),
                own.dataType(),
                shape(rows, tails.get(i)),
                all.capacity(),
                RecordedTensor.Presence.THERE,
                () -> all.duplicate().flip()));
      }
      return inputs;
    }

    /**
     * The rows of the request, in the shapes that they have alone where padding made them longer.
     */
    Map<String, Answer> own(Map<String, Answer> all, Map<String, Answer> alone) {
      Map<String, Answer> own = new LinkedHashMap<>();
      all.forEach((name, answer) -> {
        if (alone.containsKey(name)) {
          own.put(name, part(answer, alone.get(name)));
        }
      });
      return own;
    }

    private Answer part(Answer all, Answer alone) {
      if (all.shape().size() != alone.shape().size()
          || all.shape().isEmpty()
          || all.shape().getFirst() != rows) {
        return all; // it has no rows, and differs in its shape
      }
      int row = all.content().limit() / rows;
      int count = BatchSensitivity.rows(call);
      ByteBuffer part = all.content().slice(row * offset, row * count);
      List<Long> shape = shape(count, withoutRows(all.shape()));
      ByteBuffer own = resized(part, shape, alone.shape(), all.dataType().byteSize());
      return new Answer(all.dataType(), alone.shape(), own);
    }

    /** The elements that two shapes have in common, and zeros for the others. */
    private static ByteBuffer resized(
        ByteBuffer from, List<Long> shape, List<Long> target, int size) {
      if (shape.equals(target)) {
        return from;
      }
      long bytes = target.stream().reduce((long) size, (a, b) -> a * b);
      ByteBuffer to = ByteBuffer.allocate(Math.toIntExact(bytes));
      copy(from, shape, to, target);
      return to;
    }

    private static void copy(ByteBuffer from, List<Long> shape, ByteBuffer to, List<Long> target) {
      int common = (int) Math.min(shape.getFirst(), target.getFirst());
      if (common == 0) {
        return;
      }
      int step = (int) (from.limit() / shape.getFirst());
      int targetStep = (int) (to.limit() / target.getFirst());
      if (shape.size() == 1) {
        to.put(0, from, 0, common * step);
        return;
      }
      for (int i = 0; i < common; i++) {
        copy(
            from.slice(i * step, step),
            withoutRows(shape),
            to.slice(i * targetStep, targetStep),
            withoutRows(target));
      }
    }
  }
}

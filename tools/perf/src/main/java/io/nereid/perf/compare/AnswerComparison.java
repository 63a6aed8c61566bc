package io.nereid.perf.compare;

import io.nereid.perf.report.Table;
import io.nereid.types.DataType;
import io.nereid.types.HalfPrecision;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Compares the answers of two sides to the same requests, output by output. An element differs when
 * it is further from the first side's than the tolerance allows; anything but numbers differs when
 * a byte does. For one thread.
 */
public final class AnswerComparison {

  /**
   * An output of an answer.
   *
   * @param shape its dimensions
   * @param bytes its elements, in the protocol's binary form
   */
  public record Answer(DataType dataType, List<Long> shape, byte[] bytes) {

    /** True if elements are numbers whose nearness means something. */
    boolean isNumeric() {
      return dataType != DataType.BYTES && dataType != DataType.BOOL;
    }

    int count() {
      return bytes.length / dataType.byteSize();
    }

    /** The numbers; 64-bit integers lose their last bits. */
    double[] numbers() {
      ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      double[] numbers = new double[count()];
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] =
            switch (dataType) {
              case FP32 -> in.getFloat();
              case FP64 -> in.getDouble();
              case FP16, BF16 -> HalfPrecision.toFloat(dataType, in.getShort());
              case INT8 -> in.get();
              case UINT8, BOOL, BYTES -> Byte.toUnsignedInt(in.get());
              case INT16 -> in.getShort();
              case UINT16 -> Short.toUnsignedInt(in.getShort());
              case INT32 -> in.getInt();
              case UINT32 -> Integer.toUnsignedLong(in.getInt());
              case INT64, UINT64 -> in.getLong();
            };
      }
      return numbers;
    }
  }

  /**
   * The distance that an element may have: {@code absolute + relative * |element of the first
   * side|}.
   */
  public record Tolerance(double absolute, double relative) {

    /** Finds a relative error of 1e-3, and forgives the order in which floats are added up. */
    public static final Tolerance DEFAULT = new Tolerance(1e-6, 1e-4);

    /** Checks the values. */
    public Tolerance {
      if (!(absolute >= 0) || !(relative >= 0)) {
        throw new IllegalArgumentException(
            "expected tolerances of 0 or more, got " + absolute + "," + relative);
      }
    }

    /** Reads {@code ABSOLUTE,RELATIVE}. */
    static Tolerance of(String text) {
      String[] parts = text.strip().split(",", -1);
      try {
        if (parts.length == 2) {
          return new Tolerance(
              Double.parseDouble(parts[0].strip()), Double.parseDouble(parts[1].strip()));
        }
      } catch (NumberFormatException e) {
        // Said below.
      }
      throw new IllegalArgumentException(
          "expected a tolerance ABSOLUTE,RELATIVE such as 1e-6,1e-4, got '" + text + "'");
    }

    /**
     * Reads a file with a line {@code MODEL/OUTPUT = ABSOLUTE,RELATIVE} for each output that has
     * tolerances of its own, and {@code default = ...} for the others.
     */
    public static Map<String, Tolerance> read(Path file) throws IOException {
      Map<String, Tolerance> tolerances = new LinkedHashMap<>();
      for (String line : Files.readAllLines(file)) {
        String text = line.replaceFirst("#.*", "").strip();
        int equals = text.lastIndexOf('=');
        if (equals > 0) {
          tolerances.put(text.substring(0, equals).strip(), of(text.substring(equals + 1)));
        } else if (!text.isEmpty()) {
          throw new IllegalArgumentException(
              "expected MODEL/OUTPUT = ABSOLUTE,RELATIVE in " + file + ", got '" + text + "'");
        }
      }
      return tolerances;
    }
  }

  /** The figures of one output. */
  private static final class OfOutput {
    private int answers;
    private int differing;
    private int otherShapes;
    private int topChanges;
    private long notFinite;
    private double mostAbsolute;
    private double mostRelative;
    private double leastCosine = 1;
    private String worst = "";
    private double worstBy;
  }

  private final Map<String, Tolerance> tolerances;
  private final Map<String, OfOutput> outputs = new TreeMap<>();
  private final List<String> failures = new ArrayList<>();
  private int requests;

  /** Compares nothing yet; {@code tolerances} are those of {@link Tolerance#read}. */
  public AnswerComparison(Map<String, Tolerance> tolerances) {
    this.tolerances = Map.copyOf(tolerances);
  }

  /**
   * Compares the answers to a request.
   *
   * @param request tells it from others
   */
  public void add(String model, String request, Map<String, Answer> a, Map<String, Answer> b) {
    requests++;
    TreeSet<String> names = new TreeSet<>(a.keySet());
    names.addAll(b.keySet());
    for (String name : names) {
      String key = model + "/" + name;
      OfOutput output = outputs.computeIfAbsent(key, any -> new OfOutput());
      output.answers++;
      Answer one = a.get(name);
      Answer other = b.get(name);
      if (one == null
          || other == null
          || one.dataType() != other.dataType()
          || !one.shape().equals(other.shape())) {
        output.otherShapes++;
        differs(output, request, Double.POSITIVE_INFINITY);
      } else if (!Arrays.equals(one.bytes(), other.bytes())) {
        if (one.isNumeric()) {
          numbers(output, request, tolerance(key), one, other);
        } else {
          differs(output, request, Double.POSITIVE_INFINITY);
        }
      }
    }
  }

  /** Tells of a request that the sides ended differently, at least one with a failure. */
  public void addFailure(String model, String request, String a, String b) {
    requests++;
    if (!a.equals(b)) {
      failures.add("%s, %s: %s and %s".formatted(model, request, a, b));
    }
  }

  private Tolerance tolerance(String key) {
    Tolerance all = tolerances.getOrDefault("default", Tolerance.DEFAULT);
    return tolerances.getOrDefault(key, all);
  }

  private static void differs(OfOutput output, String request, double by) {
    output.differing++;
    if (by > output.worstBy) {
      output.worstBy = by;
      output.worst = request;
    }
  }

  private static void numbers(
      OfOutput output, String request, Tolerance tolerance, Answer one, Answer other) {
    double[] a = one.numbers();
    double[] b = other.numbers();
    double by = 0; // the largest distance, in tolerances
    double dot = 0;
    double squaresA = 0;
    double squaresB = 0;
    for (int i = 0; i < a.length; i++) {
      if (!Double.isFinite(a[i]) || !Double.isFinite(b[i])) {
        boolean same = Double.compare(a[i], b[i]) == 0;
        output.notFinite += same ? 0 : 1;
        by = same ? by : Double.POSITIVE_INFINITY;
        continue;
      }
      double distance = Math.abs(a[i] - b[i]);
      output.mostAbsolute = Math.max(output.mostAbsolute, distance);
      if (a[i] != 0) {
        output.mostRelative = Math.max(output.mostRelative, distance / Math.abs(a[i]));
      }
      double allowed = tolerance.absolute() + tolerance.relative() * Math.abs(a[i]);
      if (distance > 0) {
        by = Math.max(by, allowed == 0 ? Double.POSITIVE_INFINITY : distance / allowed);
      }
      dot += a[i] * b[i];
      squaresA += a[i] * a[i];
      squaresB += b[i] * b[i];
    }
    if (squaresA > 0 && squaresB > 0) {
      double cosine = dot / Math.sqrt(squaresA) / Math.sqrt(squaresB);
      output.leastCosine = Math.min(output.leastCosine, cosine);
    }
    output.topChanges += topChanges(one.shape(), a, b);
    if (by > 1) {
      differs(output, request, by);
    }
  }

  /** The rows of the last dimension whose largest element is at another place. */
  private static int topChanges(List<Long> shape, double[] a, double[] b) {
    int length = shape.isEmpty() ? 1 : Math.toIntExact(shape.getLast());
    int changes = 0;
    for (int row = 0; length > 1 && row + length <= a.length; row += length) {
      changes += top(a, row, length) == top(b, row, length) ? 0 : 1;
    }
    return changes;
  }

  private static int top(double[] values, int from, int length) {
    int top = from;
    for (int i = from + 1; i < from + length; i++) {
      if (values[i] > values[top]) {
        top = i;
      }
    }
    return top;
  }

  /** True if an answer differs by more than it may, or one side failed where the other did not. */
  public boolean differs() {
    return !failures.isEmpty()
        || outputs.values().stream().anyMatch(output -> output.differing > 0);
  }

  /** For people. */
  public String text() {
    Table table =
        new Table(
            List.of(
                "OUTPUT",
                "ANSWERS",
                "DIFFER",
                "ABSOLUTE",
                "RELATIVE",
                "COSINE",
                "TOP-1",
                "NAN/INF",
                "SHAPES",
                "WORST"));
    outputs.forEach((name, output) ->
        table.add(
            List.of(
                name,
                Integer.toString(output.answers),
                Integer.toString(output.differing),
                number(output.mostAbsolute),
                number(output.mostRelative),
                String.format(Locale.ROOT, "%.6f", output.leastCosine),
                Integer.toString(output.topChanges),
                Long.toString(output.notFinite),
                Integer.toString(output.otherShapes),
                output.worst)));
    StringBuilder text = new StringBuilder();
    text.append("answers to ").append(requests).append(" recorded requests\n\n");
    text.append(table.text());
    failures.stream().limit(10).forEach(line -> text.append(" ! ").append(line).append('\n'));
    if (failures.size() > 10) {
      text.append(" ! and ").append(failures.size() - 10).append(" others\n");
    }
    return text.append(differs() ? "Answers differ.\n" : "No answer differs.\n").toString();
  }

  private static String number(double value) {
    return value == 0 ? "0" : String.format(Locale.ROOT, "%.2e", value);
  }
}

package io.nereid.tensorrt.builder;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The shapes that an engine accepts for an input, with all dimensions; for a shape tensor, the
 * accepted values.
 *
 * @param input the input's name
 * @param min the smallest
 * @param opt the one that the engine is made fastest for
 * @param max the largest
 */
public record ShapeRange(String input, List<Long> min, List<Long> opt, List<Long> max) {

  private static final String FORM =
      "expected shapes as INPUT=MIN:OPT:MAX, such as input=1x3x224x224:8x3x224x224:32x3x224x224, or"
          + " INPUT=SHAPE where there is one only";

  /** The form of a shape; 18 digits always fit a long. */
  private static final Pattern SHAPE = Pattern.compile("-?[0-9]{1,18}(x-?[0-9]{1,18})*|scalar");

  public ShapeRange {
    min = List.copyOf(min);
    opt = List.copyOf(opt);
    max = List.copyOf(max);
    if (min.size() != opt.size() || opt.size() != max.size()) {
      throw wrong("with as many dimensions each", input, min, opt, max);
    }
    for (int i = 0; i < opt.size(); i++) {
      if (min.get(i) > opt.get(i) || opt.get(i) > max.get(i)) {
        throw wrong("that grow from the smallest to the largest", input, min, opt, max);
      }
    }
  }

  private static IllegalArgumentException wrong(
      String shapes, String input, List<Long> min, List<Long> opt, List<Long> max) {
    return new IllegalArgumentException(
        "expected shapes %s for input '%s', got %s, %s, %s"
            .formatted(shapes, input, min, opt, max));
  }

  /** One range in the form {@code input=1x16:8x16:32x16}, or {@code input=8x16} for one shape. */
  public static ShapeRange parse(String text) {
    // Names may contain '=' and ':'; shapes do not.
    int equals = text.lastIndexOf('=');
    if (equals <= 0) {
      throw malformed(text);
    }
    String[] shapes = text.substring(equals + 1).split(":", -1);
    if (shapes.length != 1 && shapes.length != 3) {
      throw malformed(text);
    }
    List<Long> first = shape(shapes[0], text);
    return shapes.length == 1
        ? new ShapeRange(text.substring(0, equals), first, first, first)
        : new ShapeRange(
            text.substring(0, equals), first, shape(shapes[1], text), shape(shapes[2], text));
  }

  /**
   * Groups ranges into optimisation profiles, in order: a repeated input begins the next profile.
   */
  public static List<List<ShapeRange>> profiles(List<ShapeRange> ranges) {
    List<List<ShapeRange>> profiles = new ArrayList<>();
    Set<String> named = new HashSet<>();
    for (ShapeRange range : ranges) {
      if (profiles.isEmpty() || !named.add(range.input())) {
        named.clear();
        named.add(range.input());
        profiles.add(new ArrayList<>());
      }
      profiles.getLast().add(range);
    }
    return profiles;
  }

  private static List<Long> shape(String shape, String text) {
    if (!SHAPE.matcher(shape).matches()) {
      throw malformed(text);
    }
    return shape.equals("scalar")
        ? List.of()
        : Arrays.stream(shape.split("x")).map(Long::valueOf).toList();
  }

  private static IllegalArgumentException malformed(String text) {
    return new IllegalArgumentException(FORM + "; got '" + text + "'");
  }
}

package io.nereid.server.shared;

import io.nereid.InferRequest;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Turns header fields of inference requests into parameters for backends: those in whose names a
 * regular expression is found, in any case. Any thread may call.
 *
 * <p>The operator writes the expression and clients choose the names, so the search is bounded: a
 * name for which it takes long does not match.
 */
public final class HeaderForwarding {

  /** A field whose name matched, as it was sent. */
  public record Field(String name, String value) {}

  /**
   * The longest name that can match; real names are far shorter, and each character may cost a
   * stack frame.
   */
  private static final int MOST_CHARS = 256;

  /** The most reads of one name's characters. */
  private static final int MOST_STEPS = 20_000;

  /** Triton's parameters, which have a meaning for the server. */
  private static final Set<String> RESERVED =
      Set.of(
          "sequence_id",
          "sequence_start",
          "sequence_end",
          "priority",
          "timeout",
          "headers",
          "binary_data_output");

  private static final String RESERVED_PREFIX = "triton_";

  private final Pattern pattern;

  /**
   * Takes an expression; {@code (?-i)} in front makes it case-sensitive.
   *
   * @throws java.util.regex.PatternSyntaxException the text is no expression
   */
  public HeaderForwarding(String expression) {
    pattern = Pattern.compile("(?i)" + expression);
  }

  /** True if a field of this name becomes a parameter. */
  public boolean matches(String name) {
    if (name.length() > MOST_CHARS) {
      return false;
    }
    try {
      return pattern.matcher(new Steps(name)).find();
    } catch (TooManySteps e) {
      return false;
    }
  }

  /** Gives a request its parameters; the last one of a name wins, even over the request's own. */
  public static void apply(List<Field> fields, InferRequest request) {
    for (Field field : fields) {
      if (RESERVED.contains(field.name) || field.name.startsWith(RESERVED_PREFIX)) {
        throw new NereidException(
            StatusCode.INVALID_ARGUMENT,
            "Header '" + field.name + "' is reserved for Triton usage and cannot be forwarded.");
      }
      request.parameter(field.name, field.value);
    }
  }

  /** A name that counts the reads of its characters. */
  private static final class Steps implements CharSequence {
    private final String name;
    private int left = MOST_STEPS;

    Steps(String name) {
      this.name = name;
    }

    @Override
    public char charAt(int index) {
      if (--left < 0) {
        throw new TooManySteps();
      }
      return name.charAt(index);
    }

    @Override
    public int length() {
      return name.length();
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return name.substring(start, end);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static final class TooManySteps extends RuntimeException {
    private static final long serialVersionUID = 1;

    TooManySteps() {
      // no message and no stack trace, since only the match catches it
      super(null, null, false, false);
    }
  }
}

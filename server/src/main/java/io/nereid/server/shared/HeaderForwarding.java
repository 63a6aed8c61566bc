package io.nereid.server.shared;

import io.nereid.InferRequest;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Makes header fields of inference requests parameters that their backends see: those in whose
 * names a regular expression is found, in any case. From any thread.
 *
 * <p>The operator writes the expression and clients choose the names, so finding it is bounded: a
 * name for which it takes long is one that does not match.
 */
public final class HeaderForwarding {

  /** A field whose name matched, as it was sent. */
  public record Field(String name, String value) {}

  /** Names are far shorter; each character may cost a frame of the stack. */
  private static final int MOST_CHARS = 256;

  /** The number of times that characters of one name may be looked at. */
  private static final int MOST_STEPS = 20_000;

  /** Parameters that mean something to the server: Triton's. */
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
   * With an expression, which {@code (?-i)} in front makes heed the case.
   *
   * @throws java.util.regex.PatternSyntaxException when it is none
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

  /** Gives a request its parameters; the last one of a name holds, also over the request's own. */
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

  /** A name that counts how often it is looked at. */
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
      super(null, null, false, false); // it tells nobody anything
    }
  }
}

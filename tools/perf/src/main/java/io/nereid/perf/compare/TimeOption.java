package io.nereid.perf.compare;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A time on the command line, such as 90s. */
public final class TimeOption implements ITypeConverter<Duration> {

  private static final Pattern FORM = Pattern.compile("([1-9]\\d{0,5})([smhd])");

  /** Called by picocli. */
  public TimeOption() {}

  @Override
  public Duration convert(String value) {
    Matcher matcher = FORM.matcher(value);
    if (!matcher.matches()) {
      throw new TypeConversionException("expected a time such as 90s, 10m, 1h or 7d, got " + value);
    }
    long number = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "s" -> Duration.ofSeconds(number);
      case "m" -> Duration.ofMinutes(number);
      case "h" -> Duration.ofHours(number);
      default -> Duration.ofDays(number);
    };
  }
}

package io.nereid.benchmarks.peers;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A time on the command line, such as 90s. */
final class TimeOption implements ITypeConverter<Duration> {

  private static final Pattern FORM = Pattern.compile("([1-9]\\d{0,5})([smh])");

  TimeOption() {}

  @Override
  public Duration convert(String value) {
    Matcher matcher = FORM.matcher(value);
    if (!matcher.matches()) {
      throw new TypeConversionException("expected a time such as 90s or 10m, got " + value);
    }
    return Duration.parse("PT" + value);
  }
}

package io.nereid.benchmarks.compare;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A share on the command line, such as 5%. */
final class PercentOption implements ITypeConverter<Double> {

  PercentOption() {}

  @Override
  public Double convert(String value) {
    String number = value.endsWith("%") ? value.substring(0, value.length() - 1) : value;
    try {
      double percent = Double.parseDouble(number);
      if (percent > 0 && percent <= 1000) {
        return percent / 100;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new TypeConversionException("expected percent such as 5%, got " + value);
  }
}

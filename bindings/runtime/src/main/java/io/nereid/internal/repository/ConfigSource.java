package io.nereid.internal.repository;

import com.google.protobuf.TextFormatParseLocation;
import io.nereid.model.ModelConfiguration.Origin;
import java.util.List;

/** Where a configuration was written, and how messages name places in it. */
sealed interface ConfigSource {

  /** How messages name the whole. */
  String shown();

  /** What its values are said to come from. */
  Origin origin();

  /** How messages name a place. */
  String place(TextFormatParseLocation location);

  /** Text in a file, or in none: a model without a configuration has no places either. */
  record Text(String shown) implements ConfigSource {
    @Override
    public Origin origin() {
      return Origin.FILE;
    }

    @Override
    public String place(TextFormatParseLocation location) {
      return shown + ":" + (location.getLine() + 1) + ":" + (location.getColumn() + 1);
    }
  }

  /**
   * JSON that came with a request, in text format with one value a line.
   *
   * @param paths for each line, where its value is in the JSON
   */
  record Json(String shown, List<JsonPath> paths) implements ConfigSource {
    @Override
    public Origin origin() {
      return Origin.OVERRIDE;
    }

    @Override
    public String place(TextFormatParseLocation location) {
      return shown + " at " + paths.get(location.getLine());
    }
  }
}

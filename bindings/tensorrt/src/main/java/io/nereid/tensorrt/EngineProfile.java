package io.nereid.tensorrt;

import java.util.Map;

/**
 * An optimization profile of an engine.
 *
 * @param index its number
 * @param shapes by input: what dimensions it may have
 * @param values by input that shapes are computed from: what values it may hold
 */
record EngineProfile(int index, Map<String, ShapeRange> shapes, Map<String, ShapeRange> values) {

  EngineProfile {
    shapes = Map.copyOf(shapes);
    values = Map.copyOf(values);
  }
}

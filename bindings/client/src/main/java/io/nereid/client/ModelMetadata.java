package io.nereid.client;

import io.nereid.types.DataType;
import java.util.List;

/**
 * A server's description of a model.
 *
 * @param name its name
 * @param versions its versions; empty if the server has none
 * @param platform its framework or backend
 * @param inputs its inputs
 * @param outputs its outputs
 */
public record ModelMetadata(
    String name,
    List<String> versions,
    String platform,
    List<TensorMetadata> inputs,
    List<TensorMetadata> outputs) {

  /**
   * An input or output of a model.
   *
   * @param name its name
   * @param datatype its datatype as the server names it, usually a {@link DataType}
   * @param shape its dimensions; -1 for those of any size
   */
  public record TensorMetadata(String name, String datatype, List<Long> shape) {}
}

package io.nereid.client;

import io.nereid.types.DataType;
import java.util.List;

/**
 * An input or output of a model.
 *
 * @param name its name
 * @param datatype its datatype as the server names it, usually a {@link DataType}
 * @param shape its dimensions; -1 for those of any size
 */
public record TensorMetadata(String name, String datatype, List<Long> shape) {}

package io.nereid.internal.repository;

import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSpec;
import io.nereid.proto.ModelConfig;
import java.util.List;

/**
 * A configuration as protobuf's message.
 *
 * @param message all of it
 * @param values its values, in the order of the message's fields
 */
public record ProtobufConfiguration(ModelConfig message, List<Value> values)
    implements ModelConfiguration {

  /** Copies the list. */
  public ProtobufConfiguration {
    values = List.copyOf(values);
  }

  /** That of a model that a program describes. */
  public static ProtobufConfiguration of(ModelSpec spec) {
    ModelConfig message = SpecWriter.write(spec);
    return new ProtobufConfiguration(message, ConfigValues.ofCode(message));
  }

  @Override
  public String platform() {
    return message.getPlatform();
  }

  @Override
  public String toJson() {
    return JsonConfigWriter.write(message);
  }

  @Override
  public String toText() {
    return ConfigPrinter.print(message, values, false);
  }

  @Override
  public String toCommentedText() {
    return ConfigPrinter.print(message, values, true);
  }

  @Override
  public byte[] toProtobuf() {
    return message.toByteArray();
  }
}

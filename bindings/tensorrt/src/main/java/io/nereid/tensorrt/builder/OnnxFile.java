package io.nereid.tensorrt.builder;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.bytedeco.tensorrt.nvinfer.INetworkDefinition;

/**
 * A network in a file of ONNX; weights beside it are found by the names that the file has for them.
 *
 * @param file where it is
 */
public record OnnxFile(Path file) implements NetworkSource {

  /** Checks that there is such a file, before anything of TensorRT is loaded. */
  public OnnxFile {
    if (!Files.isRegularFile(file)) {
      throw new NereidException(
          StatusCode.NOT_FOUND,
          "expected an ONNX file",
          new NoSuchFileException("there is no file " + file));
    }
  }

  @Override
  public String description() {
    return file.toString();
  }

  @Override
  public void define(INetworkDefinition network, BuildScope scope) {
    // The network's weights are the parser's memory.
    scope.keep(new OnnxParser(network, scope.logger())).parse(file);
  }
}

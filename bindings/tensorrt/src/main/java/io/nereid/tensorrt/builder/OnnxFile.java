package io.nereid.tensorrt.builder;

import io.nereid.tensorrt.NativeObjects;
import io.nereid.tensorrt.TensorRtMajor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.bytedeco.tensorrt.global.nvonnxparser;
import org.bytedeco.tensorrt.nvinfer.ILogger;
import org.bytedeco.tensorrt.nvinfer.INetworkDefinition;
import org.bytedeco.tensorrt.nvonnxparser.IParser;

/**
 * A network in an ONNX file, which may name files with weights beside it.
 *
 * @param file the path
 */
public record OnnxFile(Path file) implements NetworkSource {

  /** Checks that the file exists, before TensorRT is loaded. */
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
    IParser parser =
        scope.made(nvonnxparser.createParser(network, scope.logger()), "its ONNX parser");
    // The parser owns the network's weights; its destructor has another place than in other
    // objects.
    scope.keep(() -> NativeObjects.delete(parser, TensorRtMajor.HERE.parserDestructor()));
    if (!parser.parseFromFile(file.toString(), ILogger.Severity.kWARNING.value)) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "TensorRT cannot take %s: %s"
              .formatted(file, NativeObjects.errors(parser.getNbErrors(), parser::getError)));
    }
  }
}

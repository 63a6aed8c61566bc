package io.nereid.tensorrt.builder;

import io.nereid.tensorrt.NativeObjects;
import io.nereid.tensorrt.TensorRtMajor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import org.bytedeco.tensorrt.global.nvonnxparser;
import org.bytedeco.tensorrt.nvinfer.ILogger;
import org.bytedeco.tensorrt.nvinfer.INetworkDefinition;
import org.bytedeco.tensorrt.nvonnxparser.IParser;

/** TensorRT's parser of ONNX files, for one file. */
final class OnnxParser implements AutoCloseable {

  private final IParser parser;

  OnnxParser(INetworkDefinition network, ILogger logger) {
    parser = nvonnxparser.createParser(network, logger);
    if (parser == null || parser.isNull()) {
      throw new NereidException(StatusCode.INTERNAL, "TensorRT could not make its ONNX parser");
    }
  }

  /** Adds what the file has to the network. */
  void parse(Path file) {
    if (!parser.parseFromFile(file.toString(), ILogger.Severity.kWARNING.value)) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "TensorRT cannot take "
              + file
              + ": "
              + NativeObjects.errors(parser.getNbErrors(), parser::getError));
    }
  }

  /** The parser is no object of those that TensorRT's other functions return. */
  @Override
  public void close() {
    NativeObjects.delete(parser, TensorRtMajor.HERE.parserDestructor());
  }
}

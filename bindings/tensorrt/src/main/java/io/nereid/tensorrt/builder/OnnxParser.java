package io.nereid.tensorrt.builder;

import static java.lang.foreign.ValueLayout.ADDRESS;

import io.nereid.tensorrt.TensorRtMajor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.bytedeco.tensorrt.global.nvonnxparser;
import org.bytedeco.tensorrt.nvinfer.ILogger;
import org.bytedeco.tensorrt.nvinfer.INetworkDefinition;
import org.bytedeco.tensorrt.nvonnxparser.IParser;
import org.bytedeco.tensorrt.nvonnxparser.IParserError;

/** TensorRT's parser of ONNX files, for one file. */
final class OnnxParser implements AutoCloseable {

  private static final int SHOWN_ERRORS = 3;

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
          StatusCode.INVALID_ARGUMENT, "TensorRT cannot take " + file + ": " + errors());
    }
  }

  private String errors() {
    int count = parser.getNbErrors();
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < Math.min(count, SHOWN_ERRORS); i++) {
      IParserError error = parser.getError(i);
      text.append(i == 0 ? "" : "; ");
      if (error.node() >= 0) {
        text.append("node ").append(error.node());
        text.append(" (").append(error.nodeOperator()).append(" '");
        text.append(error.nodeName()).append("'): ");
      }
      text.append(error.desc());
    }
    if (count > SHOWN_ERRORS) {
      text.append("; and ").append(count - SHOWN_ERRORS).append(" more");
    }
    return count == 0 ? "its parser does not say why" : text.toString();
  }

  /** The parser is no object of those that TensorRT's other functions return. */
  @Override
  @SuppressWarnings("restricted")
  public void close() {
    int destructor = TensorRtMajor.HERE.parserDestructor();
    MemorySegment self = MemorySegment.ofAddress(parser.address()).reinterpret(ADDRESS.byteSize());
    MemorySegment table = self.get(ADDRESS, 0).reinterpret((destructor + 1) * ADDRESS.byteSize());
    try {
      Linker.nativeLinker()
          .downcallHandle(table.getAtIndex(ADDRESS, destructor), FunctionDescriptor.ofVoid(ADDRESS))
          .invokeExact(self);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new IllegalStateException(t); // nothing checked can come out of a downcall
    }
  }
}

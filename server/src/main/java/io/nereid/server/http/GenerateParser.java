package io.nereid.server.http;

import io.nereid.DataType;
import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.ModelSpec;
import io.nereid.Tensor;
import io.nereid.TensorSpec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;

/**
 * Fills in one request from a JSON object whose members are the model's inputs, each a value or an
 * array of values, and parameters.
 */
final class GenerateParser {

  private final HttpContext context;
  private final ModelSpec spec;
  private final InferRequest request;
  private final RequestFacts facts;

  GenerateParser(HttpContext context, Model model, InferRequest request, RequestFacts facts) {
    this.context = context;
    this.spec = model.spec();
    this.request = request;
    this.facts = facts;
  }

  /** Reads the whole body. */
  void parse(RequestBody body) throws IOException {
    JsonBody.read(context, body, this::readMember);
  }

  private void readMember(String name, JsonParser parser) {
    TensorSpec input = input(name);
    if (name.equals("id")) {
      String id = JsonParsing.string(parser, "id");
      if (!id.isEmpty()) {
        request.id(id);
        facts.id(id);
      }
    } else if (input != null) {
      readInput(input, parser);
    } else if (name.equals("parameters")) {
      JsonParsing.expectObject(parser, "parameters");
      JsonBody.readMembers(parser, this::readParameter);
    } else {
      // Not as one of the protocol's own: members are named by the model.
      request.parameter(name, InferParameters.value(name, parser));
    }
  }

  private void readParameter(String name, JsonParser parser) {
    TensorSpec input = input(name);
    if (input != null) {
      readInput(input, parser);
    } else {
      InferParameters.take(name, parser, request);
    }
  }

  private TensorSpec input(String name) {
    for (TensorSpec input : spec.inputs()) {
      if (input.name().equals(name)) {
        return input;
      }
    }
    return null;
  }

  private void readInput(TensorSpec input, JsonParser parser) {
    DataType type = input.dataType();
    InputDescription.checkJsonType(input.name(), type);
    ByteArrayOutputStream copy = new ByteArrayOutputStream();
    long count = copyElements(input.name(), parser, copy);
    long[] shape = shape(input, count);
    long mostBytes = context.limits().bodyBytes();
    try (JsonParser elements =
        context.json().createParser(ObjectReadContext.empty(), copy.toByteArray())) {
      elements.nextToken();
      TensorJsonReader reader = new TensorJsonReader(elements, input.name(), type, count);
      if (type == DataType.BYTES) {
        byte[] encoded = reader.readBytes(mostBytes);
        Tensor tensor = request.allocateBytesInput(input.name(), encoded.length, shape);
        tensor.segment().copyFrom(MemorySegment.ofArray(encoded));
      } else if (count * type.byteSize() > mostBytes) {
        throw TensorJsonReader.tooLarge(input.name(), count * type.byteSize(), mostBytes);
      } else {
        reader.read(request.allocateInput(input.name(), shape).segment());
      }
    }
  }

  /**
   * Copies a value, or the array of them, that the parser is at as an array; gives their number.
   */
  private long copyElements(String input, JsonParser parser, ByteArrayOutputStream to) {
    long count = 0;
    try (JsonGenerator generator = context.json().createGenerator(ObjectWriteContext.empty(), to)) {
      generator.writeStartArray();
      if (parser.currentToken() == JsonToken.START_ARRAY) {
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          copyElement(input, parser, generator);
          count++;
        }
      } else {
        copyElement(input, parser, generator);
        count = 1;
      }
      generator.writeEndArray();
    }
    return count;
  }

  private static void copyElement(String input, JsonParser parser, JsonGenerator generator) {
    JsonToken token = parser.currentToken();
    if (token.isStructStart()) {
      throw JsonParsing.malformed(
          input,
          "expected a value or an array of values, got "
              + (token == JsonToken.START_OBJECT ? "an object" : "an array in it"));
    }
    generator.copyCurrentEventExact(parser);
  }

  /** The shape that the elements have: the innermost dimension of any size takes them all. */
  private long[] shape(TensorSpec input, long count) {
    List<Long> dims = input.dims();
    int first = spec.maxBatchSize() > 0 ? 1 : 0;
    long[] shape = new long[dims.size() + first];
    Arrays.fill(shape, 0, first, -1);
    long fixed = 1;
    int variable = -1;
    for (int i = 0; i < shape.length; i++) {
      if (i >= first) {
        shape[i] = dims.get(i - first);
      }
      if (shape[i] >= 0) {
        fixed = Math.multiplyExact(fixed, shape[i]);
      } else {
        variable = i;
        shape[i] = 1;
      }
    }
    if (variable >= 0 && fixed > 0 && count % fixed == 0) {
      shape[variable] = count / fixed;
    } else if (count != fixed) {
      throw HttpFailure.badRequest(
          "The schema can not convert input '"
              + input.name()
              + "' to tensor with proper shape: expected "
              + (variable >= 0 ? "a multiple of " : "")
              + fixed
              + " elements, got "
              + count);
    }
    return shape;
  }
}

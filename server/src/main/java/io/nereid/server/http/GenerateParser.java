package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.server.http.JsonReader.Token;
import io.nereid.types.DataType;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

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

  private void readMember(String name, JsonReader parser) {
    TensorSpec input = input(name);
    if (name.equals("id")) {
      String id = parser.string("id");
      if (!id.isEmpty()) {
        request.id(id);
        facts.id(id);
      }
    } else if (input != null) {
      readInput(input, parser);
    } else if (name.equals("parameters")) {
      parser.expectObject("parameters");
      JsonBody.readMembers(parser, this::readParameter);
    } else {
      // Not as one of the protocol's own: members are named by the model.
      request.parameter(name, InferParameters.value(name, parser));
    }
  }

  private void readParameter(String name, JsonReader parser) {
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

  private void readInput(TensorSpec input, JsonReader parser) {
    DataType type = input.dataType();
    InputDescription.checkJsonType(input.name(), type);
    byte[] elements = elements(parser);
    JsonReader again = parser.over(elements);
    long count = count(input.name(), again);
    long[] shape = shape(input, count);
    long mostBytes = context.limits().bodyBytes();
    again.reset(elements, 0, elements.length).next();
    TensorJsonReader reader = new TensorJsonReader(again, input.name(), type, count);
    if (type == DataType.BYTES) {
      BytesBuffer encoded = reader.readBytes(mostBytes);
      encoded.copyTo(request.allocateBytesInput(input.name(), encoded.size(), shape).segment());
    } else if (count * type.byteSize() > mostBytes) {
      throw TensorJsonReader.tooLarge(input.name(), count * type.byteSize(), mostBytes);
    } else {
      reader.read(request.allocateInput(input.name(), shape).segment());
    }
  }

  /** Text of the array, or of the single value as an array, that the parser is at. */
  private static byte[] elements(JsonReader parser) {
    if (parser.token() == Token.ARRAY) {
      return parser.copy();
    }
    byte[] value = parser.copy();
    byte[] array = new byte[value.length + 2];
    array[0] = '[';
    System.arraycopy(value, 0, array, 1, value.length);
    array[array.length - 1] = ']';
    return array;
  }

  /** The elements of an array, which have to be single values. */
  private static long count(String input, JsonReader elements) {
    elements.next();
    long count = 0;
    while (elements.next() != Token.END_ARRAY) {
      if (elements.token() == Token.OBJECT || elements.token() == Token.ARRAY) {
        throw JsonParsing.malformed(
            input,
            "expected a value or an array of values, got "
                + (elements.token() == Token.OBJECT ? "an object" : "an array in it"));
      }
      count++;
    }
    return count;
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

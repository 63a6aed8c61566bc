package io.nereid.server.http;

import io.nereid.server.json.JsonReader;
import io.nereid.server.json.JsonReader.Token;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** Reads the body of a request for embeddings, as OpenAI's clients send it. For one request. */
final class EmbeddingsBody {

  /** OpenAI takes as many. */
  static final int MOST_INPUTS = 2048;

  private static final int BYTES_OF_A_TOKEN = Long.BYTES;

  /** The members of the request, without the input. */
  private String model = "";

  private boolean base64;
  private long dimensions; // 0: as many as the model makes
  private long timeoutUs; // 0: none

  /** Either has one entry an input, the other is empty. */
  private final List<String> texts = new ArrayList<>();

  private final List<long[]> tokens = new ArrayList<>();
  private String member; // that is being read; null: none

  String model() {
    return model;
  }

  boolean base64() {
    return base64;
  }

  long dimensions() {
    return dimensions;
  }

  long timeoutUs() {
    return timeoutUs;
  }

  List<String> texts() {
    return texts;
  }

  List<long[]> tokens() {
    return tokens;
  }

  /** The member that was read last, which a failure is about; null: none. */
  String member() {
    return member;
  }

  /** Reads all of it. */
  void read(JsonReader reader) throws IOException {
    reader.readObject(this::readMember, false);
    member = "model";
    check(!model.isEmpty(), "you must provide a model parameter");
    member = "input";
    check(!texts.isEmpty() || !tokens.isEmpty(), "expected 'input' to have at least one input");
    member = null;
  }

  private void readMember(String name, JsonReader value) {
    member = name;
    switch (name) {
      case "model" -> model = value.string(name);
      case "input" -> readInput(value);
      case "encoding_format" -> {
        String format = value.string(name);
        check(
            Set.of("float", "base64").contains(format),
            "expected 'encoding_format' to be 'float' or 'base64', got '" + format + "'");
        base64 = format.equals("base64");
      }
      case "dimensions" -> {
        dimensions = value.unsigned(name);
        check(dimensions > 0, "expected 'dimensions' to be positive, got 0");
      }
      case "user" -> value.string(name); // it is the client's own note
      case "timeout" -> timeoutUs = value.unsigned(name);
      default -> throw HttpFailure.badRequest("Unrecognized request argument supplied: " + name);
    }
  }

  // ---- The input -------------------------------------------------------------------------------

  private void readInput(JsonReader value) {
    texts.clear();
    tokens.clear();
    if (value.token() == Token.STRING) {
      addText(value);
      return;
    }
    check(value.token() == Token.ARRAY, unexpected(value));
    switch (value.next()) {
      case END_ARRAY -> {
        // Nothing is in it, which is told when all is read.
      }
      case STRING -> {
        do {
          check(value.token() == Token.STRING, unexpected(value));
          addText(value);
        } while (value.next() != Token.END_ARRAY);
      }
      case INTEGER -> addTokens(value);
      default -> {
        do {
          check(value.token() == Token.ARRAY, unexpected(value));
          value.next();
          addTokens(value);
        } while (value.next() != Token.END_ARRAY);
      }
    }
  }

  private static String unexpected(JsonReader value) {
    return "expected 'input' to be a string, an array of strings, an array of token numbers or an"
        + " array of such arrays, got "
        + value.kind();
  }

  private void addText(JsonReader value) {
    checkCount(texts.size());
    String text = value.string();
    check(!text.isEmpty(), "expected texts in 'input' that are not empty");
    value.takeHeap(2L * text.length());
    texts.add(text);
  }

  /** Adds the tokens of the array whose first element, or end, was read. */
  private void addTokens(JsonReader value) {
    checkCount(tokens.size());
    long[] numbers = new long[16];
    int count = 0;
    for (; value.token() != Token.END_ARRAY; value.next()) {
      check(value.token() == Token.INTEGER && value.isLong(), unexpected(value));
      if (count == numbers.length) {
        numbers = Arrays.copyOf(numbers, 2 * count);
        value.takeHeap((long) count * BYTES_OF_A_TOKEN);
      }
      numbers[count++] = value.longValue();
    }
    check(count > 0, "expected arrays of tokens in 'input' that are not empty");
    tokens.add(Arrays.copyOf(numbers, count));
  }

  private static void checkCount(int before) {
    check(
        before < MOST_INPUTS, "expected at most " + MOST_INPUTS + " inputs in a request, got more");
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw HttpFailure.badRequest(otherwise);
    }
  }
}

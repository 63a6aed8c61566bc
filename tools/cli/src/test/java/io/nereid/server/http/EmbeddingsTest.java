package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.types.DataType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.jr.ob.JSON;

/** Embeddings as OpenAI's clients ask for them, by MiniLM. */
class EmbeddingsTest {

  private static final String PATH = "/v1/embeddings";

  private static final HttpLimits LIMITS =
      new HttpLimits(1000, 4096, 8, 10, 10, Duration.ofSeconds(60), Duration.ofSeconds(60));

  @TempDir static Path repository;
  private static TestServer server;
  private RawClient client;

  /** Each text is alone, so that its vector is always the same: the model is quantized. */
  @BeforeAll
  static void start() throws IOException {
    Path version = Files.createDirectories(repository.resolve("minilm/1"));
    copy("all-minilm-l6-v2-q.onnx", version.resolve("model.onnx"));
    copy("all-minilm-l6-v2-q-tokenizer.json", version.resolve("tokenizer.json"));
    Files.writeString(
        repository.resolve("minilm/config.pbtxt"),
        """
        backend: "text"
        max_batch_size: 4
        dynamic_batching { }
        parameters { key: "batch_texts" value: { string_value: "1" } }
        parameters { key: "max_tokens" value: { string_value: "256" } }
        """);
    server =
        new TestServer(
                RepositoryOptions.builder().repository(repository).build(), HttpLimits.DEFAULT)
            .identity(DataType.FP32);
  }

  private static void copy(String resource, Path to) throws IOException {
    try (InputStream in = EmbeddingsTest.class.getResourceAsStream("/" + resource)) {
      Files.copy(in, to);
    }
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void connect() throws IOException {
    client = server.connect();
  }

  @AfterEach
  void disconnect() throws IOException {
    client.close();
  }

  private Map<String, Object> ask(String input, String more) throws IOException {
    String body = "{\"model\":\"minilm\",\"input\":" + input + more + "}";
    return JSON.std.mapFrom(client.post(PATH, body).expect(200).text());
  }

  @SuppressWarnings("unchecked") // what jackson-jr makes of JSON
  private static List<Map<String, Object>> data(Map<String, Object> reply) {
    assertEquals("list", reply.get("object"));
    assertEquals("minilm", reply.get("model"));
    return (List<Map<String, Object>>) reply.get("data");
  }

  private static float[] vector(Map<String, Object> reply, int index) {
    Map<String, Object> one = data(reply).get(index);
    assertEquals("embedding", one.get("object"));
    assertEquals(index, one.get("index"));
    List<?> values = (List<?>) one.get("embedding");
    float[] vector = new float[values.size()];
    for (int i = 0; i < vector.length; i++) {
      vector[i] = ((Number) values.get(i)).floatValue();
    }
    return vector;
  }

  private static double dot(float[] a, float[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += (double) a[i] * b[i];
    }
    return sum;
  }

  @Test
  void aTextHasAVectorOfLengthOne() throws IOException {
    Map<String, Object> reply = ask("\"a dog\"", ",\"user\":\"u-1\",\"dimensions\":384");
    assertEquals(1, data(reply).size());
    float[] vector = vector(reply, 0);
    assertEquals(384, vector.length);
    assertEquals(1, dot(vector, vector), 1e-5);
    assertEquals(Map.of("prompt_tokens", 4, "total_tokens", 4), reply.get("usage"));
  }

  /** More texts than a batch has room for, and long ones among short ones. */
  @Test
  void textsHaveTheirVectorsInOrder() throws IOException {
    String texts =
        "[\"a dog\",\"a puppy\",\""
            + "revenue rose. ".repeat(200)
            + "\",\"42\",\"a cat\",\"a dog\"]";
    Map<String, Object> reply = ask(texts, "");
    assertEquals(6, data(reply).size());
    assertArrayEquals(vector(ask("\"a dog\"", ""), 0), vector(reply, 0), 1e-6f);
    assertArrayEquals(vector(reply, 0), vector(reply, 5), 1e-6f);
    assertArrayEquals(vector(ask("\"42\"", ""), 0), vector(reply, 3), 1e-6f);
    double puppy = dot(vector(reply, 0), vector(reply, 1));
    assertTrue(puppy > dot(vector(reply, 0), vector(reply, 2)) + 0.2, "a puppy is near: " + puppy);
    // Of the long one as many tokens are counted as the model was given.
    assertEquals(
        Map.of("prompt_tokens", 4 + 4 + 256 + 3 + 4 + 4, "total_tokens", 275), reply.get("usage"));
  }

  @Test
  void base64HasTheSameNumbers() throws IOException {
    float[] expected = vector(ask("\"a dog\"", ",\"encoding_format\":\"float\""), 0);
    Map<String, Object> reply = ask("[\"a dog\"]", ",\"encoding_format\":\"base64\"");
    String text = (String) data(reply).getFirst().get("embedding");
    float[] vector = new float[expected.length];
    ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(text));
    bytes.order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(vector);
    assertEquals(expected.length * Float.BYTES, bytes.capacity());
    assertArrayEquals(expected, vector, 1e-6f);
  }

  @Test
  void tokensAreTakenAsTheyAre() throws IOException {
    float[] dog = vector(ask("\"a dog\"", ""), 0);
    Map<String, Object> one = ask("[101, 1037, 3899, 102]", "");
    assertArrayEquals(dog, vector(one, 0), 1e-6f);
    Map<String, Object> two = ask("[[101, 4413, 102], [101, 1037, 3899, 102]]", "");
    assertArrayEquals(dog, vector(two, 1), 1e-6f);
    assertArrayEquals(vector(ask("\"42\"", ""), 0), vector(two, 0), 1e-6f);
    assertEquals(Map.of("prompt_tokens", 7, "total_tokens", 7), two.get("usage"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"input\":\"a\"} | 400 | model | null | model parameter",
        "{\"model\":\"minilm\"} | 400 | input | null | at least one input",
        "{\"model\":\"minilm\",\"input\":[]} | 400 | input | null | at least one input",
        "{\"model\":\"minilm\",\"input\":\"\"} | 400 | input | null | not empty",
        "{\"model\":\"minilm\",\"input\":[\"a\",\"\"]} | 400 | input | null | not empty",
        "{\"model\":\"minilm\",\"input\":[\"a\",1]} | 400 | input | null | got a number",
        "{\"model\":\"minilm\",\"input\":[1,\"a\"]} | 400 | input | null | got a string",
        "{\"model\":\"minilm\",\"input\":[[]]} | 400 | input | null | not empty",
        "{\"model\":\"minilm\",\"input\":{}} | 400 | input | null | got an object",
        "{\"model\":\"minilm\",\"input\":[99999999]} | 400 | null | null | data bounds",
        "{\"model\":\"minilm\",\"input\":\"a\",\"dimensions\":8} | 400 | dimensions | null | to be"
            + " 384",
        "{\"model\":\"minilm\",\"input\":\"a\",\"encoding_format\":\"hex\"} | 400 | encoding_format"
            + " | null | 'hex'",
        "{\"model\":\"minilm\",\"input\":\"a\",\"prompt\":1} | 400 | prompt | null | Unrecognized",
        "{\"model\":\"nano\",\"input\":\"a\"} | 404 | model | model_not_found | nano",
        "{\"model\":\"FP32\",\"input\":\"a\"} | 400 | model | null | 'embedding' of FP32",
        "[ | 400 | null | null | expected an object"
      })
  void failuresAreOpenAis(String body, int status, String param, String code, String part)
      throws IOException {
    RawClient.Response refused = client.post(PATH, body).expect(status);
    assertEquals("application/json", refused.fields().get("content-type"));
    Map<?, ?> error = (Map<?, ?>) JSON.std.mapFrom(refused.text()).get("error");
    assertEquals("invalid_request_error", error.get("type"));
    assertEquals(param, String.valueOf(error.get("param")), refused.text());
    assertEquals(code, String.valueOf(error.get("code")));
    assertTrue(error.get("message").toString().contains(part), refused.text());
    ask("\"a dog\"", ""); // the connection goes on
  }

  @Test
  void tooManyInputsAreRefused() throws IOException {
    String texts = String.join(",", Collections.nCopies(2049, "\"a\""));
    String body = "{\"model\":\"minilm\",\"input\":[" + texts + "]}";
    String refused = client.post(PATH, body).expect(400).text();
    assertTrue(refused.contains("at most 2048 inputs"), refused);
  }

  @Test
  void wrongRequestsAreRefusedInTheSameForm() throws IOException {
    String refused = client.get(PATH).expect(405).text();
    assertTrue(refused.startsWith("{\"error\":{\"message\":\"Method Not Allowed\""), refused);
    assertTrue(client.get("/v1/none").expect(404).text().contains("{\"error\":\"Not Found\"}"));
  }

  @Test
  void theModelsThatEmbedAreListed() throws IOException {
    assertEquals(
        "{\"object\":\"list\",\"data\":[{\"id\":\"minilm\",\"object\":\"model\",\"created\":0,"
            + "\"owned_by\":\"nereid\"}]}",
        client.get("/v1/models").expect(200).text());
  }

  /** What cannot be in time is refused as an inference is. */
  @Test
  void aTimeoutHolds() throws IOException {
    long before = server.statistics("minilm").success().count();
    String texts = String.join(",", Collections.nCopies(64, "\"many words in a text\""));
    String body = "{\"model\":\"minilm\",\"input\":[" + texts + "],\"timeout\":1}";
    String refused = client.post(PATH, body).expect(503).text();
    assertTrue(refused.contains("\"code\":\"server_overloaded\""), refused);
    assertTrue(server.statistics("minilm").success().count() < before + 16, "some were taken out");
  }

  @Test
  void itsGroupAndItsLimitAreThoseOfInference() throws IOException {
    HttpOptions options =
        HttpOptions.DEFAULT
            .withLimits(LIMITS)
            .withAccess(
                AccessControl.of(
                    Restrictions.forHttp(List.of("inference:key=secret")), Optional.empty()));
    try (TestServer restricted = new TestServer(options);
        RawClient other = restricted.connect()) {
      byte[] body = "{\"model\":\"m\",\"input\":\"a\"}".getBytes(StandardCharsets.US_ASCII);
      String refused = other.post(PATH, "", body).expect(403).text();
      assertTrue(refused.contains("\"type\":\"invalid_request_error\""), refused);
      assertFalse(other.post(PATH, "key: secret\r\n", body).expect(404).text().isEmpty());
      refused = other.post(PATH, "key: secret\r\n", new byte[1001]).expect(413).text();
      assertTrue(refused.startsWith("{\"error\":{\"message\":"), refused);
    }
  }
}

package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.console.ConsoleOptions;
import io.nereid.types.DataType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.jr.ob.JSON;

/** Rankings as clients of Cohere, Jina and vLLM ask for them; the model counts common words. */
class RerankTest {

  private static final String PATH = "/v1/rerank";
  private static final String WHALES =
      "\"model\":\"common\",\"query\":\"whales live in the sea\",\"documents\":[\"a"
          + " dog\",{\"text\":\"the sea is blue, and whales\"},\"whales are mammals that live in"
          + " the sea\"]";

  @TempDir static Path repository;
  private static TestServer server;
  private RawClient client;

  @BeforeAll
  static void start() throws IOException {
    Path version = Files.createDirectories(repository.resolve("common/1"));
    Files.copy(Path.of("../../native/test/models/common.onnx"), version.resolve("model.onnx"));
    try (InputStream in =
        RerankTest.class.getResourceAsStream("/all-minilm-l6-v2-q-tokenizer.json")) {
      Files.copy(in, version.resolve("tokenizer.json"));
    }
    Files.writeString(
        repository.resolve("common/config.pbtxt"),
        """
        backend: "text"
        max_batch_size: 2
        dynamic_batching { }
        parameters { key: "task" value: { string_value: "rerank" } }
        """);
    server =
        new TestServer(
                Nereid.open(RepositoryOptions.builder().repository(repository).build()),
                HttpOptions.DEFAULT.withConsole(
                    ConsoleOptions.DEFAULT), // which has all other paths
                state -> state)
            .identity(DataType.FP32);
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

  private Map<String, Object> ask(String members) throws IOException {
    return JSON.std.mapFrom(client.post(PATH, "{" + members + "}").expect(200).text());
  }

  private static void assertResult(Object result, int index, int common) {
    Map<?, ?> found = (Map<?, ?>) result;
    assertEquals(index, found.get("index"));
    double score = 1 / (1 + Math.exp(-common));
    assertEquals(score, ((Number) found.get("relevance_score")).doubleValue(), 1e-6);
  }

  /** More texts than a batch has room for. */
  @Test
  void textsComeInTheOrderOfTheirScores() throws IOException {
    Map<String, Object> reply = ask(WHALES);
    assertEquals("common", reply.get("model"));
    List<?> results = (List<?>) reply.get("results");
    assertEquals(3, results.size());
    assertResult(results.get(0), 2, 5);
    assertResult(results.get(1), 1, 3);
    assertResult(results.get(2), 0, 0);
    assertEquals(Map.of("total_tokens", 10 + 15 + 16), reply.get("usage"));
  }

  @Test
  void theBestAloneAndItsTextAreThereWhereTheyAreWanted() throws IOException {
    List<?> results =
        (List<?>) ask(WHALES + ",\"top_n\":1,\"return_documents\":true").get("results");
    assertEquals(1, results.size());
    assertResult(results.getFirst(), 2, 5);
    assertEquals(
        Map.of("text", "whales are mammals that live in the sea"),
        ((Map<?, ?>) results.getFirst()).get("document"));
    assertEquals(3, ((List<?>) ask(WHALES + ",\"top_n\":9").get("results")).size());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`\"query\":\"a\",\"documents\":[\"b\"]` | 400 | model | model parameter",
        "`\"model\":\"common\",\"documents\":[\"b\"]` | 400 | query | expected a 'query'",
        "`\"model\":\"common\",\"query\":\"a\"` | 400 | documents | at least one text",
        "`\"model\":\"common\",\"query\":\"a\",\"documents\":\"b\"` | 400 | documents | got a"
            + " string",
        "`\"model\":\"common\",\"query\":\"a\",\"documents\":[1]` | 400 | documents | got a number",
        "`\"model\":\"common\",\"query\":\"a\",\"documents\":[{}]` | 400 | documents | have a"
            + " 'text'",
        "`\"model\":\"common\",\"query\":\"a\",\"documents\":[{\"title\":\"b\"}]` | 400 | documents"
            + " | 'text' alone",
        "`\"model\":\"common\",\"query\":\"a\",\"documents\":[\"b\"],\"top_n\":0` | 400 | top_n |"
            + " positive, got 0",
        "`\"model\":\"common\",\"query\":\"a\",\"documents\":[\"b\"],\"rank\":1` | 400 | rank |"
            + " Unrecognized",
        "`\"model\":\"common\",\"query\":\"a\",\"documents\":[\"b\"` | 400 | documents |"
            + " end-of-input",
        "`\"model\":\"none\",\"query\":\"a\",\"documents\":[\"b\"]` | 404 | model | none",
        "`\"model\":\"FP32\",\"query\":\"a\",\"documents\":[\"b\"]` | 400 | model | 'FP32' has"
            + " none",
      })
  void failuresNameTheMember(String members, int status, String param, String part)
      throws IOException {
    String end = part.equals("end-of-input") ? "" : "}";
    String refused = client.post(PATH, "{" + members + end).expect(status).text();
    Map<?, ?> error = (Map<?, ?>) JSON.std.mapFrom(refused).get("error");
    assertEquals(param, error.get("param"), refused);
    assertTrue(error.get("message").toString().contains(part), refused);
    ask(WHALES); // the connection goes on
  }

  @Test
  void itIsListedAndCounted() throws IOException {
    ask(WHALES);
    assertTrue(client.get("/v1/models").expect(200).text().contains("\"id\":\"common\""));
    assertTrue(
        server.answers().keySet().stream()
            .anyMatch(kind -> kind.route().equals(PATH) && kind.status().equals("200")));
  }
}

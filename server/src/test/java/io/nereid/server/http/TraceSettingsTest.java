package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.server.trace.OtlpOptions;
import io.nereid.server.trace.TraceMode;
import io.nereid.server.trace.TraceOptions;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The trace extension: which settings hold, and how they change. */
class TraceSettingsTest {

  private static final String ALL = "/v2/trace/setting";
  private static final String MODEL = "/v2/models/FP32/trace/setting";

  @TempDir Path files;
  private TestServer server;
  private RawClient client;

  @BeforeEach
  void start() throws IOException {
    server =
        TestServer.traced(
                TraceOptions.OFF.withFile(files.resolve("t.json").toString()).withCount(50))
            .identity(DataType.FP32);
    client = server.connect();
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    server.close();
  }

  /** As the server writes them. */
  private String settings(String level, int rate, int count, int frequency) {
    return "{\"trace_level\":[\""
        + level
        + "\"],\"trace_rate\":\""
        + rate
        + "\",\"trace_count\":\""
        + count
        + "\",\"log_frequency\":\""
        + frequency
        + "\",\"trace_file\":\""
        + files.resolve("t.json")
        + "\",\"trace_mode\":\"triton\"}";
  }

  private String get(String path) throws IOException {
    return client.get(path).expect(200).text();
  }

  private String post(String path, String body) throws IOException {
    return client.post(path, body.replace('\'', '"')).expect(200).text();
  }

  @Test
  void settingsAreThoseOfTheStart() throws IOException {
    assertEquals(settings("OFF", 1000, 50, 0), get(ALL));
    assertEquals(settings("OFF", 1000, 50, 0), get(MODEL));
    assertTrue(get("/v2").contains("\"trace\""));
  }

  @Test
  void aModelHasItsOwnAndTheRestFromTheServer() throws IOException {
    assertEquals(settings("OFF", 9, 50, 0), post(MODEL, "{'trace_rate':'9'}"));
    assertEquals(settings("OFF", 1000, 50, 0), get(ALL));
    assertEquals(
        settings("TIMESTAMPS", 5, 50, 3),
        post(ALL, "{'trace_level':['TIMESTAMPS'],'trace_rate':'5','log_frequency':'3'}"));
    assertEquals(settings("TIMESTAMPS", 9, 50, 3), get(MODEL));
    assertEquals(
        settings("OFF", 9, 7, 3), post(MODEL, "{'trace_level':['OFF'],'trace_count':'7'}"));
    assertEquals(settings("OFF", 9, 7, 3), post(MODEL, "{}"));
    assertEquals(
        settings("TIMESTAMPS", 5, 50, 3),
        post(MODEL, "{'trace_level':null,'trace_rate':null,'trace_count':null}"));
  }

  @Test
  void aNullForAllIsWhatTheServerWasStartedWith() throws IOException {
    post(ALL, "{'trace_rate':'5','trace_count':'-1'}");
    assertEquals(
        settings("OFF", 1000, 50, 0),
        post(ALL, "{'trace_rate':null,'trace_count':null,'log_frequency':null}"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'trace_rate':'x'}                     | 400 | Unable to parse 'trace_rate', got: x",
        "{'trace_rate':''}                      | 400 | Unable to parse 'trace_rate', got: ",
        "{'trace_rate':1}                       | 400 | Unable to parse 'trace_rate'",
        "{'trace_rate':['1']}                   | 400 | Unable to parse 'trace_rate'",
        "{'trace_rate':'-1'}                    | 400 | value is out of range [ 0, 4294967295 ]",
        "{'trace_rate':'99999999999999999999'}  | 400 | value is out of range",
        "{'trace_count':'-2'}                   | 400 | out of range [ -1, 2147483647 ], got: -2",
        "{'log_frequency':'1.5'}                | 400 | Unable to parse 'log_frequency'",
        "{'trace_level':'OFF'}                  | 400 | Unable to parse 'trace_level'",
        "{'trace_level':['LOUD']}               | 400 | expected OFF, TIMESTAMPS or TENSORS",
        "{'trace_level':['OFF','TIMESTAMPS']}   | 400 | Expect only one trace level 'OFF'",
        "{'trace_level':[]}                     | 400 | expected a level in 'trace_level'",
        "{'trace_file':'/tmp/x'}                | 501 | trace file location can not be updated",
        "{'trace_mode':'opentelemetry'}         | 501 | trace mode can not be updated",
        "{'trace_speed':'1'}                    | 400 | got 'trace_speed'",
        "{'trace_level':['TIMESTAMPS'],'trace_rate':'0'} | 400 | setting :sample rate must be",
        "{'trace_rate':'2','trace_rate':'3'}    | 400 | expected 'trace_rate' once",
        "[]                                     | 400 | expected an object",
        "{                                      | 400 | failed to parse the request JSON",
        "{}{}                                   | 400 | expected nothing more",
      })
  void aWrongSettingIsToldAndChangesNothing(String body, int status, String message)
      throws IOException {
    for (String path : new String[] {ALL, MODEL}) {
      String all = body.replaceFirst("^\\{'", "{'log_frequency':'4','").replace('\'', '"');
      String text =
          client
              .post(path, body.contains("log_freq") ? body.replace('\'', '"') : all)
              .expect(status)
              .text();
      assertTrue(text.startsWith("{\"error\":") && text.contains(message), text);
      assertEquals(settings("OFF", 1000, 50, 0), get(path));
    }
  }

  @Test
  void levelsAddUp() throws IOException {
    String both = "{'trace_level':['TENSORS','TIMESTAMPS']}";
    assertTrue(post(MODEL, both).contains("\"trace_level\":[\"TIMESTAMPS\",\"TENSORS\"]"));
    assertEquals(settings("TENSORS", 1000, 50, 0), post(ALL, "{'trace_level':['TENSORS']}"));
  }

  @Test
  void hostileBodiesAreRefused() throws IOException {
    client.post(ALL, "[".repeat(250_000)).expect(400);
    client.post(ALL, "{\"trace_level\":" + "[".repeat(250_000)).expect(400);
  }

  @Test
  void pathsAndVerbs() throws IOException {
    String text = client.get("/v2/models/none/trace/setting").expect(400).text();
    assertEquals("{\"error\":\"Request for unknown model : none\"}", text);
    client.post("/v2/models/none/trace/setting", "{}").expect(400);
    client.get("/v2/models/FP32/versions/1/trace/setting").expect(404);
    client.get("/v2/trace").expect(404);
    client.get("/v2/trace/setting/").expect(404);
    RawClient.Response response =
        client.send("DELETE " + ALL + " HTTP/1.1\r\nHost: a\r\n\r\n").receive().expect(405);
    assertEquals("GET, HEAD, POST", response.fields().get("allow"));
  }

  @Test
  void tracingCannotBeTurnedOnWithoutAFile() throws IOException {
    try (TestServer bare = new TestServer();
        RawClient other = bare.connect()) {
      String text = other.post(ALL, "{\"trace_level\":[\"TIMESTAMPS\"]}").expect(400).text();
      assertTrue(text.contains("invalid trace setting :trace file name is not given"), text);
      other.post(ALL, "{\"trace_level\":[\"OFF\"]}").expect(200);
    }
  }

  @Test
  void opentelemetryHasNoFile() throws IOException {
    try (TestServer other =
            TestServer.traced(
                TraceOptions.OFF.withMode(TraceMode.OPENTELEMETRY).withOtlp(OtlpOptions.DEFAULT));
        RawClient its = other.connect()) {
      String text = its.post(ALL, "{\"trace_level\":[\"TENSORS\"]}").expect(400).text();
      assertTrue(text.contains("TENSORS is not recorded in mode opentelemetry"), text);
      assertEquals(
          "{\"trace_level\":[\"OFF\"],\"trace_rate\":\"1000\",\"trace_count\":\"-1\","
              + "\"trace_mode\":\"opentelemetry\",\"url\":\"http://localhost:4318/v1/traces\"}",
          its.get(ALL).expect(200).text());
    }
  }
}

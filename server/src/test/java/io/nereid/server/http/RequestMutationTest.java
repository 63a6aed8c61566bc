package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.server.memory.Segment;
import io.nereid.types.DataType;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Requests of the extensions with errors in them: they are answered, and leave nothing behind. */
class RequestMutationTest {

  private static final long SEED = 20_261_121;

  private static byte[] request(String path, String json) {
    return RawClient.request(
        "/v2/models/FP32/" + path, "", json.getBytes(StandardCharsets.US_ASCII));
  }

  private static final byte[][] SEEDS = {
    request(
        "infer",
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2],\"parameters\":"
            + "{\"shared_memory_region\":\"r\",\"shared_memory_byte_size\":8}}],\"outputs\":"
            + "[{\"name\":\"OUT\",\"parameters\":{\"shared_memory_region\":\"r\","
            + "\"shared_memory_offset\":24,\"shared_memory_byte_size\":8}}]}"),
    request(
        "infer",
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[2,2],\"data\":[1,2,3,4]}],"
            + "\"outputs\":[{\"name\":\"OUT\",\"parameters\":{\"classification\":3}}]}"),
    request("generate", "{\"id\":\"a\",\"IN\":[1,2.5],\"parameters\":{\"timeout\":9000000}}"),
    request("generate_stream", "{\"IN\":1e1,\"stream\":true,\"id\":\"\\u0041\"}")
  };

  @Test
  void mutatedRequestsAreAnsweredOrEndTheConnection() throws Exception {
    Random random = new Random(SEED);
    try (Segment segment = new Segment(64);
        TestServer server = TestServer.withClientShm().identity(DataType.FP32)) {
      register(server, segment);
      int answered = 0;
      for (int i = 0; i < 1600; i++) {
        byte[] bytes = ParserPropertiesTest.mutate(SEEDS[i % SEEDS.length], random);
        if (isAnswered(server, bytes)) {
          answered++;
        }
      }
      assertTrue(answered > 500, "only " + answered + " were answered");
      assertEquals(64, segment.byteSize());
      for (byte[] seed : SEEDS) {
        try (RawClient client = server.connect()) {
          assertEquals(200, client.send(seed).receiveHead().status());
        }
      }
      try (RawClient client = server.connect()) {
        client.post("/v2/systemsharedmemory/unregister", "").expect(200);
      }
      TestServer.await(() -> SharedMemoryTest.isFree(segment), "a request kept its region");
    }
  }

  private static void register(TestServer server, Segment segment) throws IOException {
    try (RawClient client = server.connect()) {
      String body = "{\"key\":\"" + segment.key() + "\",\"byte_size\":64}";
      client.post("/v2/systemsharedmemory/region/r/register", body).expect(200);
    }
  }

  private static boolean isAnswered(TestServer server, byte[] bytes) throws IOException {
    try (RawClient client = server.connect()) {
      client.send(bytes);
      client.socket().shutdownOutput(); // what is cut off is noticed at once
      int status = client.receiveHead().status();
      assertTrue(
          status < 500 || status == 501 || status == 505,
          () -> status + " for " + new String(bytes, StandardCharsets.ISO_8859_1));
      return true;
    } catch (SocketTimeoutException e) {
      throw new AssertionError(new String(bytes, StandardCharsets.ISO_8859_1), e);
    } catch (EOFException | SocketException e) {
      return false; // nothing to answer, or the answer came before all was sent
    }
  }
}

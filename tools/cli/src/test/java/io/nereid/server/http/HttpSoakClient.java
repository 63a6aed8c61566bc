package io.nereid.server.http;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.GZIPOutputStream;

/**
 * A client of a soak: one connection after the other, with requests of all kinds, some of them
 * wrong and some broken off. Not for several threads.
 */
final class HttpSoakClient implements SoakClient {

  private static final String IDENTITY = "/v2/models/identity_fp32/infer";
  private static final int LARGE = 150_528;

  private final int port;
  private final Random random;
  private final HttpSoak soak;

  /** One that does the same for the same seed. */
  HttpSoakClient(int port, long seed, HttpSoak soak) {
    this.port = port;
    random = new Random(seed);
    this.soak = soak;
  }

  /** A connection until it ends; the clock is asked before each request. */
  @Override
  public void converse() throws IOException {
    try (RawClient client = new RawClient(port)) {
      for (int left = 1 + random.nextInt(50); left > 0 && soak.goesOn(); left--) {
        ask(client);
        soak.answered.increment();
      }
      if (random.nextInt(2) == 0) {
        breakOff(client);
        soak.brokenOff.increment();
      }
    }
  }

  private void ask(RawClient client) throws IOException {
    switch (random.nextInt(20)) {
      case 0, 1, 2, 3, 4, 5 -> binary(client, 16, "");
      case 6, 7 -> binary(client, LARGE, "");
      case 8 -> binary(client, 16 + random.nextInt(20_000), "Accept-Encoding: gzip\r\n");
      case 9, 10, 11 -> json(client, 1 + random.nextInt(16));
      case 12 -> json(client, 5_000);
      case 13 -> gzip(client);
      case 14 -> stream(client);
      case 15 -> wrong(client);
      case 16 -> client.get("/v2/models/identity_fp32").expect(200);
      case 17 -> client.get("/v2/health/live").expect(200);
      case 18 -> client.get("/v2/models/identity_fp32/stats").expect(200);
      default -> digits(client);
    }
  }

  private byte[] binaryRequest(byte[] elements, String fields) {
    byte[] json =
        ascii(
            "{\"inputs\":[{\"name\":\"INPUT0\",\"shape\":[1,"
                + elements.length / Float.BYTES
                + "],\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":"
                + elements.length
                + "}}],\"parameters\":{\"binary_data_output\":true}}");
    return RawClient.request(
        IDENTITY,
        fields + "Inference-Header-Content-Length: " + json.length + "\r\n",
        RawClient.concat(json, elements));
  }

  private byte[] elements(int count) {
    ByteBuffer bytes = ByteBuffer.allocate(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    float first = random.nextFloat();
    for (int i = 0; i < count; i++) {
      bytes.putFloat(first + i);
    }
    return bytes.array();
  }

  private void binary(RawClient client, int count, String fields) throws IOException {
    byte[] elements = elements(count);
    RawClient.Response response = client.send(binaryRequest(elements, fields)).receive();
    response.expect(200);
    if (fields.isEmpty() && !Arrays.equals(elements, response.binary())) {
      soak.fault("other elements came back than were sent");
    }
  }

  private static byte[] jsonBody(int count) {
    StringBuilder json = new StringBuilder("{\"inputs\":[{\"name\":\"INPUT0\",\"shape\":[1,");
    json.append(count).append("],\"datatype\":\"FP32\",\"data\":[0.5");
    for (int i = 1; i < count; i++) {
      json.append(',').append(i).append(".5");
    }
    return ascii(json.append("]}]}").toString());
  }

  private void json(RawClient client, int count) throws IOException {
    String text = client.post(IDENTITY, "", jsonBody(count)).expect(200).text();
    if (!text.contains((count - 1) + ".5]")) {
      soak.fault("other elements came back: " + text);
    }
  }

  private void gzip(RawClient client) throws IOException {
    ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    try (GZIPOutputStream to = new GZIPOutputStream(compressed)) {
      to.write(jsonBody(200));
    }
    client.post(IDENTITY, "Content-Encoding: gzip\r\n", compressed.toByteArray()).expect(200);
  }

  private static final byte[] STREAM =
      RawClient.request(
          "/v2/models/repeat/generate_stream",
          "",
          ascii("{\"IN\":[4,5,6],\"DELAY\":[0,1,0],\"WAIT\":0}"));

  private void stream(RawClient client) throws IOException {
    client.send(STREAM).receiveHead().expect(200);
    int events = 0;
    while (client.chunk() != null) {
      events++;
    }
    if (events != 3) {
      soak.fault("expected 3 events, got " + events);
    }
  }

  private void digits(RawClient client) throws IOException {
    String pixels = "3,".repeat(63) + "4";
    String body =
        "{\"inputs\":[{\"name\":\"image\",\"shape\":[1,8,8],\"datatype\":\"FP32\",\"data\":["
            + pixels
            + "]}],\"outputs\":[{\"name\":\"scores\",\"parameters\":{\"classification\":3}}]}";
    client.post("/v2/models/digits/infer", body).expect(200);
  }

  /** Sends a request that is answered with an error and leaves the connection as it was. */
  private void wrong(RawClient client) throws IOException {
    switch (random.nextInt(5)) {
      case 0 -> client.post("/v2/models/nobody/infer", "{\"inputs\":[]}").expect(404);
      case 1 -> client.post(IDENTITY, "{\"inputs\":[{\"name\":\"INPUT0\",").expect(400);
      case 2 -> client.get("/v3").expect(404);
      case 3 -> client.get(IDENTITY).expect(405);
      default -> {
        byte[] body = jsonBody(8);
        body[body.length - 5] = '"'; // behind some of the elements
        client.post(IDENTITY, "", body).expect(400);
      }
    }
  }

  /** Goes away in the middle of something. */
  private void breakOff(RawClient client) throws IOException {
    byte[] request = binaryRequest(elements(random.nextBoolean() ? LARGE : 64), "");
    if (random.nextInt(4) == 0) {
      client.socket().setSoLinger(true, 0); // with a reset
    }
    switch (random.nextInt(4)) {
      case 0 -> client.send(Arrays.copyOf(request, random.nextInt(request.length)));
      case 1 -> {
        client.send(request);
        client.receiveHead();
      }
      case 2 -> client.send(STREAM).receiveHead();
      default -> garbage(client, request);
    }
  }

  /** Sends bytes that are no request: the connection ends, with or without an answer. */
  private void garbage(RawClient client, byte[] request) throws IOException {
    byte[] bytes = ParserPropertiesTest.mutate(Arrays.copyOf(request, 600), random);
    try {
      client.send(bytes);
      client.socket().shutdownOutput();
      int status = client.receiveHead().status();
      if (status >= 500 && status != 501 && status != 505) {
        soak.fault(status + " for " + new String(bytes, StandardCharsets.ISO_8859_1));
      }
    } catch (EOFException | SocketException e) {
      // It was cut off, or refused before all was sent.
    }
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}

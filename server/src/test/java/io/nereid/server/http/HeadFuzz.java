package io.nereid.server.http;

import io.nereid.server.http.Route.Endpoint;
import io.nereid.server.wire.HttpFailure;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;

/**
 * A target for fuzzing: any bytes as requests to be read, and as a path. How they arrive does not
 * matter, and a model's name comes out of a path as it went in.
 */
public final class HeadFuzz {

  private HeadFuzz() {}

  /** Jazzer calls it. */
  public static void fuzzerTestOneInput(byte[] bytes) throws IOException {
    List<String> whole =
        ParserPropertiesTest.parse(Channels.newChannel(new ByteArrayInputStream(bytes)));
    List<String> inPieces =
        ParserPropertiesTest.parse(
            new ParserPropertiesTest.Pieces(ByteBuffer.wrap(bytes), new Random(bytes.length)));
    expect(whole, inPieces);
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    try {
      Route.to(text);
      Route.to("/v2/models/" + text);
      Route.to("/v2/" + text);
    } catch (HttpFailure e) {
      // A path may be refused.
    }
    nameSurvives(bytes);
  }

  private static void nameSurvives(byte[] bytes) {
    String name;
    try {
      name = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      return;
    }
    if (name.isEmpty()) {
      return;
    }
    String encoded = URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    Route route = Route.to("/v2/models/" + encoded + "/versions/7/infer?a=/b");
    expect(new Route(Endpoint.INFER, name, 7, false), route);
  }

  private static void expect(Object wanted, Object got) {
    if (!wanted.equals(got)) {
      throw new AssertionError("expected " + wanted + ", got " + got);
    }
  }
}

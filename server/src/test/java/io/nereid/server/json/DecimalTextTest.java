package io.nereid.server.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The quick way gives what the slow one does. */
class DecimalTextTest {

  private static final int ROUNDS = 300_000;

  private static String write(float value) {
    byte[] to = new byte[DecimalText.MAX_LENGTH];
    int end = DecimalText.write(value, to, 0);
    return end < 0 ? null : new String(to, 0, end, StandardCharsets.US_ASCII);
  }

  @Test
  void floatsAreWrittenAsTheJdkDoes() {
    Random random = new Random(1);
    int written = 0;
    for (int i = 0; i < ROUNDS; i++) {
      float any = Float.intBitsToFloat(random.nextInt());
      float moderate = (random.nextFloat() - 0.5f) * (float) Math.pow(10, random.nextInt(9) - 2);
      float shortOne = random.nextInt(200_000) / (float) Math.pow(10, random.nextInt(6));
      for (float value : new float[] {any, moderate, shortOne, -shortOne}) {
        String text = write(value);
        if (text != null) {
          assertEquals(Float.toString(value), text);
          written++;
        }
      }
    }
    assertTrue(written > 2 * ROUNDS, "only " + written + " were written");
  }

  @ParameterizedTest
  @ValueSource(
      floats = {
        1,
        -1,
        0.1f,
        6.8f,
        0.001f,
        9999999,
        1000000,
        1234567,
        0.0099999998f,
        16777216,
        8388608.5f,
        0,
        -0f,
        Float.NaN,
        Float.POSITIVE_INFINITY,
        Float.MIN_VALUE,
        Float.MAX_VALUE,
        3.3333333f,
        999999.94f,
        99999.99f,
        0.99999994f
      })
  void certainFloats(float value) {
    String text = write(value);
    assertTrue(text == null || text.equals(Float.toString(value)), text);
  }
}
